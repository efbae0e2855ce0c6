-- Makes a principal; no row when the name is taken.
-- $1 name, $2 kind, $3 title
insert into principal (name, kind, title) values ($1, $2, $3) on conflict (name) do nothing returning principal_id
