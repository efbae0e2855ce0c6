-- Gives claimed fragments back before their time is over; the try does not count.
-- $1 namespace, $2 fragments
update embedding_queue q set available_at = now(), attempts = greatest(0, q.attempts - 1)
 where q.ns = $1 and q.fragment_id = any($2::bigint[])
