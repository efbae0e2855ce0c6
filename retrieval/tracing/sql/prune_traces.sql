-- Takes away traces that are too old, the oldest first.
-- $1 days that they are kept, $2 how many at most
delete from trace t where t.trace_id in (
    select o.trace_id from trace o where o.created_at < now() - make_interval(days => $1)
     order by o.created_at limit $2 for update skip locked)
