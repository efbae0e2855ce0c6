-- A page of the visible entities that meet a filter: by key or title, or newest first; what has no date comes last.
-- $1-$3 access, $4 instant of attributes, $5-$18 filter as in visible_entities, $19 order, of the entity to start after:
-- $20 text ('' in an order by date, null for the first page), $21 date (null where it has none), $22 namespace, $23 id;
-- $24 how many
select e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from visible_entities($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) e
 cross join lateral (
     select case $19::text when 'KEY' then e.key when 'TITLE' then e.title else '' end collate "C" as text,
            coalesce(case $19::text when 'CREATED' then e.created_at when 'UPDATED' then e.updated_at
                                    when 'OCCURRED' then e.occurred_at end, '-infinity') as date) o
 cross join (select coalesce($21::timestamptz, '-infinity') as date) a
 where $20::text is null or o.text > $20::text collate "C"
    or (o.text = $20::text collate "C"
        and (o.date < a.date or (o.date = a.date and (e.ns, e.entity_id) > ($22::int, $23::bigint))))
 order by o.text, o.date desc, e.ns, e.entity_id
 limit $24
