-- Numbers for facts, smallest first.
-- $1 how many
select nextval('fact_id') as fact_id from generate_series(1, $1::int)
