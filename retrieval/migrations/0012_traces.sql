-- Traces: what happened in a request, for the one who made it; ids, ranks and scores, no text of anything stored.

create table trace (
    trace_id     text collate "C" primary key,
    -- Null for the local administrator. Who is taken out takes the traces along.
    principal_id int references principal on delete cascade,
    -- Several, so that no foreign key can hold them; a trace of a namespace that has gone is nobody's.
    namespaces   int[] not null,
    created_at   timestamptz not null default now(),
    -- What an erasure finds it by: e<entity id>, a<fact id>, k<SHA-256 of a key that was given>.
    marks        text[] not null,
    body         jsonb not null
);
create index trace_created on trace (created_at);
create index trace_of_principal on trace (principal_id);
create index trace_namespaces on trace using gin (namespaces);
create index trace_marks on trace using gin (marks);
