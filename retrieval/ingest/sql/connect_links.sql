-- Turns waiting links whose target is there into facts that rest on the linking document; gives the facts.
-- $1 namespace, $2 entity whose links are meant and that links are looked for to (null is all)
with waiting as materialized (
    select l.ns, l.entity_id, l.target_digest, l.predicate, l.valid_from, l.relevance_scopes, t.entity_id as target_id
      from link l join entity t on t.ns = l.ns and t.key_digest = l.target_digest
     where l.ns = $1 and l.fact_id is null and l.entity_id <> t.entity_id
       and ($2::bigint is null or l.entity_id = $2
            or l.target_digest = (select o.key_digest from entity o where o.ns = $1 and o.entity_id = $2))
     order by l.entity_id, l.target_digest, l.predicate
       for update of l
), stated as (
    insert into fact (ns, recorded_at, fact_id, subject_id, predicate, object_id, valid_from, evidence, relevance_scopes, has_places)
    select w.ns, clock_timestamp(), nextval('fact_id'), w.entity_id, w.predicate, w.target_id, w.valid_from, 2, w.relevance_scopes, true
      from waiting w
    returning ns, fact_id, subject_id, predicate, object_id
), placed as (
    insert into fact_place (ns, fact_id, entity_id) select s.ns, s.fact_id, s.subject_id from stated s
)
update link l set fact_id = s.fact_id
  from stated s
  join waiting w on w.ns = s.ns and w.entity_id = s.subject_id and w.target_id = s.object_id and w.predicate = s.predicate
 where l.ns = w.ns and l.entity_id = w.entity_id and l.target_digest = w.target_digest and l.predicate = w.predicate
returning l.fact_id
