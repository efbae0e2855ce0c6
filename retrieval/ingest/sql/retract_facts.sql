-- Retracts facts that are no longer stated. Now is when the statement runs, since the transaction may have begun before they were
-- recorded, and then waited for the one that did.
-- $1 namespace, $2 facts
update fact f set retracted_at = greatest(clock_timestamp(), f.recorded_at) where f.ns = $1 and f.fact_id = any($2::bigint[]) and f.retracted_at is null
