-- Statements that rename the indexes and constraints of a table with it.
-- $1 table, $2 its new name
select format('alter index %I rename to %I', c.relname, $2::text || substr(c.relname, length($1::text) + 1))
  from pg_index i join pg_class c on c.oid = i.indexrelid
 where i.indrelid = to_regclass($1) and starts_with(c.relname, $1)
union all
select format('alter table %I rename constraint %I to %I', $1::text, k.conname, $2::text || substr(k.conname, length($1::text) + 1))
  from pg_constraint k
 where k.conrelid = to_regclass($1) and k.contype in ('f', 'n', 'c') and starts_with(k.conname, $1)
