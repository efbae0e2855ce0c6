-- Records facts, in the order given.
-- $1 namespace, $2 instant, of each: $3 fact, $4 subject, $5 predicate, $6 object, $7 JSON text of the value, $8 valid from, $9 valid to,
-- $10 evidence, $11 JSON text of the relevance scopes, $12 whether it supersedes, $13 whether it has places
insert into fact (ns, recorded_at, fact_id, subject_id, predicate, object_id, value, valid_from, valid_to, evidence, relevance_scopes,
                  supersedes, has_places)
select $1, $2, g.fact_id, g.subject_id, g.predicate, g.object_id, g.value::jsonb, g.valid_from, g.valid_to, g.evidence,
       case when g.scopes is null then '{}' else array(select jsonb_array_elements_text(g.scopes::jsonb)) end,
       g.supersedes, g.has_places
  from unnest($3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::timestamptz[], $9::timestamptz[], $10::smallint[],
              $11::text[], $12::boolean[], $13::boolean[])
       with ordinality as g(fact_id, subject_id, predicate, object_id, value, valid_from, valid_to, evidence, scopes, supersedes,
                            has_places, place)
 order by g.place
