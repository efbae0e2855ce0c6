-- Entities that meet a filter, newest change first.
-- $1-$3 access, $4 instant of attributes, $5-$18 filter as in visible_entities, $19 how many
select e.ns, e.entity_id
  from visible_entities($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) e
 order by e.updated_at desc, e.ns, e.entity_id
 limit $19
