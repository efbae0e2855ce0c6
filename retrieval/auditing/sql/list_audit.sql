-- Rows of the audit, newest first, with the keys of those of their entities that are there; what is null filters nothing.
-- $1 namespace, $2 principal or service, $3 digest of a key, $4 action, $5 since when, $6 how many, $7 how many keys of each
select a.at, a.principal, a.service, a.action, a.namespaces, a.items, a.what, a.outcome, a.request_id,
       array(select e.key from entity e where e.ns = a.ns and e.entity_id = any(a.entities) order by e.key limit $7) as keys
  from audit a
 where ($1::text is null or a.namespaces @> array[$1])
   and ($2::text is null or $2 in (a.principal, a.service))
   and ($3::bytea is null or a.keys @> array(select substring(sha256(b.cursor_secret || $3) for 16) from base b))
   and ($4::text is null or a.action = $4)
   and ($5::timestamptz is null or a.at >= $5)
 order by a.at desc, a.audit_id desc
 limit $6
