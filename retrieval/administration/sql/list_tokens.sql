-- Tokens without their digests, newest first; of one principal that has none a row without a token, no row for an unknown name.
-- $1 principal (null is all)
select t.token_id, p.name as principal, t.label, t.created_at, t.expires_at, t.revoked_at
  from principal p left join token t using (principal_id)
 where case when $1::text is null then t.token_id is not null else p.name = $1 end
 order by t.created_at desc, t.token_id desc
