-- Adds the row of a write, inside its transaction; a key leaves a digest that needs the secret of the base.
-- $1 principal, $2 service, $3 action, $4 namespace (null for what belongs to none), $5 entities, $6 digests of keys, $7 how many
-- digests at most, $8 how many items, $9 what, $10 outcome, $11 request
with named as materialized (
    select e.entity_id, e.key_digest from entity e where e.ns = $4 and e.entity_id = any($5::bigint[])
    union
    select e.entity_id, d.digest
      from unnest($6::bytea[]) as d(digest) left join entity e on e.ns = $4 and e.key_digest = d.digest
    limit $7
)
insert into audit (principal, service, action, ns, namespaces, entities, keys, items, what, outcome, request_id)
select $1, $2, $3, $4::int, array(select n.name from namespace n where n.ns = $4),
       array(select o.entity_id from named o where o.entity_id is not null order by 1),
       array(select substring(sha256(b.cursor_secret || o.key_digest) for 16) from named o order by 1),
       $8, $9::jsonb, $10::jsonb, $11
  from base b
