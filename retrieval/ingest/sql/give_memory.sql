-- Gives the connection memory for an index over the vectors of a table: what it needs, and no more than a quarter beyond what
-- the server keeps for all pages; a build that does not fit takes many times as long.
-- $1 table, $2 bytes of one vector beside its numbers
select set_config('maintenance_work_mem', least(greatest(m.now_kb, m.needed_kb), greatest(m.now_kb, m.shared_kb))::text || 'kB', false)
  from (select (pg_size_bytes(current_setting('maintenance_work_mem')) / 1024)::bigint as now_kb,
               (pg_size_bytes(current_setting('shared_buffers')) / 1024)::bigint as shared_kb,
               ((select greatest(c.reltuples, 0)::bigint * ($2 + 2 * a.atttypmod)
                   from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'embedding'
                  where c.oid = to_regclass($1)) / 1024)::bigint as needed_kb) m
