-- Stores what is known of predicates.
-- $1 namespace, $2 names, $3 cardinalities
insert into predicate (ns, name, cardinality) select $1, given.name, given.cardinality from unnest($2::text[], $3::text[]) as given(name, cardinality)
