-- Puts fragments that could not be embedded off, with the reason.
-- $1 namespace, $2 fragments, $3 seconds of each, $4 reason
update embedding_queue q
   set available_at = now() + make_interval(secs => d.seconds), last_error = $4
  from unnest($2::bigint[], $3::float8[]) as d(fragment_id, seconds)
 where q.ns = $1 and q.fragment_id = d.fragment_id
