-- Stores a pack in the place of its version before.
-- $1 namespace, $2 name, $3 version, $4 digest, $5 body
insert into domain_pack (ns, name, version, digest, body) values ($1, $2, $3, $4, $5)
    on conflict (ns, name) do update
   set version = excluded.version, digest = excluded.digest, body = excluded.body, applied_at = now()
