-- Domain packs: what each namespace says about its own domain. The rows of `predicate` are made of them.

create table domain_pack (
    ns         int not null references namespace on delete cascade,
    name       text collate "C" not null,
    version    text not null,
    -- SHA-256 of what the pack says, however it was written.
    digest     bytea not null,
    body       jsonb not null,
    applied_at timestamptz not null default now(),
    primary key (ns, name)
);
