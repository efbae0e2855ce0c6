-- Of the next traces over a namespace those in whose request a text stands, and the last that was looked at (null for none).
-- $1 namespace, $2 texts as JSON has them without the quotation marks around, $3 the id to start after, $4 how many to look at
with next as materialized (
    select t.trace_id, (t.body -> 'request')::text as request
      from trace t
     where t.namespaces @> array[$1::int] and t.trace_id > $3
     order by t.trace_id limit $4
)
select max(n.trace_id) as last,
       coalesce(array_agg(n.trace_id) filter (
           where exists (select from unnest($2::text[]) as k(text) where strpos(n.request, k.text) > 0)), '{}') as found
  from next n
