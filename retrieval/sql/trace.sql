-- A stored trace, for the one who made it and for administrators of all its namespaces, unless one of these is closed or gone.
-- $1-$3 access, $4 id, $5 principal (null for the local administrator, 0 for a subject that no principal stands for), $6 days that traces
-- are kept, $7 issuer of the caller's own token (null for an opaque one), $8 name of the caller, $9 groups that the token names
with recursive stands(principal_id) as (
    select p.principal_id from principal p where p.principal_id = $5
    union
    select p.principal_id from principal p
     where p.name = 'everyone' and ($5 = 0 or exists (select from principal o where o.principal_id = $5))
    union
    select p.principal_id from principal p where p.name = any($9::text[]) and p.kind = 'GROUP'
    union
    select m.group_id from stands s join membership m on m.member_id = s.principal_id
)
select t.body
  from trace t
 where t.trace_id = $4 and t.namespaces <@ $1 and t.created_at > now() - make_interval(days => $6)
   and (t.principal_id is not distinct from $5
        or (t.issuer = $7::text and t.subject = $8::text)
        or $5::int is null
        or exists (select from principal p where p.principal_id = $5 and p.administrator)
        or (cardinality(t.namespaces) > 0 and t.namespaces <@ array(
            select r.ns from namespace_role r where r.principal_id in (select s.principal_id from stands s) and r.role = 'ADMIN')))
