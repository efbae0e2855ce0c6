-- Tokens without their digests, newest first.
-- $1 principal (null is all)
select t.token_id, p.name as principal, t.label, t.created_at, t.expires_at, t.revoked_at
  from token t join principal p using (principal_id)
 where $1::text is null or p.name = $1
 order by t.created_at desc, t.token_id desc
