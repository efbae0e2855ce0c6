-- Fragments of observations that carry no relevance scope or share one of those requested, latest first.
-- $1-$3 access, $4 scopes requested, $5 scopes allowed (null is any), $6 how many
-- Those of no scope and those of one are read apart, each in an order or from an index of its own.
select f.ns, f.fragment_id, f.entity_id, extract(epoch from f.at)::float8 as raw
  from unnest($1::int[]) as s(ns)
 cross join lateral (
     (select e.ns, f.fragment_id, e.entity_id, observed_at(e.occurred_at, e.updated_at) as at
        from entity e join fragment f on f.ns = e.ns and f.entity_id = e.entity_id
       where e.ns = s.ns and e.kind = 'OBSERVATION' and e.relevance_scopes = '{}' and visible(e.ns, e.acl_id, $1, $2, $3)
       order by observed_at(e.occurred_at, e.updated_at) desc, f.fragment_id limit $6)
     union all
     (select e.ns, f.fragment_id, e.entity_id, observed_at(e.occurred_at, e.updated_at) as at
        from entity e join fragment f on f.ns = e.ns and f.entity_id = e.entity_id
       where e.ns = s.ns and e.kind = 'OBSERVATION' and e.relevance_scopes && $4::text[]
         and in_scope(e.relevance_scopes, $4, $5) and visible(e.ns, e.acl_id, $1, $2, $3)
       order by observed_at(e.occurred_at, e.updated_at) desc, f.fragment_id limit $6)) f
 order by f.at desc, f.ns, f.fragment_id
 limit $6
