-- Who a token stands for: principal, all groups at any depth, everyone, the namespaces it may read; the rights epoch and the
-- model of vectors of the same moment.
-- $1 digest of the token (bytea, null without one), $2 whether to let in the local administrator
with recursive who as (
    select p.principal_id, p.name, p.administrator
      from token t join principal p using (principal_id)
     where t.digest = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    union all
    select null, 'administrator', true where $2
), stands(principal_id) as (
    select principal_id from who where principal_id is not null
    union
    select p.principal_id from principal p where p.name = 'everyone' and exists (select from who)
    union
    select m.group_id from stands s join membership m on m.member_id = s.principal_id
), space as (
    select n.ns, n.name, n.title, array['READER', 'PERSONAL_DATA', 'WRITER', 'ADMIN'] as roles
      from namespace n where exists (select from who where administrator)
    union all
    select n.ns, n.name, n.title, array_agg(distinct r.role)
      from namespace_role r join namespace n using (ns)
     where r.principal_id in (select principal_id from stands) and not exists (select from who where administrator)
     group by n.ns
)
select w.principal_id, w.name, w.administrator, e.n as epoch, now() as now,
       b.model_number, b.embedding_model, b.embedding_size,
       array(select principal_id from stands) as stands_for,
       array(select p.name from principal p where p.principal_id in (select principal_id from stands)
                and p.principal_id is distinct from w.principal_id order by p.name) as groups,
       coalesce((select jsonb_agg(jsonb_build_array(ns, name, title, roles) order by name) from space), '[]') as spaces
  from who w cross join rights_epoch e cross join base b
