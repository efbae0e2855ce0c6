-- Stores documents of one fragment each, with words and identifiers, unrestricted; gives the ids by key.
-- $1 namespace, of each document: $2 digest of the key, $3 key, $4 title, $5 text, $6 meta, $7 identifiers by line,
-- $8 text that words are made from, $9 kind, $10 when it happened, $11 relevance scopes by line,
-- $12 marks of personal data by line, $13 seal
with given as materialized (
    select * from unnest($2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                         $9::text[], $10::timestamptz[], $11::text[], $12::text[], $13::bigint[])
             with ordinality as g(key_digest, key, title, text, meta, identifier_text, words, kind, occurred_at, scopes, marks, seal, place)
), made as (
    insert into entity (ns, key_digest, key, kind, type, title, occurred_at, relevance_scopes)
    select $1, g.key_digest, g.key, g.kind, lower(g.kind), g.title, g.occurred_at, string_to_array(g.scopes, E'\n')
      from given g order by g.place
    returning ns, entity_id, key_digest
), stored as (
    insert into fragment (ns, entity_id, acl_id, ordinal, title, heading, text, meta, identifiers, seal)
    select m.ns, m.entity_id, 0, 0, g.title, '', g.text, g.meta::jsonb, string_to_array(g.identifier_text, E'\n'), g.seal
      from given g join made m using (key_digest)
     order by g.place
    returning ns, fragment_id, entity_id, acl_id, identifiers
), worded as (
    select m.entity_id, g.identifier_text, string_to_array(g.marks, E'\n') as marks, to_tsvector((select b.search_config from base b), g.words) as lexemes
      from given g join made m using (key_digest)
), indexed as (
    insert into fragment_lexemes (ns, fragment_id, entity_id, acl_id, words, lexemes, identifiers, identifier_text)
    select s.ns, s.fragment_id, s.entity_id, s.acl_id,
           (select coalesce(sum(cardinality(l.positions)), 0) from unnest(w.lexemes) l), w.lexemes, s.identifiers || w.marks, w.identifier_text
      from stored s join worded w using (entity_id)
)
select g.key, s.fragment_id, s.entity_id from stored s join made m using (entity_id) join given g using (key_digest)
