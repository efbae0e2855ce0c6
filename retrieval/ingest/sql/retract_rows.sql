-- Retracts recorded rows of facts.
-- $1 namespace, $2 rows, $3 instant
update fact f set retracted_at = greatest($3::timestamptz, f.recorded_at) where f.ns = $1 and f.row_id = any($2::bigint[])
