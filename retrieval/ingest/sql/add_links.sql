-- Adds the links of an entity that are new; they wait until their target is there.
-- $1 namespace, $2 entity, $3 digests of the targets, $4 their keys, $5 predicate, $6 valid from, $7 relevance scopes
insert into link (ns, entity_id, target_digest, target_key, predicate, valid_from, relevance_scopes)
select $1, $2, t.digest, t.key, $5, $6, $7 from unnest($3::bytea[], $4::text[]) as t(digest, key) order by t.digest
on conflict (ns, entity_id, target_digest, predicate) do nothing
