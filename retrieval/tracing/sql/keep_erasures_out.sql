-- Waits for erasures in some namespaces, and keeps new ones out until the transaction ends.
-- $1 namespaces
select pg_advisory_xact_lock_shared(x'7ace'::int, one.number)
  from (select distinct ns % 64 as number from unnest($1::int[]) ns) one
