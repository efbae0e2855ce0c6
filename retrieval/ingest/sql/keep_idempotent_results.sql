-- Keeps what is given for an idempotency key, and forgets what is older than it needs to be, but for what another transaction is
-- forgetting: whoever wrote edges may wait for nobody.
-- $1 namespace, $2 operation, $3 sender, $4 digest of the key, $5 JSON text of the results, $6 seconds that results are kept
with old as (
    delete from idempotency o
     where (o.ns, o.operation, o.sender, o.key_digest) in (
               select i.ns, i.operation, i.sender, i.key_digest from idempotency i
                where i.ns = $1 and i.created_at < now() - make_interval(secs => $6::float8) for update skip locked)
)
update idempotency i set results = $5::jsonb where i.ns = $1 and i.operation = $2 and i.sender = $3 and i.key_digest = $4
