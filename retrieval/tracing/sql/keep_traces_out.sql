-- Waits for traces over a namespace that are being stored, keeps new ones out until the transaction ends, and notes that it erases.
-- $1 namespace
-- Namespaces share 64 locks, since a trace may be over all of a base and the room for locks is small.
with alone as materialized (
    select pg_advisory_xact_lock(x'7ace'::int, $1::int % 64)
)
insert into erasure (ns, done_in) select $1, pg_current_xact_id() from alone
    on conflict (ns) do update set done_in = excluded.done_in
