-- Adds what the callers of this process used, and gives what those of others did whose rows changed since a moment.
-- $1 this process (uuid), $2 shares (bytea[]) and $3 the points of each (bigint[]), $4 seconds to look back
with mine as (
    insert into points_used as p (process, share, minute, points)
    select $1, used.share, date_trunc('minute', now()), used.points from unnest($2::bytea[], $3::bigint[]) used (share, points)
    on conflict (process, share, minute) do update set points = p.points + excluded.points, at = now()
)
select process, share, minute, points, minute < date_trunc('minute', now()) as is_past
  from points_used where process <> $1 and at > now() - make_interval(secs => $4)
