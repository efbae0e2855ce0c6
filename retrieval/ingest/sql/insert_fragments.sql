-- Stores fragments with their words and identifiers; gives the id of each by its ordinal.
-- $1 namespace, $2 entity, $3 permission set, $4 title, $5 meta,
-- of each fragment: $6 ordinal, $7 heading, $8 text, $9 identifiers by line, $10 text that words are made from,
-- $11 marks of personal data by line, $12 seal
with given as materialized (
    select * from unnest($6::int[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[])
               as g(ordinal, heading, text, identifier_text, words, marks, seal)
), stored as (
    insert into fragment (ns, entity_id, acl_id, ordinal, title, heading, text, meta, identifiers, seal)
    select $1, $2, $3, g.ordinal, $4, g.heading, g.text, $5::jsonb, string_to_array(g.identifier_text, E'\n'), g.seal from given g
    returning ns, fragment_id, entity_id, acl_id, ordinal, identifiers
), worded as (
    select g.ordinal, g.identifier_text, string_to_array(g.marks, E'\n') as marks, to_tsvector((select b.search_config from base b), g.words) as lexemes from given g
), indexed as (
    insert into fragment_lexemes (ns, fragment_id, entity_id, acl_id, words, lexemes, identifiers, identifier_text)
    select s.ns, s.fragment_id, s.entity_id, s.acl_id,
           (select coalesce(sum(cardinality(l.positions)), 0) from unnest(w.lexemes) l), w.lexemes, s.identifiers || w.marks, w.identifier_text
      from stored s join worded w using (ordinal)
)
select s.ordinal, s.fragment_id from stored s
