-- Takes the fragments of entities out of the queue of embeddings.
-- $1 namespace, $2 entities
delete from embedding_queue q using fragment f
 where q.ns = $1 and f.ns = q.ns and f.fragment_id = q.fragment_id and f.entity_id = any($2::bigint[])
