-- Things whose type is not declared, by type.
-- $1 namespace, $2 declared types, $3 how many groups
select e.type, count(*) as n, min(e.key) as example
  from entity e
 where e.ns = $1 and e.kind = 'THING' and e.type <> all($2::text[])
 group by e.type order by e.type limit $3
