-- Hints to workers that something waits for them.
-- no parameters
select pg_notify('contextql_queue', '')
