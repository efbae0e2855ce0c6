-- What is hidden costs a reader nothing, among values and in the record of the past too: permission leads the keys of both.

-- Edges know since when they are in the record, and those of rows that were retracted are kept apart, for walks as of an instant of it.
alter table edge add column recorded_at timestamptz not null default now();
update edge e set recorded_at = f.recorded_at from fact f where f.ns = e.ns and f.row_id = e.row_id;

create table former_edge (
    ns           int not null,
    entity_id    bigint not null,
    outgoing     boolean not null,
    far_acl      int not null,
    place_acl    int not null,
    predicate    text not null,
    row_id       bigint not null,
    far_id       bigint not null,
    valid_from   timestamptz,
    valid_to     timestamptz,
    fact_id      bigint not null,
    recorded_at  timestamptz not null,
    retracted_at timestamptz not null,
    primary key (ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id)
);
create index former_edge_of_fact on former_edge (fact_id, ns);

-- A row for each permission set that has a place of a fact whose object is a value; facts without places are as open as their subject.
create table said (
    ns        int not null,
    entity_id bigint not null,
    is_live   boolean not null,
    place_acl int not null,
    predicate text collate "C" not null,
    row_id    bigint not null,
    fact_id   bigint not null,
    primary key (ns, entity_id, is_live, place_acl, predicate, row_id)
);
create index said_of_fact on said (fact_id, ns);

-- Values that no place was given for, apart from those that may be hidden one by one.
drop index fact_said_best;
create index fact_said_best on fact (ns, subject_id, evidence desc, valid_from desc nulls last, fact_id)
 where object_id is null and not has_places;
create index fact_stated_best on fact (ns, subject_id, evidence desc, valid_from desc nulls last, fact_id)
 where object_id is null and has_places;

create index fact_said on fact (ns, subject_id, predicate, fact_id) where object_id is null and not has_places;

-- As in 0003, for edges of before and values as well; the rows of the facts are read once for all three.
create or replace function refresh_edges(ns int, facts bigint[]) returns void language plpgsql as $$
begin
    perform lock_edges(refresh_edges.ns);
    delete from edge e where e.ns = refresh_edges.ns and e.fact_id = any(facts);
    delete from former_edge e where e.ns = refresh_edges.ns and e.fact_id = any(facts);
    delete from said s where s.ns = refresh_edges.ns and s.fact_id = any(facts);
    with stated as materialized (
        select f.ns, f.row_id, f.fact_id, f.subject_id, f.object_id, f.predicate, f.valid_from, f.valid_to, f.recorded_at,
               f.retracted_at, place.acl_id as place_acl
          from (select distinct unnest(facts) as fact_id) given
         cross join lateral (select f.* from fact f
                              where f.ns = refresh_edges.ns and f.fact_id = given.fact_id
                                and (f.object_id is not null or f.has_places) offset 0) f
         cross join lateral (select 0 where not f.has_places
                             union
                             select p.acl_id from fact_place stated
                              cross join lateral (select e.acl_id from entity e
                                                   where e.ns = stated.ns and e.entity_id = stated.entity_id limit 1) p
                              where f.has_places and stated.ns = f.ns and stated.fact_id = f.fact_id) as place(acl_id)
    ), led as materialized (
        select f.ns, side.near_id, side.outgoing, side.far_acl, f.place_acl, f.predicate, f.row_id, side.far_id,
               f.valid_from, f.valid_to, f.fact_id, f.recorded_at, f.retracted_at
          from stated f
         cross join lateral (select e.entity_id, e.acl_id from entity e where e.ns = f.ns and e.entity_id = f.subject_id limit 1) s
         cross join lateral (select e.entity_id, e.acl_id from entity e where e.ns = f.ns and e.entity_id = f.object_id limit 1) o
         cross join lateral (values (s.entity_id, true, o.entity_id, o.acl_id),
                                    (o.entity_id, false, s.entity_id, s.acl_id)) as side(near_id, outgoing, far_id, far_acl)
         where f.object_id is not null
    ), live as (
        insert into edge (ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id, far_id, valid_from, valid_to, fact_id,
                          recorded_at)
        select l.ns, l.near_id, l.outgoing, l.far_acl, l.place_acl, l.predicate, l.row_id, l.far_id, l.valid_from, l.valid_to,
               l.fact_id, l.recorded_at
          from led l where l.retracted_at is null
    ), former as (
        insert into former_edge (ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id, far_id, valid_from, valid_to,
                                 fact_id, recorded_at, retracted_at)
        select l.* from led l where l.retracted_at is not null
    )
    insert into said (ns, entity_id, is_live, place_acl, predicate, row_id, fact_id)
    select f.ns, f.subject_id, f.retracted_at is null, f.place_acl, f.predicate, f.row_id, f.fact_id
      from stated f where f.object_id is null;
end
$$;

-- The edges that were in the record at an instant. It is put into the statement that asks, so that conditions and order reach the keys.
create function edges_known(known timestamptz)
returns table (ns int, entity_id bigint, outgoing boolean, far_acl int, place_acl int, predicate text, row_id bigint, far_id bigint,
               valid_from timestamptz, valid_to timestamptz)
language sql stable parallel safe as $$
    select e.ns, e.entity_id, e.outgoing, e.far_acl, e.place_acl, e.predicate, e.row_id, e.far_id, e.valid_from, e.valid_to
      from edge e where e.recorded_at <= known
    union all
    select e.ns, e.entity_id, e.outgoing, e.far_acl, e.place_acl, e.predicate, e.row_id, e.far_id, e.valid_from, e.valid_to
      from former_edge e where e.recorded_at <= known and e.retracted_at > known
$$;

select refresh_edges(f.ns, array_agg(distinct f.fact_id))
  from fact f where f.retracted_at is not null or (f.object_id is null and f.has_places) group by f.ns;
