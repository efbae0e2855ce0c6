-- Makes a namespace; no row when the name is taken.
-- $1 name, $2 title
insert into namespace (name, title) values ($1, $2) on conflict (name) do nothing returning ns
