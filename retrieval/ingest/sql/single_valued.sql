-- Those of some predicates that hold one value.
-- $1 namespace, $2 predicates
select d.name from predicate d where d.ns = $1 and d.name = any($2::text[]) and d.cardinality = 'ONE'
