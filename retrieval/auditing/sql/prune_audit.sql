-- Takes away rows of the audit that are too old, the oldest first.
-- $1 days that they are kept, $2 how many at most
delete from audit a where (a.at, a.audit_id) in (
    select o.at, o.audit_id from audit o where o.at < now() - make_interval(days => $1)
     order by o.at, o.audit_id limit $2 for update skip locked)
