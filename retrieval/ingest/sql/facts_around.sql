-- Facts that speak of entities, as subject or object, also closed and retracted ones; and facts that were stated in no other place. One
-- that was changed and now leads elsewhere is not among them: only its rows of before speak of the entities, and go with them.
-- $1 namespace, $2 entities
select f.fact_id from fact f where f.ns = $1 and f.subject_id = any($2::bigint[])
union
select f.fact_id from fact f
 where f.ns = $1 and f.object_id = any($2::bigint[])
   and not exists (select from fact l where l.ns = f.ns and l.fact_id = f.fact_id and l.row_id > f.row_id
                                        and (l.object_id is null or l.object_id <> all($2::bigint[])))
union
select p.fact_id from fact_place p
 where p.ns = $1 and p.entity_id = any($2::bigint[])
   and not exists (select from fact_place o where o.ns = p.ns and o.fact_id = p.fact_id and o.entity_id <> all($2::bigint[]))
