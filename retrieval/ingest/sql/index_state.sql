-- How the index over vectors stands, and what is still to come.
-- $1 up to how many vectors are counted; beyond that the planner's number is taken
select greatest((select count(*) from (select from fragment_vector limit $1) counted),
                (select c.reltuples::bigint from pg_class c where c.oid = 'fragment_vector'::regclass))::int as vectors,
       (select count(*)::int from embedding_queue q where q.attempts < 5) as waiting,
       i.indexrelid is not null as present,
       coalesce(i.indisvalid and i.indisready, false) as valid,
       exists (select from pg_stat_progress_create_index p
                where p.datid = (select d.oid from pg_database d where d.datname = current_database())
                  and p.relid = 'fragment_vector'::regclass) as building,
       extract(epoch from now() - b.index_due_since)::float8 as due_seconds
  from base b
  left join pg_index i on i.indexrelid = to_regclass('fragment_vector_near')
