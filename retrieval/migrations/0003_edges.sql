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

-- One writer of edges a namespace at a time, to the end of its transaction. In plpgsql each statement after the lock sees what
-- was committed before it was taken; in an SQL function all of them would see what stood when the function began.
create function lock_edges(ns int) returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock(x'ed6e'::int, lock_edges.ns);
end
$$;

-- Called last in every transaction that writes facts or places, with the facts it wrote, changed or deleted: nobody may wait for
-- anything else while holding the lock.
create function refresh_edges(ns int, facts bigint[]) returns void language plpgsql as $$
begin
    perform lock_edges(refresh_edges.ns);
    delete from edge e where e.ns = refresh_edges.ns and e.fact_id = any(facts);
    insert into edge (ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id, far_id, valid_from, valid_to, fact_id)
    select f.ns, side.near_id, side.outgoing, side.far_acl, place.acl_id, f.predicate, f.row_id, side.far_id,
           f.valid_from, f.valid_to, f.fact_id
      from fact f
      join entity s on s.ns = f.ns and s.entity_id = f.subject_id
      join entity o on o.ns = f.ns and o.entity_id = f.object_id
     cross join lateral (values (s.entity_id, true, o.entity_id, o.acl_id),
                                (o.entity_id, false, s.entity_id, s.acl_id)) as side(near_id, outgoing, far_id, far_acl)
     cross join lateral (select 0 where not f.has_places
                         union
                         select p.acl_id from fact_place stated join entity p on p.ns = stated.ns and p.entity_id = stated.entity_id
                          where f.has_places and stated.ns = f.ns and stated.fact_id = f.fact_id) as place(acl_id)
     where f.ns = refresh_edges.ns and f.fact_id = any(facts) and f.retracted_at is null;
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
