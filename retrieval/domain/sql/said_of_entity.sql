-- What facts in the record say with an entity at one end, when it gets another type than it has: the types at their other ends.
-- $1 namespace, $2 entity, $3 the type it gets
select distinct f.predicate, f.subject_id = e.entity_id as is_subject, f.object_id = e.entity_id as is_object,
       s.type as subject_type, o.type as object_type
  from entity e
  join fact f on f.ns = e.ns and (f.subject_id = e.entity_id or f.object_id = e.entity_id) and f.retracted_at is null
  join entity s on s.ns = f.ns and s.entity_id = f.subject_id
  left join entity o on o.ns = f.ns and o.entity_id = f.object_id
 where e.ns = $1 and e.entity_id = $2 and e.type <> $3
 order by f.predicate, s.type, o.type
