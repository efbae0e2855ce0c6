-- Facts around an entity in order, apart for those that lead to another and those that say a value: where nearly all that lead somewhere
-- are hidden, the few that are not are found by their edges, and what is said need not be looked for among them.
drop index fact_out_best;
create index fact_out_best on fact (ns, subject_id, evidence desc, valid_from desc nulls last, fact_id) where object_id is not null;
create index fact_said_best on fact (ns, subject_id, evidence desc, valid_from desc nulls last, fact_id) where object_id is null;

-- Whether a recorded row counts: it holds at an instant, as it stood in the record at another (null is now).
create function stands(
    valid_from timestamptz, valid_to timestamptz, recorded_at timestamptz, retracted_at timestamptz, at timestamptz, known timestamptz)
returns boolean language sql immutable parallel safe as $$
    select (valid_from is null or valid_from <= at) and (valid_to is null or valid_to > at)
       and case when known is null then retracted_at is null
                else recorded_at <= known and (retracted_at is null or retracted_at > known) end
$$;
