-- The documents that were stored from the files of a folder, or from the lines of its JSON Lines files.
-- $1 namespace, $2 connector, $3 URI of the folder with its last slash
select e.key, s.uri
  from source s join entity e on e.ns = s.ns and e.entity_id = s.entity_id
 where s.ns = $1 and s.connector = $2 and starts_with(s.uri, $3)
   and (s.uri = $3 || e.key or right(s.uri, length(e.key) + 1) = '#' || e.key)
 order by e.key
