-- Attributes of entities in the version that holds at an instant; gives the place of each in the list of what was asked.
-- $1-$3 access, of each: $4 namespace, $5 entity id, $6 instant
select a.place::int as place, v.ns, v.entity_id, v.attributes
  from unnest($4::int[], $5::bigint[], $6::timestamptz[]) with ordinality as a(ns, entity_id, at, place)
 cross join lateral (
     select v.ns, v.entity_id, v.attributes
       from entity_version v join entity e on e.ns = v.ns and e.entity_id = v.entity_id
      where v.ns = a.ns and v.entity_id = a.entity_id and v.valid_from <= a.at and visible(e.ns, e.acl_id, $1, $2, $3)
      order by v.valid_from desc limit 1) v
