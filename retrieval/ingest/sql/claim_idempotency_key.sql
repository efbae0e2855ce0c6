-- Takes an idempotency key; no row when it is taken, also by a write that is under way, which is waited for.
-- $1 namespace, $2 operation, $3 sender, $4 digest of the key, $5 digest of the input
insert into idempotency (ns, operation, sender, key_digest, input_digest) values ($1, $2, $3, $4, $5)
on conflict do nothing
returning ns
