-- Takes the fragments of an entity out of the queue of embeddings.
-- $1 namespace, $2 entity
delete from embedding_queue q using fragment f
 where q.ns = $1 and f.ns = q.ns and f.fragment_id = q.fragment_id and f.entity_id = $2
