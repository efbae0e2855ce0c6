-- Fragments of observations that carry no relevance scope or share one of those requested, latest first.
-- $1-$3 access, $4 scopes requested, $5 scopes allowed (null is any), $6 how many, $7 whether the index of scopes is asked for scopes
-- only: of many namespaces it would be asked one by one
-- Those of no scope are read in their order, in those namespaces alone whose latest is among the latest of all.
with latest as materialized (
    select s.ns
      from unnest($1::int[]) as s(ns)
     cross join lateral (
           select observed_at(e.occurred_at, e.updated_at) as at
             from entity e
            where e.ns = s.ns and e.kind = 'OBSERVATION' and e.relevance_scopes = '{}' and visible(s.ns, e.acl_id, $1, $2, $3)
              and exists (select from fragment f where f.ns = e.ns and f.entity_id = e.entity_id)
            order by observed_at(e.occurred_at, e.updated_at) desc limit 1) e
     order by e.at desc
     fetch first $6 rows with ties
)
select f.ns, f.fragment_id, f.entity_id, extract(epoch from f.at)::float8 as raw
  from (
    (select f.* from latest s cross join lateral (
        select e.ns, f.fragment_id, e.entity_id, observed_at(e.occurred_at, e.updated_at) as at
          from entity e join fragment f on f.ns = e.ns and f.entity_id = e.entity_id
         where e.ns = s.ns and e.kind = 'OBSERVATION' and e.relevance_scopes = '{}' and visible(s.ns, e.acl_id, $1, $2, $3)
         order by observed_at(e.occurred_at, e.updated_at) desc, f.fragment_id limit $6) f)
    union all
    (select f.* from unnest(case when $7::boolean then '{}' else $1::int[] end) as s(ns) cross join lateral (
        select e.ns, f.fragment_id, e.entity_id, observed_at(e.occurred_at, e.updated_at) as at
          from entity e join fragment f on f.ns = e.ns and f.entity_id = e.entity_id
         where e.ns = s.ns and e.kind = 'OBSERVATION' and e.relevance_scopes && $4::text[]
           and in_scope(e.relevance_scopes, null, $5) and visible(s.ns, e.acl_id, $1, $2, $3)
         order by observed_at(e.occurred_at, e.updated_at) desc, f.fragment_id limit $6) f)
    union all
    (select e.ns, f.fragment_id, e.entity_id, observed_at(e.occurred_at, e.updated_at) as at
       from entity e join fragment f on f.ns = e.ns and f.entity_id = e.entity_id
      where $7::boolean and e.kind = 'OBSERVATION' and e.relevance_scopes && $4::text[]
        and in_scope(e.relevance_scopes, null, $5) and visible(e.ns + 0, e.acl_id, $1, $2, $3)
      order by observed_at(e.occurred_at, e.updated_at) desc, e.ns, f.fragment_id limit $6)) f
 order by f.at desc, f.ns, f.fragment_id
 limit $6
