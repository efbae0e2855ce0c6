-- Who a token stands for: principal, all groups at any depth, everyone; the namespaces it may read, the permission sets that are open to
-- it there and about how many fragments they hold; the rights epoch, the model of vectors and the snapshot of the same moment.
-- $1 digest of an opaque token (bytea, null without one), $2 whether to let in the local administrator, $3 roles that read a namespace
-- whole, $4 whether the plan is kept, $5 subject of a signed token (null without one) and $6 the groups that it names, $7 the user that a
-- service acts for (null for none)
-- A subject without a row is principal 0, which stands for its groups and everyone. Who acts for a user stands for that user alone.
-- "offset 0" and arrays look rows up by their keys: joins would read all memberships, all grants and the sizes of all sets of the base.
with recursive bearer as (
    select p.principal_id, p.name, p.administrator, p.acts_for_users
      from token t join principal p using (principal_id)
     where t.digest = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    union all
    select p.principal_id, p.name, p.administrator, p.acts_for_users from principal p where p.name = $5 and p.kind <> 'GROUP'
    union all
    select 0, $5, false, false where $5 is not null and not exists (select from principal p where p.name = $5)
    union all
    select null, 'administrator', true, false where $2
), who as (
    select b.principal_id, b.name, b.administrator, null::text as service from bearer b where $7::text is null
    union all
    select u.principal_id, u.name, false, b.name
      from bearer b join principal u on u.name = $7
     where b.acts_for_users and u.kind = 'USER' and not u.administrator
), stands(principal_id) as (
    select principal_id from who where principal_id is not null
    union
    select p.principal_id from principal p where p.name = 'everyone' and exists (select from who)
    union
    select p.principal_id from principal p
     where p.name = any($6::text[]) and p.kind = 'GROUP' and exists (select from who where service is null)
    union
    select m.group_id
      from stands s cross join lateral (select m.group_id from membership m where m.member_id = s.principal_id offset 0) m
), space as materialized (
    select n.ns, n.name, n.title, array['READER', 'PERSONAL_DATA', 'WRITER', 'ADMIN'] as roles, true as whole
      from namespace n where exists (select from who where administrator)
    union all
    select n.ns, n.name, n.title, array_agg(distinct r.role), bool_or(r.role = any($3::text[]))
      from namespace_role r join namespace n using (ns)
     where r.principal_id = any(array(select principal_id from stands)) and not exists (select from who where administrator)
     group by n.ns
), granted as materialized (
    select distinct g.ns, g.acl_id, n.whole
      from space n join acl_grant g on g.ns = n.ns and g.principal_id = any(array(select principal_id from stands))
), held as (
    select s.ns, s.fragments from space n join fragment_statistics s on s.ns = n.ns and s.acl_id = 0 where not n.whole
    union all
    select g.ns, s.fragments
      from granted g
     cross join lateral (select t.fragments from fragment_statistics t where t.ns = g.ns and t.acl_id = g.acl_id offset 0) s
     where not g.whole
    union all
    select s.ns, s.fragments from space n join namespace_statistics s on s.ns = n.ns where n.whole
), counted as (
    select h.ns, sum(h.fragments)::int as fragments from held h group by h.ns
)
select w.principal_id, w.name, w.administrator, w.service, e.n as epoch, now() as now, pg_current_snapshot()::text as snapshot,
       b.model_number, b.embedding_model, b.embedding_size,
       array(select principal_id from stands) as stands_for,
       array(select p.name from principal p where p.principal_id = any(array(select principal_id from stands))
                and p.principal_id is distinct from w.principal_id order by p.name) as groups,
       coalesce((select jsonb_agg(jsonb_build_array(ns, name, title, roles) order by name) from space), '[]') as spaces,
       array(select 0 union all select g.acl_id from granted g) as acls, c.counted, c.fragments
  from who w cross join rights_epoch e cross join base b
 cross join (select coalesce(array_agg(c.ns order by c.ns), '{}') as counted,
                    coalesce(array_agg(c.fragments order by c.ns), '{}') as fragments from counted c) c
 where $4::planned_once is not null
