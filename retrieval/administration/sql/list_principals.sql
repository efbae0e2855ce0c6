-- All principals with the groups that they are members of themselves.
-- no parameters
select p.name, p.kind, p.title, p.administrator, p.acts_for_users,
       array(select g.name from membership m join principal g on g.principal_id = m.group_id
              where m.member_id = p.principal_id order by g.name) as groups
  from principal p
 order by p.name
