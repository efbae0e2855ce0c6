-- Records attributes that differ from those in force: the first version holds since ever, a later one from now on. Now is when the
-- statement runs, since the transaction may have begun before another one that it then waited for.
-- $1 namespace, $2 entity, $3 attributes
with at as materialized (select clock_timestamp() as now)
insert into entity_version (ns, entity_id, valid_from, attributes)
select $1, $2, coalesce((select at.now from entity_version v where v.ns = $1 and v.entity_id = $2 limit 1), '-infinity'), $3::jsonb
  from at
 where $3::jsonb is distinct from (
           select v.attributes from entity_version v
            where v.ns = $1 and v.entity_id = $2 and v.valid_from <= at.now order by v.valid_from desc limit 1)
on conflict (ns, entity_id, valid_from) do update set attributes = excluded.attributes
