-- Whether an index is there and can be used.
-- $1 name of the index
select exists (select from pg_index i where i.indexrelid = to_regclass($1) and i.indisvalid and i.indisready)
