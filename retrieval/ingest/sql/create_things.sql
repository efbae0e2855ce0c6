-- Makes things for those of some keys that have no entity yet; gives those that were made.
-- $1 namespace, $2 digests of the keys, $3 keys, $4 type
insert into entity (ns, key_digest, key, kind, type, title)
select $1, k.digest, k.key, 'THING', $4, k.key
  from unnest($2::bytea[], $3::text[]) as k(digest, key)
 where not exists (select from entity e where e.ns = $1 and e.key_digest = k.digest)
 order by k.digest
on conflict (ns, key_digest) do nothing
returning entity_id
