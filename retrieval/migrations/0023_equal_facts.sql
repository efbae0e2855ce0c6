-- Whoever asserts a fact finds the one that says the same without passing by all others of its subject and predicate.

-- A number of what a fact says of its subject: equal for facts that say the same, and nearly always different for others.
create function saying(ns int, subject_id bigint, predicate text, object_id bigint, value jsonb) returns bigint
language sql immutable parallel safe as $$
    select hashtextextended(predicate collate "C",
                            hashint8extended(coalesce(object_id, jsonb_hash_extended(value, 0)), subject_id # ns::bigint))
$$;
create index fact_saying on fact (saying(ns, subject_id, predicate, object_id, value)) where retracted_at is null;

-- Few facts are asserted to take the place of others; where none is, nothing ends by another.
create index fact_superseding on fact (ns, subject_id, predicate) where supersedes and retracted_at is null;
