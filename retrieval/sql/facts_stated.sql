-- Pages of the facts in the record that were stated in entities, each in the order in which they were first recorded.
-- $1-$3 access, of each page: $4 namespace, $5 entity id, $6 fact id to start after, $7 how many
select a.page, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, nullif(f.relevance_scopes, '{}') as relevance_scopes
  from unnest($4::int[], $5::bigint[], $6::bigint[], $7::int[]) with ordinality as a(ns, entity_id, after, first, page)
 cross join lateral (
     select v.entity_id from entity v
      where v.ns = a.ns and v.entity_id = a.entity_id and visible(a.ns, v.acl_id, $1, $2, $3) limit 1) v
 cross join lateral (
     select f.* from fact f
      where f.ns = a.ns and f.retracted_at is null and f.fact_id > a.after
        and f.fact_id in (select t.fact_id from fact_place t where t.ns = a.ns and t.entity_id = v.entity_id)
        and exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(a.ns, s.acl_id, $1, $2, $3))
        and (f.object_id is null or exists (
             select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
      order by f.fact_id limit a.first) f
 order by a.page, f.fact_id
