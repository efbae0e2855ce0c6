-- The next sources of the base with the titles that they are read under and the texts of their fragments, in the order of their keys.
-- $1 and $2 namespace and entity to start after, $3 how many
select s.ns, s.entity_id, s.digest, s.content, s.personal_data,
       (select e.title from entity e where e.ns = s.ns and e.entity_id = s.entity_id) as title,
       array(select f.text from fragment f where f.ns = s.ns and f.entity_id = s.entity_id) as texts
  from source s
 where (s.ns, s.entity_id) > ($1::int, $2::bigint)
 order by s.ns, s.entity_id
 limit $3
