-- How much there is to embed with another model: fragments and their characters.
-- no parameters
select count(*)::int as fragments, coalesce(sum(length(f.title) + length(f.heading) + length(f.text)), 0)::bigint as characters
  from fragment f
