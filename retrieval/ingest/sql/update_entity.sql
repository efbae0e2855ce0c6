-- Replaces what a source says about its entity.
-- $1 namespace, $2 entity, $3 key, $4 kind, $5 type, $6 title, $7 status, $8 source path, $9 meta, $10 relevance scopes, $11 occurred at
update entity e
   set key = $3, kind = $4, type = $5, title = $6, status = $7, source_path = $8, meta = $9, relevance_scopes = $10,
       occurred_at = $11, updated_at = now()
 where e.ns = $1 and e.entity_id = $2
