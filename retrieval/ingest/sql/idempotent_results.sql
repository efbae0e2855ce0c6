-- What was given for an idempotency key the first time.
-- $1 namespace, $2 operation, $3 sender, $4 digest of the key
select i.input_digest, i.results from idempotency i
 where i.ns = $1 and i.operation = $2 and i.sender = $3 and i.key_digest = $4
