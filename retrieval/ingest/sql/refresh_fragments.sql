-- Counts the fragments and words of each permission set of a namespace, and the fragments of it all, and writes what differs.
-- $1 namespace
with fresh as materialized (
    select l.acl_id, count(*)::int as fragments, sum(l.words)::bigint as words
      from fragment_lexemes l where l.ns = $1 group by l.acl_id
), gone as (
    delete from fragment_statistics s
     where s.ns = $1 and not exists (select from fresh f where f.acl_id = s.acl_id)
), whole as (
    insert into namespace_statistics as s (ns, fragments) select $1, coalesce(sum(f.fragments), 0)::int from fresh f
    on conflict (ns) do update set fragments = excluded.fragments where s.fragments <> excluded.fragments
)
insert into fragment_statistics as s (ns, acl_id, fragments, words)
select $1, f.acl_id, f.fragments, f.words from fresh f
on conflict (ns, acl_id) do update set fragments = excluded.fragments, words = excluded.words
 where (s.fragments, s.words) <> (excluded.fragments, excluded.words)
