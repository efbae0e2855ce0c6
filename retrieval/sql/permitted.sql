-- The permission sets open to a caller in given namespaces, about how many fragments they hold, and the rights epoch.
-- $1 namespaces the caller may read, $2 those it reads whole, $3 principals it stands for
select e.n as epoch, a.acls,
       array(select s.ns from fragment_statistics s where visible(s.ns, s.acl_id, $1, a.acls, $2)
              group by s.ns order by s.ns) as counted,
       array(select sum(s.fragments)::int from fragment_statistics s where visible(s.ns, s.acl_id, $1, a.acls, $2)
              group by s.ns order by s.ns) as fragments
  from rights_epoch e
 cross join lateral (
     select array(select 0 union all
                  select g.acl_id from acl_grant g where g.ns = any($1) and g.principal_id = any($3)) as acls) a
