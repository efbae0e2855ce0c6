-- The rights epoch, and which tokens still hold: for streams, which look again before each event and mostly find nothing changed.
-- $1 digests of opaque tokens (bytea[]), $2 that the plan is kept: it is looked at before each piece of an answer
select e.n as epoch,
       array(
           select t.digest from token t
            where t.digest = any($1::bytea[]) and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
       ) as holding
  from rights_epoch e
 where $2::planned_once
