-- The transaction that erased last in a namespace: a trace of a request that began before it was done is not stored, since it may name
-- what is gone. Of what was erased nothing is kept here.
create table erasure (
    ns      int primary key references namespace on delete cascade,
    done_in xid8 not null
);
