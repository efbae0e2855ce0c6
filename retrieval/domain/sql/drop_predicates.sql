-- Takes out what is known of the predicates of a namespace, before it is stored anew.
-- $1 namespace
delete from predicate where ns = $1
