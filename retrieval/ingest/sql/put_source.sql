-- Stores or replaces the original of an entity.
-- $1 namespace, $2 entity, $3 digest, $4 content, $5 SHA-256 of the content, $6 media type, $7 connector, $8 URI, $9 author, $10 fetched at,
-- $11 personal data that were found
insert into source (ns, entity_id, digest, content, content_sha256, content_source, media_type, connector, uri, author, fetched_at, personal_data)
values ($1, $2, $3, $4, $5, 'ORIGINAL', $6, $7, $8, $9, $10, $11::jsonb)
on conflict (ns, entity_id) do update
   set digest = excluded.digest, content = excluded.content, content_sha256 = excluded.content_sha256,
       content_source = excluded.content_source, media_type = excluded.media_type, connector = excluded.connector,
       uri = excluded.uri, author = excluded.author, fetched_at = excluded.fetched_at, personal_data = excluded.personal_data
