-- The audit: who wrote what, and what services read for users. Rows are added and, when they are old, taken away; none is changed.

create table audit (
    at         timestamptz not null default now(),
    audit_id   bigint generated always as identity,
    principal  text not null,
    -- The service that acted for the principal.
    service    text,
    action     text not null,
    -- The namespace that was written; the number finds the entities as long as they are there, and nothing afterwards.
    ns         int,
    -- By name, since they survive it; a read may touch several.
    namespaces text[] not null default '{}',
    -- Of the keys only what this base alone can make of them, so that nothing of an entity is left here when it goes.
    entities   bigint[] not null default '{}',
    keys       bytea[] not null default '{}',
    items      int not null,
    what       jsonb not null default '{}',
    outcome    jsonb not null default '{}',
    request_id text,
    primary key (at, audit_id)
);
