-- Pages of the facts of entities that hold at an instant as they were recorded at another, each by predicate, then by fact.
-- $1-$3 access, of each page: $4 namespace, $5 entity id, $6 whether facts about it, $7 whether facts that lead to it (a loop counts
-- as about it when both), $8 JSON list of the predicates (null is any), $9 instant of validity, $10 instant of the record (null is now),
-- $11 and $12 predicate and fact id to start after, $13 how many
-- visible() is asked of the namespace of the page, so that an entity is looked up by one namespace and not by all that are open.
-- "offset 0" looks the places of each fact up: without it the planner may read all places of the base once, for one fact.
select a.page, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, f.relevance_scopes
  from unnest($4::int[], $5::bigint[], $6::boolean[], $7::boolean[], $8::jsonb[], $9::timestamptz[], $10::timestamptz[], $11::text[],
              $12::bigint[], $13::int[])
       with ordinality as a(ns, entity_id, outgoing, incoming, predicates, at, known, after_predicate, after_fact, first, page)
 cross join lateral (
     select v.entity_id from entity v
      where v.ns = a.ns and v.entity_id = a.entity_id and visible(a.ns, v.acl_id, $1, $2, $3) limit 1) v
 cross join lateral (
     select f.* from (
        (select f.* from fact f
          where a.outgoing and f.ns = a.ns and f.subject_id = v.entity_id
            and (a.predicates is null or a.predicates ? f.predicate)
            and (f.valid_from is null or f.valid_from <= a.at) and (f.valid_to is null or f.valid_to > a.at)
            and case when a.known is null then f.retracted_at is null
                     else f.recorded_at <= a.known and (f.retracted_at is null or f.retracted_at > a.known) end
            and (a.after_fact is null or (f.predicate, f.fact_id) > (a.after_predicate, a.after_fact))
            and (f.object_id is null or exists (
                 select from entity o where o.ns = a.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
            and (not f.has_places or exists (
                 select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                  where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3) offset 0))
          order by f.predicate, f.fact_id limit a.first)
        union all
        (select f.* from fact f
          where a.incoming and f.ns = a.ns and f.object_id = v.entity_id and not (a.outgoing and f.subject_id = v.entity_id)
            and (a.predicates is null or a.predicates ? f.predicate)
            and (f.valid_from is null or f.valid_from <= a.at) and (f.valid_to is null or f.valid_to > a.at)
            and case when a.known is null then f.retracted_at is null
                     else f.recorded_at <= a.known and (f.retracted_at is null or f.retracted_at > a.known) end
            and (a.after_fact is null or (f.predicate, f.fact_id) > (a.after_predicate, a.after_fact))
            and exists (select from entity s
                         where s.ns = a.ns and s.entity_id = f.subject_id and visible(a.ns, s.acl_id, $1, $2, $3))
            and (not f.has_places or exists (
                 select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                  where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3) offset 0))
          order by f.predicate, f.fact_id limit a.first)) f
      order by f.predicate, f.fact_id limit a.first) f
 order by a.page, f.predicate, f.fact_id
