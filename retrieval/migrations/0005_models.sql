-- Models of vectors have numbers, so that a base can be re-embedded with another one while it is read.

alter table base
    -- Raised by the switch to another model, in the transaction that exchanges the tables.
    add column model_number int not null default 1,
    -- The table that holds vectors of this model. Names are looked up when a statement begins, rows are those of its snapshot:
    -- a snapshot from before a switch names the table from before, and so meets no vector of the other model.
    add column vector_table regclass,
    -- What the base is being re-embedded with; its vectors are in fragment_vector_next.
    add column next_number  int,
    add column next_model   text,
    add column next_size    int,
    -- Numbers are never given twice, not even to a model that was abandoned.
    add column models_met   int not null default 1,
    -- Since when there are so many vectors that an index over them is worth its time.
    add column index_due_since timestamptz;
update base set vector_table = to_regclass('fragment_vector');

-- Vectors are kept by model; those of texts that are no longer stored are kept a while, because texts come back.
alter table vector_cache
    add column model_number int not null default 1,
    add column former_since timestamptz,
    drop constraint vector_cache_pkey,
    add primary key (ns, model_number, digest);
create index vector_cache_former on vector_cache (former_since) where former_since is not null;

alter table statistics_due add column marked_at timestamptz not null default now();
