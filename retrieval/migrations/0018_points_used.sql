-- What each server process let its callers use in the last minutes, for the others to know: no statement of a request needs it,
-- nothing is lost with it, and nobody is named.

create unlogged table points_used (
    process uuid not null,
    share   bytea not null,
    minute  timestamptz not null,
    points  bigint not null,
    at      timestamptz not null default now(),
    primary key (process, share, minute)
);
