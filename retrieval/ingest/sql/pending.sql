-- How many fragments wait for their vector.
-- $1 namespaces
select count(*)::int from embedding_queue q where q.ns = any($1::int[])
