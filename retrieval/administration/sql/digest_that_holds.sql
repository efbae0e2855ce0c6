-- The digest of a token of a principal that holds, the one that holds the longest.
-- $1 principal
select t.digest from token t
 where t.principal_id = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
 order by t.expires_at desc nulls first, t.token_id
 limit 1
