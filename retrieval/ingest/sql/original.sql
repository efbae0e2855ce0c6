-- The original that the text of an entity was read from.
-- $1 namespace, $2 entity
select s.digest, s.content, s.media_type from source s where s.ns = $1 and s.entity_id = $2
