-- What packs read: fragments and facts by what they are about, facts around an entity best first, observations latest first.

-- The one rule of scopes: what carries none is about everything; the rest shares one of those requested, and one of those allowed.
-- A part that is null asks for nothing; an empty list of allowed ones leaves what carries none.
create function in_scope(scopes text[], requested text[], allowed text[]) returns boolean
language sql immutable parallel safe as $$
    select (requested is null or scopes = '{}' or scopes && requested) and (allowed is null or scopes = '{}' or scopes && allowed)
$$;

-- The one rule of a fragment filter, with the rule of scopes.
drop function admitted(int, bigint, bigint, jsonb, text[], text[], bytea[], text[], timestamptz, timestamptz);
create function admitted(
    ns int, fragment_id bigint, entity_id bigint,
    meta jsonb, kinds text[], types text[], keys bytea[], scopes text[], updated_after timestamptz, updated_before timestamptz,
    requested text[], allowed text[])
returns table (admitted_id bigint) language sql stable rows 1 as $$
    select f.fragment_id
      from fragment f join entity e on e.ns = f.ns and e.entity_id = f.entity_id
     where f.ns = admitted.ns and f.fragment_id = admitted.fragment_id and e.entity_id = admitted.entity_id
       and (admitted.meta is null or f.meta @> admitted.meta)
       and (kinds is null or e.kind = any(kinds)) and (types is null or e.type = any(types))
       and (keys is null or e.key_digest = any(keys)) and (scopes is null or e.relevance_scopes && scopes)
       and (updated_after is null or e.updated_at > updated_after) and (updated_before is null or e.updated_at < updated_before)
       and in_scope(e.relevance_scopes, requested, allowed)
$$;

-- Facts around an entity in the order of a pack, so that of a hub only the first ones are read.
create index fact_out_best on fact (ns, subject_id, evidence desc, valid_from desc nulls last, fact_id);
create index fact_in_best on fact (ns, object_id, evidence desc, valid_from desc nulls last, fact_id) where object_id is not null;

-- When an observation was made; observations of a scope by all that they carry, those of none by themselves.
create function observed_at(occurred_at timestamptz, updated_at timestamptz) returns timestamptz
language sql immutable parallel safe as $$
    select coalesce(occurred_at, updated_at)
$$;
create index observation_latest on entity (ns, (observed_at(occurred_at, updated_at)) desc) where kind = 'OBSERVATION';
create index observation_of_no_scope on entity (ns, (observed_at(occurred_at, updated_at)) desc)
    where kind = 'OBSERVATION' and relevance_scopes = '{}';
create index observation_of_scope on entity using gin (ns, relevance_scopes) with (fastupdate = off) where kind = 'OBSERVATION';
