-- Whether the caller sees no fragment at all.
-- $1-$3 access
select not exists (select from fragment f where visible(f.ns, f.acl_id, $1, $2, $3)) as is_empty
