-- Stores the attributes that hold from an instant to the start of the next version; a row when that changed anything.
-- $1 namespace, $2 entity, $3 attributes, $4 instant
insert into entity_version as v (ns, entity_id, valid_from, attributes) values ($1, $2, $4, $3::jsonb)
on conflict (ns, entity_id, valid_from) do update set attributes = excluded.attributes
 where v.attributes <> excluded.attributes
returning v.version_id
