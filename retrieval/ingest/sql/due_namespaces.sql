-- Namespaces whose statistics are out of date, longest waiting first.
-- no parameters
select d.ns from statistics_due d group by d.ns order by min(d.due_id)
