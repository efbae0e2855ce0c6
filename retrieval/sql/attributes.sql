-- Attributes of entities in the version that holds at an instant; gives the place of each in the list of what was asked.
-- $1-$3 access, $4 namespaces, $5 entity ids, $6 instants, one for each id
select a.place::int as place, v.ns, v.entity_id, v.attributes
  from unnest($5::bigint[], $6::timestamptz[]) with ordinality as a(entity_id, at, place)
 cross join lateral (
     select v.ns, v.entity_id, v.attributes
       from entity_version v join entity e on e.ns = v.ns and e.entity_id = v.entity_id
      where v.ns = any($4) and v.entity_id = a.entity_id and v.valid_from <= a.at and visible(e.ns, e.acl_id, $1, $2, $3)
      order by v.valid_from desc limit 1) v
