-- The rights epoch, and whether a token still holds: for streams, which look again before each event and mostly find nothing changed.
-- $1 digest of an opaque token (bytea, null without one)
select e.n as epoch,
       $1::bytea is null or exists (
           select from token t where t.digest = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
       ) as holds
  from rights_epoch e
