-- Forgets what was answered under idempotency keys where the answer names one of these keys, as a value or in a sentence.
-- $1 namespace, $2 keys, $3 each as sentences name it, written as JSON without the quotation marks around
delete from idempotency i using unnest($2::text[], $3::text[]) as k(key, named)
 where i.ns = $1 and i.results is not null
   and (jsonb_path_exists(i.results, '$.** ? (@ == $key)', jsonb_build_object('key', k.key)) or strpos(i.results::text, k.named) > 0)
