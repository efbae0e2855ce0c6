-- Facts in the record whose predicate is not declared, by predicate.
-- $1 namespace, $2 declared predicates, $3 how many groups
select f.predicate, count(*) as n
  from fact f
 where f.ns = $1 and f.retracted_at is null and f.predicate <> all($2::text[])
 group by f.predicate order by f.predicate limit $3
