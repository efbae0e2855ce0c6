-- Forgets what was answered under idempotency keys where the answer names one of these keys, as a value or in a sentence.
-- $1 namespace, $2 keys
delete from idempotency i using unnest($2::text[]) as k(key)
 where i.ns = $1 and i.results is not null
   and (jsonb_path_exists(i.results, '$.** ? (@ == $key)', jsonb_build_object('key', k.key))
        or strpos(i.results::text, '''' || substr(to_jsonb(k.key)::text, 2, length(to_jsonb(k.key)::text) - 2) || '''') > 0)
