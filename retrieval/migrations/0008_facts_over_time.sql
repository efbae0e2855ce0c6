-- Facts over time: which predicates hold one value, which facts end what was there before, lists of facts, and writes that are sent twice.

-- Lists of facts are ordered by predicate, code point by code point whatever the locale of the database is, then by fact: an order
-- that no change of a fact disturbs, so that cursors survive it. A fact keeps its subject and predicate.
alter table fact alter column predicate type text collate "C";
drop index fact_out;
drop index fact_in;
create index fact_out on fact (ns, subject_id, predicate, fact_id);
create index fact_in on fact (ns, object_id, predicate, fact_id) where object_id is not null;

-- Whether the fact was asserted to take the place of what held before it began. It is kept so that facts end in the same state in
-- whatever order they are asserted: a fact that is asserted late and began earlier ends where the next such fact begins.
alter table fact add column supersedes boolean not null default false;

-- What is known of predicates. Domain packs write into this table (and may add columns): a row for each predicate that a pack of the
-- namespace declares. A predicate without a row holds many values and never conflicts; the reads of conflicts and the writer of facts
-- look here and nowhere else.
create table predicate (
    ns          int not null references namespace on delete cascade,
    name        text collate "C" not null,
    cardinality text not null default 'MANY' check (cardinality in ('ONE', 'MANY')),
    primary key (ns, name)
);

-- Writes that are no natural upserts carry a key of their sender's choice: the same input under the same key gives what it gave first.
create table idempotency (
    ns           int not null references namespace on delete cascade,
    operation    text not null,
    sender       text not null,
    key_digest   bytea not null,
    input_digest bytea not null,
    results      jsonb,
    created_at   timestamptz not null default now(),
    primary key (ns, operation, sender, key_digest)
);
