-- Takes fragments out of the queue of embeddings that have their vector or are gone.
-- $1 namespace, $2 fragments
delete from embedding_queue q
 where q.ns = $1 and q.fragment_id = any($2::bigint[])
   and (exists (select from fragment_vector v where v.ns = q.ns and v.fragment_id = q.fragment_id)
        or not exists (select from fragment f where f.ns = q.ns and f.fragment_id = q.fragment_id))
