-- Remembers since when the index over vectors is due, or that it is not.
-- $1 whether it is due
update base b set index_due_since = case when $1 then coalesce(b.index_due_since, now()) end
