-- Led by the namespace, this index was taken for as good as the primary key by a plan that is made before the permission sets are
-- known: a step of a walk would read all edges of a namespace for those of one entity.
drop index edge_of_fact;
create index edge_of_fact on edge (fact_id, ns);
