-- How many words of each script the unrestricted fragments of a namespace hold (each word once a fragment): evidence for weighing word search across languages.

create table script_statistics (
    ns     int not null references namespace on delete cascade,
    script text not null check (script in ('CYRILLIC', 'LATIN', 'OTHER')),
    words  bigint not null,
    primary key (ns, script)
);

-- The script of a word by its letters; null for numbers and signs.
create function script_of(word text) returns text language sql immutable parallel safe as $$
    select case when word ~ '[а-яё]' then 'CYRILLIC' when word ~ '[a-z]' then 'LATIN' when word ~ '[[:alpha:]]' then 'OTHER' end
$$;

-- What was indexed before this migration is counted when the statistics are refreshed next.
insert into statistics_due (ns) select ns from namespace;
