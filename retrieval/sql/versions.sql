-- Entities with the version of their attributes that holds at an instant, and where it ends; without one only where the first begins.
-- $1-$3 access, of each: $4 namespace, $5 entity id; $6 instant
select e.ns, e.entity_id, v.version_id, nullif(v.valid_from, '-infinity') as valid_from, v.attributes, n.valid_from as valid_to
  from unnest($4::int[], $5::bigint[]) as a(ns, entity_id)
 cross join lateral (
     select e.ns, e.entity_id from entity e
      where e.ns = a.ns and e.entity_id = a.entity_id and visible(a.ns, e.acl_id, $1, $2, $3) limit 1) e
  left join lateral (
     select v.version_id, v.valid_from, v.attributes from entity_version v
      where v.ns = e.ns and v.entity_id = e.entity_id and v.valid_from <= $6 order by v.valid_from desc limit 1) v on true
  left join lateral (
     select n.valid_from from entity_version n
      where n.ns = e.ns and n.entity_id = e.entity_id and n.valid_from > $6 order by n.valid_from limit 1) n on true
