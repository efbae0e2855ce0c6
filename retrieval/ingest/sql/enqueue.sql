-- Puts fragments into the queue of embeddings.
-- $1 namespace, $2 fragments
insert into embedding_queue (ns, fragment_id) select $1, f from unnest($2::bigint[]) f on conflict (ns, fragment_id) do nothing
