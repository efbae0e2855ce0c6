-- How many fragments a namespace holds, so that a caller who reads it whole costs no look at each of its permission sets.

create table namespace_statistics (
    ns        int primary key references namespace on delete cascade,
    fragments int not null
);
insert into namespace_statistics (ns, fragments) select s.ns, sum(s.fragments)::int from fragment_statistics s group by s.ns;
