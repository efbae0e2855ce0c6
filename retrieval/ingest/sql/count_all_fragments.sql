-- How many fragments there are in all namespaces.
-- no parameters
select count(*)::int from fragment
