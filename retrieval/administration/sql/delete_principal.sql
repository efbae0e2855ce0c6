-- Deletes a principal; its tokens, memberships and grants go by the foreign keys and are counted before.
-- $1 name
delete from principal p
 where p.name = $1
returning p.principal_id,
          (select count(*)::int from token t where t.principal_id = p.principal_id) as tokens,
          (select count(*)::int from membership m where p.principal_id in (m.group_id, m.member_id)) as memberships,
          ((select count(*) from namespace_role r where r.principal_id = p.principal_id)
           + (select count(*) from acl_grant g where g.principal_id = p.principal_id))::int as grants
