-- Traces over a namespace that have any of some marks, or are some, by id, locked.
-- $1 namespace, $2 marks, $3 the id to start after, $4 how many at most, $5 ids
select t.trace_id, t.body from trace t
 where t.namespaces @> array[$1::int] and (t.marks && $2::text[] or t.trace_id = any($5::text[])) and t.trace_id > $3
 order by t.trace_id limit $4
   for update
