-- The facts as a walk needs them: permission leads the key, so that what is hidden costs a reader nothing.

-- A row for each end of a fact that is in the record and leads to an entity, and for each permission set that one of its places
-- has (0 for a fact without places). `far` is the other end. No foreign keys: rows are written by refresh_edges alone, which
-- also takes out those of facts that are gone.
create table edge (
    ns         int not null,
    entity_id  bigint not null,
    outgoing   boolean not null,
    far_acl    int not null,
    place_acl  int not null,
    predicate  text not null,
    row_id     bigint not null,
    far_id     bigint not null,
    valid_from timestamptz,
    valid_to   timestamptz,
    fact_id    bigint not null,
    primary key (ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id) include (far_id, valid_from, valid_to)
);
create index edge_of_fact on edge (ns, fact_id);

-- With entity_id at its end the planner took this index for as good as the primary key in a namespace it knew nothing of, and
-- read all of the namespace for one entity (also to check foreign keys).
drop index entity_recent;
create index entity_recent on entity (ns, updated_at desc);

-- One writer of edges a namespace at a time, to the end of its transaction. In plpgsql each statement after the lock sees what
-- was committed before it was taken; in an SQL function all of them would see what stood when the function began.
create function lock_edges(ns int) returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock(x'ed6e'::int, lock_edges.ns);
end
$$;

-- Called last in every transaction that writes facts or places, with the facts it wrote, changed or deleted: nobody may wait for
-- anything else while holding the lock. Rows are looked up one by one, because a join of a namespace that was just filled, and
-- that the planner still takes for empty, multiplies its entities (measured: 20 s for one fact among 10,000 entities, then 1 ms).
create function refresh_edges(ns int, facts bigint[]) returns void language plpgsql as $$
begin
    perform lock_edges(refresh_edges.ns);
    delete from edge e where e.ns = refresh_edges.ns and e.fact_id = any(facts);
    insert into edge (ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id, far_id, valid_from, valid_to, fact_id)
    select f.ns, side.near_id, side.outgoing, side.far_acl, place.acl_id, f.predicate, f.row_id, side.far_id,
           f.valid_from, f.valid_to, f.fact_id
      from (select distinct unnest(facts) as fact_id) given
     cross join lateral (select f.* from fact f
                          where f.ns = refresh_edges.ns and f.fact_id = given.fact_id and f.retracted_at is null
                            and f.object_id is not null offset 0) f
     cross join lateral (select e.entity_id, e.acl_id from entity e where e.ns = f.ns and e.entity_id = f.subject_id limit 1) s
     cross join lateral (select e.entity_id, e.acl_id from entity e where e.ns = f.ns and e.entity_id = f.object_id limit 1) o
     cross join lateral (values (s.entity_id, true, o.entity_id, o.acl_id),
                                (o.entity_id, false, s.entity_id, s.acl_id)) as side(near_id, outgoing, far_id, far_acl)
     cross join lateral (select 0 where not f.has_places
                         union
                         select p.acl_id from fact_place stated
                          cross join lateral (select e.acl_id from entity e
                                               where e.ns = stated.ns and e.entity_id = stated.entity_id limit 1) p
                          where f.has_places and stated.ns = f.ns and stated.fact_id = f.fact_id) as place(acl_id);
end
$$;

-- Called last in every transaction that gives an entity another permission set. The facts are looked up under the lock: one that
-- was stated meanwhile was stored with the permission set of before.
create function refresh_edges_around(ns int, entity_id bigint) returns void language plpgsql as $$
begin
    perform lock_edges(refresh_edges_around.ns);
    perform refresh_edges(refresh_edges_around.ns, array(
        select f.fact_id from fact f where f.ns = refresh_edges_around.ns and f.subject_id = refresh_edges_around.entity_id
        union
        select f.fact_id from fact f where f.ns = refresh_edges_around.ns and f.object_id = refresh_edges_around.entity_id
        union
        select p.fact_id from fact_place p where p.ns = refresh_edges_around.ns and p.entity_id = refresh_edges_around.entity_id));
end
$$;

select refresh_edges(f.ns, array_agg(distinct f.fact_id)) from fact f group by f.ns;
