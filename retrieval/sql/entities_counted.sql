-- How many visible entities meet a filter.
-- $1-$3 access, $4 instant of attributes, $5-$18 filter as in visible_entities
select count(*)::int as n
  from visible_entities($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) e
