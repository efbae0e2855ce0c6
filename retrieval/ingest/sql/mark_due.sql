-- Says that the statistics of a namespace are out of date.
-- $1 namespace
insert into statistics_due (ns) values ($1)
