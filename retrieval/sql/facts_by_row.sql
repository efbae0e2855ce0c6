-- Recorded rows of facts by id; a fact is visible with its subject, its object and one of its places; whoever reads the
-- namespace whole reads rows of which all places were taken back as well.
-- $1-$3 access, of each: $4 namespace, $5 row id
select f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, nullif(f.relevance_scopes, '{}') as relevance_scopes
  from unnest($4::int[], $5::bigint[]) as a(ns, row_id)
  join fact f on f.ns = a.ns and f.row_id = a.row_id
 where exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(a.ns, s.acl_id, $1, $2, $3))
   and (f.object_id is null or exists (
        select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
   and (not f.has_places or f.ns = any($3) or exists (
        select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
         where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3)))
