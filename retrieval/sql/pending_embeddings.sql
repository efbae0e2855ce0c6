-- How many visible fragments wait for their vector.
-- $1-$3 access
select count(*)::int as pending
  from embedding_queue q join fragment f on f.ns = q.ns and f.fragment_id = q.fragment_id
 where q.ns = any($1) and visible(f.ns, f.acl_id, $1, $2, $3)
