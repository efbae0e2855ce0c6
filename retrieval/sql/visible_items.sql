-- Which of some fragments, facts and entities are visible; a fact is when one of its recorded rows is, with its subject, its object
-- and one of its places: the last such row comes with it.
-- $1-$3 access, $4 namespaces, $5 fragment ids, $6 fact ids, $7 entity ids
select 'FRAGMENT' as kind, f.ns, f.fragment_id as id, null::bigint as row_id
  from fragment f join entity e on e.ns = f.ns and e.entity_id = f.entity_id
 where f.ns = any($4) and f.fragment_id = any($5)
   and visible(f.ns, f.acl_id, $1, $2, $3) and visible(e.ns, e.acl_id, $1, $2, $3)
union all
select 'FACT', f.ns, f.fact_id, max(f.row_id)
  from fact f
 where f.ns = any($4) and f.fact_id = any($6)
   and exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(s.ns, s.acl_id, $1, $2, $3))
   and (f.object_id is null or exists (
        select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(o.ns, o.acl_id, $1, $2, $3)))
   and (not f.has_places or exists (
        select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
         where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3)))
 group by f.ns, f.fact_id
union all
select 'ENTITY', e.ns, e.entity_id, null
  from entity e
 where e.ns = any($4) and e.entity_id = any($7) and visible(e.ns, e.acl_id, $1, $2, $3)
