-- Gives fragments the words and identifiers of their masked text; gives those that had others.
-- $1 namespace, of each fragment: $2 id, $3 identifiers by line, $4 text that words are made from, $5 marks of personal data by line
with given as materialized (
    select g.fragment_id, string_to_array(g.identifier_text, E'\n') as identifiers, g.identifier_text,
           to_tsvector((select b.search_config from base b), g.words) as lexemes, string_to_array(g.marks, E'\n') as marks
      from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as g(fragment_id, identifier_text, words, marks)
), shown as (
    update fragment f set identifiers = g.identifiers
      from given g
     where f.ns = $1 and f.fragment_id = g.fragment_id and f.identifiers <> g.identifiers
)
update fragment_lexemes l
   set lexemes = g.lexemes, identifiers = g.identifiers || g.marks, identifier_text = g.identifier_text,
       words = (select coalesce(sum(cardinality(w.positions)), 0) from unnest(g.lexemes) w)
  from given g
 where l.ns = $1 and l.fragment_id = g.fragment_id
   and (l.lexemes <> g.lexemes or l.identifiers <> g.identifiers || g.marks or l.identifier_text <> g.identifier_text)
returning l.fragment_id, l.entity_id
