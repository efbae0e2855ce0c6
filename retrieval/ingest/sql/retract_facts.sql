-- Retracts facts that are no longer stated.
-- $1 namespace, $2 facts
update fact f set retracted_at = now() where f.ns = $1 and f.fact_id = any($2::bigint[]) and f.retracted_at is null
