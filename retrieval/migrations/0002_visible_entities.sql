-- The one rule of an entity filter, under access; the list, the count, the sql channel and the aggregates read through it.
-- A part that is null filters nothing, an empty list admits nothing. Attributes are those of the version that holds at `at`.
-- PostgreSQL puts the body into the statement that calls it, so parts that are null cost nothing and indexes are used.
create function visible_entities(
    spaces int[], acls int[], whole int[], at timestamptz,
    kinds text[], types text[], statuses text[], source_paths text[], keys bytea[], meta jsonb, attributes jsonb, scopes text[],
    created_after timestamptz, created_before timestamptz, updated_after timestamptz, updated_before timestamptz,
    occurred_after timestamptz, occurred_before timestamptz)
returns setof entity language sql stable as $$
    select e.*
      from entity e
     where visible(e.ns, e.acl_id, spaces, acls, whole)
       and (kinds is null or e.kind = any(kinds)) and (types is null or e.type = any(types))
       and (statuses is null or e.status = any(statuses)) and (source_paths is null or e.source_path = any(source_paths))
       and (keys is null or e.key_digest = any(keys)) and (scopes is null or e.relevance_scopes && scopes)
       and (visible_entities.meta is null or e.meta @> visible_entities.meta)
       and (visible_entities.attributes is null or coalesce(
            (select v.attributes from entity_version v
              where v.ns = e.ns and v.entity_id = e.entity_id and v.valid_from <= at
              order by v.valid_from desc limit 1), '{}') @> visible_entities.attributes)
       and (created_after is null or e.created_at > created_after) and (created_before is null or e.created_at < created_before)
       and (updated_after is null or e.updated_at > updated_after) and (updated_before is null or e.updated_at < updated_before)
       and (occurred_after is null or e.occurred_at > occurred_after)
       and (occurred_before is null or e.occurred_at < occurred_before)
$$;
