-- Makes the edges of all facts anew that an entity takes part in, as subject, object or place.
-- $1 namespace, $2 entity
select refresh_edges_around($1, $2)
