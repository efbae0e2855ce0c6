-- The very first and the very last instant came to be stored as infinities, which nobody can read back as an instant: their neighbours
-- take their place, as for what is written from now on. Attributes that hold since ever keep theirs, which is read as no instant.
create function finite(instant timestamptz) returns timestamptz
language sql immutable parallel safe as $$
    select least(greatest(instant, '0001-01-01 00:00:00.000001+00'), '9999-12-31 23:59:59.999998+00')
$$;

update fact set valid_from = finite(valid_from), valid_to = finite(valid_to)
 where not (isfinite(coalesce(valid_from, now())) and isfinite(coalesce(valid_to, now())));
update edge set valid_from = finite(valid_from), valid_to = finite(valid_to)
 where not (isfinite(coalesce(valid_from, now())) and isfinite(coalesce(valid_to, now())));
update former_edge set valid_from = finite(valid_from), valid_to = finite(valid_to)
 where not (isfinite(coalesce(valid_from, now())) and isfinite(coalesce(valid_to, now())));
update entity set occurred_at = finite(occurred_at) where not isfinite(occurred_at);
update entity_version set valid_from = finite(valid_from) where valid_from = 'infinity';
update link set valid_from = finite(valid_from) where not isfinite(valid_from);
update source set fetched_at = finite(fetched_at) where not isfinite(fetched_at);
update token set expires_at = finite(expires_at) where not isfinite(expires_at);

drop function finite;
