-- Flags a source with the personal data in it, unless it was replaced meanwhile.
-- $1 namespace, $2 entity, $3 digest of the source, $4 kinds with their counts
update source s set personal_data = $4::jsonb where s.ns = $1 and s.entity_id = $2 and s.digest = $3 returning s.entity_id
