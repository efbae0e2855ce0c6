-- States that documents link to others, as facts without places; gives the facts.
-- $1 namespace, of each link: $2 digest of the key it goes out from, $3 digest of the key it leads to
insert into fact (ns, fact_id, subject_id, predicate, object_id, evidence)
select $1, nextval('fact_id'), s.entity_id, 'links_to', o.entity_id, 2
  from unnest($2::bytea[], $3::bytea[]) as l(subject, object)
  join entity s on s.ns = $1 and s.key_digest = l.subject
  join entity o on o.ns = $1 and o.key_digest = l.object
returning fact_id
