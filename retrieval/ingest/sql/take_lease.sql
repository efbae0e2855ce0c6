-- Takes or renews a lease; no row when another process holds it.
-- $1 name, $2 holder, $3 seconds
insert into lease as l (name, holder, held_until) values ($1, $2, now() + make_interval(secs => $3))
on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
 where l.holder = excluded.holder or l.held_until < now()
returning l.name
