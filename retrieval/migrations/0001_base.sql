-- The base: who there is, what there is, who may see it.
-- Every key of namespace data leads with ns; there are no triggers, and nothing that a read needs is unlogged.

create table base (
    only_row         boolean primary key default true check (only_row),
    cursor_secret    bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
    search_config    regconfig,
    embedding_model  text,
    embedding_size   int,
    created_at       timestamptz not null default now()
);
insert into base default values;

-- One row, compared inside the snapshot of every read: a permission set that was resolved at epoch n holds as long as n does.
create table rights_epoch (
    only_row boolean primary key default true check (only_row),
    n        bigint not null default 1
);
insert into rights_epoch default values;

-- Called last in every transaction that changes what anybody may see.
create function bump_rights_epoch() returns void language sql as $$
    update rights_epoch set n = n + 1
$$;

---------------------------------------------------------------------------------------------- global tables

create table namespace (
    ns         int generated always as identity primary key,
    name       text not null unique check (length(name) between 1 and 200),
    title      text,
    created_at timestamptz not null default now()
);

create table principal (
    principal_id  int generated always as identity primary key,
    name          text not null unique check (length(name) between 1 and 500),
    kind          text not null check (kind in ('USER', 'GROUP', 'SERVICE')),
    title         text,
    administrator boolean not null default false,
    created_at    timestamptz not null default now()
);
-- Every authenticated principal stands for this one too.
insert into principal (name, kind, title) values ('everyone', 'GROUP', 'Every authenticated principal');

create table membership (
    group_id  int not null references principal on delete cascade,
    member_id int not null references principal on delete cascade,
    primary key (member_id, group_id)
);
create index membership_of_group on membership (group_id);

create table token (
    token_id     int generated always as identity primary key,
    digest       bytea not null unique,
    principal_id int not null references principal on delete cascade,
    label        text,
    created_at   timestamptz not null default now(),
    expires_at   timestamptz,
    revoked_at   timestamptz
);
create index token_of_principal on token (principal_id);

create table namespace_role (
    ns           int not null references namespace on delete cascade,
    principal_id int not null references principal on delete cascade,
    role         text not null check (role in ('READER', 'PERSONAL_DATA', 'WRITER', 'ADMIN')),
    primary key (principal_id, ns, role)
);
create index namespace_role_of_namespace on namespace_role (ns);

---------------------------------------------------------------------------------------------- who may see a row

-- The one rule of visibility. A row carries its namespace and its permission set: 0 is open to all readers of the namespace,
-- any other number stands for one restricted entity.
--   spaces  namespaces that the caller may read, narrowed to those asked for
--   acls    permission sets open to the caller: 0 and those of the restricted entities granted to it
--   whole   namespaces that the caller reads whole (WRITER, ADMIN, administrator)
create function visible(ns int, acl_id int, spaces int[], acls int[], whole int[]) returns boolean
language sql immutable parallel safe as $$
    select ns = any(spaces) and (acl_id = any(acls) or ns = any(whole))
$$;

create sequence acl_id as int;

create table acl_grant (
    ns           int not null,
    acl_id       int not null,
    principal_id int not null references principal on delete cascade,
    primary key (ns, acl_id, principal_id)
);
create index acl_grant_of_principal on acl_grant (principal_id, ns) include (acl_id);

---------------------------------------------------------------------------------------------- entities and their texts

create table entity (
    ns               int not null references namespace on delete cascade,
    entity_id        bigint generated always as identity,
    acl_id           int not null default 0,
    key_digest       bytea not null,
    key              text not null,
    kind             text not null check (kind in ('DOCUMENT', 'EPISODE', 'OBSERVATION', 'THING')),
    type             text not null,
    title            text not null,
    status           text,
    source_path      text,
    meta             jsonb not null default '{}',
    relevance_scopes text[] not null default '{}',
    occurred_at      timestamptz,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now(),
    primary key (ns, entity_id),
    unique (ns, key_digest)
);
create index entity_recent on entity (ns, updated_at desc, entity_id);

-- Attributes in valid time: one version holds from its start to the start of the next.
create table entity_version (
    ns         int not null,
    version_id bigint generated always as identity,
    entity_id  bigint not null,
    valid_from timestamptz not null default '-infinity',
    attributes jsonb not null,
    primary key (ns, version_id),
    unique (ns, entity_id, valid_from),
    foreign key (ns, entity_id) references entity on delete cascade
);

-- The original of an entity that has text. digest covers everything that was given, so the same input twice changes nothing.
create table source (
    ns             int not null,
    entity_id      bigint not null,
    digest         bytea not null,
    content        text not null,
    content_sha256 bytea not null,
    content_source text not null check (content_source in ('ORIGINAL', 'CHUNKS')),
    media_type     text not null,
    connector      text,
    uri            text,
    author         text,
    fetched_at     timestamptz,
    personal_data  jsonb not null default '[]',
    primary key (ns, entity_id),
    foreign key (ns, entity_id) references entity on delete cascade
);

create table fragment (
    ns          int not null,
    fragment_id bigint generated always as identity,
    entity_id   bigint not null,
    acl_id      int not null,
    ordinal     int not null,
    title       text not null,
    heading     text not null,
    text        text not null,
    meta        jsonb not null default '{}',
    identifiers text[] not null default '{}',
    primary key (ns, fragment_id),
    unique (ns, entity_id, ordinal),
    foreign key (ns, entity_id) references entity on delete cascade
);
create index fragment_meta on fragment using gin (meta jsonb_path_ops) with (fastupdate = off);

-- Narrow and uncompressed: decompressing a vector of words costs more than ranking it.
create table fragment_lexemes (
    ns              int not null,
    fragment_id     bigint not null,
    entity_id       bigint not null,
    acl_id          int not null,
    words           int not null,
    lexemes         tsvector not null,
    identifiers     text[] not null default '{}',
    identifier_text text not null default '',
    primary key (ns, fragment_id),
    foreign key (ns, fragment_id) references fragment on delete cascade
) with (toast_tuple_target = 8160);
alter table fragment_lexemes alter column lexemes set storage external;
create index fragment_lexemes_words on fragment_lexemes using gin (ns, lexemes) with (fastupdate = off);
create index fragment_lexemes_identifiers on fragment_lexemes using gin (ns, identifiers) with (fastupdate = off);
create index fragment_lexemes_trigrams on fragment_lexemes using gin (identifier_text gin_trgm_ops) with (fastupdate = off);
create index fragment_lexemes_entity on fragment_lexemes (ns, entity_id);

-- What one word of a question adds to BM25: idf * n / (n + norm), written as idf * (1 - norm / (n + norm)) so that ts_rank runs
-- once. ts_rank of one word is a tenth of the sum of 1/j^2 over its n occurrences, by pi^2/6: its inverse gives n back.
create function word_worth(lexemes tsvector, word tsquery, idf float8, norm float8) returns float8
language sql immutable parallel safe as $$
    select idf * (1 - norm / (norm + round(0.060792710185 / (0.10000001 - ts_rank(lexemes, word)) - 0.5)))
$$;

-- The one rule of a fragment filter; a part that is null filters nothing, an empty list admits nothing.
create function admitted(
    ns int, fragment_id bigint, entity_id bigint,
    meta jsonb, kinds text[], types text[], keys bytea[], scopes text[], updated_after timestamptz, updated_before timestamptz)
returns table (admitted_id bigint) language sql stable rows 1 as $$
    select f.fragment_id
      from fragment f join entity e on e.ns = f.ns and e.entity_id = f.entity_id
     where f.ns = admitted.ns and f.fragment_id = admitted.fragment_id and e.entity_id = admitted.entity_id
       and (admitted.meta is null or f.meta @> admitted.meta)
       and (kinds is null or e.kind = any(kinds)) and (types is null or e.type = any(types))
       and (keys is null or e.key_digest = any(keys)) and (scopes is null or e.relevance_scopes && scopes)
       and (updated_after is null or e.updated_at > updated_after) and (updated_before is null or e.updated_at < updated_before)
$$;

---------------------------------------------------------------------------------------------- facts and edges

-- The one table of truth about relations. A change retracts the recorded row and records another under the same fact_id.
create table fact (
    ns               int not null,
    row_id           bigint generated always as identity,
    fact_id          bigint not null,
    subject_id       bigint not null,
    predicate        text not null,
    object_id        bigint,
    value            jsonb,
    valid_from       timestamptz,
    valid_to         timestamptz,
    recorded_at      timestamptz not null default now(),
    retracted_at     timestamptz,
    evidence         smallint not null check (evidence between 1 and 3),
    relevance_scopes text[] not null default '{}',
    has_places       boolean not null default false,
    primary key (ns, row_id),
    check ((object_id is null) <> (value is null)),
    check (valid_from < valid_to),
    foreign key (ns, subject_id) references entity on delete cascade,
    foreign key (ns, object_id) references entity on delete cascade
);
create sequence fact_id;
create index fact_out on fact (ns, subject_id, predicate, row_id);
create index fact_in on fact (ns, object_id, predicate, row_id) where object_id is not null;
create index fact_history on fact (ns, fact_id, row_id);

-- Where a fact was stated: an entity, and the fragment as long as the text that stated it stands.
create table fact_place (
    ns          int not null,
    place_id    bigint generated always as identity,
    fact_id     bigint not null,
    entity_id   bigint not null,
    fragment_id bigint,
    primary key (ns, place_id),
    foreign key (ns, entity_id) references entity on delete cascade
);
create index fact_place_of_fact on fact_place (ns, fact_id, entity_id);
create index fact_place_of_entity on fact_place (ns, entity_id);

-- Links as they stand in documents; fact_id is null until the target is there.
create table link (
    ns            int not null,
    entity_id     bigint not null,
    target_digest bytea not null,
    target_key    text not null,
    fact_id       bigint,
    primary key (ns, entity_id, target_digest),
    foreign key (ns, entity_id) references entity on delete cascade
);
create index link_waiting on link (ns, target_digest) where fact_id is null;
create index link_of_fact on link (ns, fact_id) where fact_id is not null;

---------------------------------------------------------------------------------------------- statistics and queues

-- Over unrestricted fragments only, so that a score never speaks of a hidden text.
create table word_statistics (
    ns        int not null references namespace on delete cascade,
    lexeme    text not null,
    fragments int not null,
    primary key (ns, lexeme)
);

-- How many fragments each permission set holds; it steers the choice of a plan, never what is visible.
create table fragment_statistics (
    ns        int not null references namespace on delete cascade,
    acl_id    int not null,
    fragments int not null,
    words     bigint not null,
    primary key (ns, acl_id)
);

-- Appended by writers, taken by whoever refreshes the statistics.
create table statistics_due (
    due_id bigint generated always as identity primary key,
    ns     int not null
);

create table lease (
    name       text primary key,
    holder     text not null,
    held_until timestamptz not null
);

-- Fragments that wait for their vector. No foreign keys: the claim is one statement behind one function.
create table embedding_queue (
    ns           int not null,
    fragment_id  bigint not null,
    attempts     int not null default 0,
    available_at timestamptz not null default now(),
    last_error   text,
    primary key (ns, fragment_id)
);
create index embedding_queue_due on embedding_queue (available_at, ns, fragment_id);

-- Takes up to `batch` due fragments for `seconds`; a worker that dies leaves them to the next one when the time is over.
create function claim_embeddings(batch int, seconds double precision)
returns table (ns int, fragment_id bigint, attempts int) language sql as $$
    update embedding_queue q
       set available_at = now() + make_interval(secs => seconds), attempts = q.attempts + 1
      from (select due.ns, due.fragment_id from embedding_queue due
             where due.available_at <= now()
             order by due.available_at, due.ns, due.fragment_id
             limit batch for update skip locked) taken
     where q.ns = taken.ns and q.fragment_id = taken.fragment_id
 returning q.ns, q.fragment_id, q.attempts
$$;

-- Vectors by digest of model and text: nothing is embedded twice. They go with the entity they were made for; imported ones have none.
create table vector_cache (
    ns        int not null references namespace on delete cascade,
    digest    bytea not null,
    embedding halfvec not null,
    entity_id bigint,
    primary key (ns, digest),
    foreign key (ns, entity_id) references entity on delete cascade
);
create index vector_cache_of_entity on vector_cache (ns, entity_id) where entity_id is not null;
