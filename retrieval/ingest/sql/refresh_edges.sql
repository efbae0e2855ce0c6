-- Makes the edges of facts anew, and takes out those of facts that are gone.
-- $1 namespace, $2 facts
select refresh_edges($1, $2)
