-- The rows of facts that were in the record at an instant.
-- Whoever reads the namespace whole reads rows of which all places were taken back as well.
-- $1-$3 access, of each: $4 namespace, $5 fact id, $6 instant of the record (null is now)
select a.place, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, nullif(f.relevance_scopes, '{}') as relevance_scopes
  from unnest($4::int[], $5::bigint[], $6::timestamptz[]) with ordinality as a(ns, fact_id, known, place)
  join fact f on f.ns = a.ns and f.fact_id = a.fact_id
 where case when a.known is null then f.retracted_at is null
            else f.recorded_at <= a.known and (f.retracted_at is null or f.retracted_at > a.known) end
   and exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(a.ns, s.acl_id, $1, $2, $3))
   and (f.object_id is null or exists (
        select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
   and (not f.has_places or f.ns = any($3) or exists (
        select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
         where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3) offset 0))
