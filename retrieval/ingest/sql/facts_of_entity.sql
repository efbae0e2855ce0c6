-- Facts that speak of an entity, as subject or object. One that was changed and now leads elsewhere is not among them: only its
-- rows of before speak of the entity, and go with it.
-- $1 namespace, $2 entity
select f.fact_id from fact f where f.ns = $1 and f.subject_id = $2
union
select f.fact_id from fact f
 where f.ns = $1 and f.object_id = $2
   and not exists (select from fact l where l.ns = f.ns and l.fact_id = f.fact_id and l.row_id > f.row_id
                                        and l.object_id is distinct from f.object_id)
