-- Makes an entity; no row when another writer made it first.
-- $1 namespace, $2 digest of the key, $3 key, $4 kind, $5 type, $6 title
insert into entity (ns, key_digest, key, kind, type, title) values ($1, $2, $3, $4, $5, $6)
on conflict (ns, key_digest) do nothing
returning entity_id
