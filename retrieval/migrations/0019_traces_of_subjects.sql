-- A trace of a caller that a signed token names while no principal stands for it belongs to that subject of that issuer; its
-- principal_id is null, as that of the local administrator's own.
alter table trace add column issuer text, add column subject text,
    add check ((issuer is null) = (subject is null)),
    add check (issuer is null or principal_id is null);
-- Who is taken out takes these along too.
create index trace_of_subject on trace (subject) where subject is not null;
