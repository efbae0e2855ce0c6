-- A page of the visible entities that meet a filter: by key or title, or newest first; what has no date comes last.
-- $1-$3 access, $4 instant of attributes, $5-$18 filter as in visible_entities, $19 order, of the entity to start after:
-- $20 what it was ordered by ('' in an order by date, null for the first page), $21 date (null where it has none), $22 namespace, $23 id;
-- $24 how many, $25 namespaces whose personal data the caller may read
-- In the others a title that may hold a number is ordered without digits and addresses: the order of the stored ones would tell
-- them to whoever writes titles beside it. What is asked of a title is as wide as what the product looks for in a text at all, but for
-- dates, by which titles are meant to be ordered.
select e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at, o.text as ordered_by
  from visible_entities($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) e
 cross join lateral (
     select case when $19::text = 'KEY' then e.key
                 when $19::text <> 'TITLE' then ''
                 when e.ns = any($25::int[])
                      or regexp_replace(e.title, '\m(19|20)\d\d[-./](0[1-9]|1[0-2])[-./][0-3]\d\M', '', 'g') !~ '[@＠﹫]|%40|&(amp;)*(#|commat)|[0-9０-９٠-٩۰-۹०-९]([^0-9０-９٠-٩۰-۹०-९]{0,12}[0-9０-９٠-٩۰-۹०-९]){6}' then e.title
                 else regexp_replace(regexp_replace(e.title, '(<[^<>]*>|\S)*([@＠﹫]|%40|&(amp;)*(#64|#x40|commat))(<[^<>]*>|\S)*', '@', 'g'),
                                     '[0-9０-９٠-٩۰-۹०-९]', '#', 'g')
            end collate "C" as text,
            coalesce(case $19::text when 'CREATED' then e.created_at when 'UPDATED' then e.updated_at
                                    when 'OCCURRED' then e.occurred_at end, '-infinity') as date) o
 cross join (select $20::text collate "C" as text, coalesce($21::timestamptz, '-infinity') as date) a
 where a.text is null or o.text > a.text
    or (o.text = a.text
        and (o.date < a.date or (o.date = a.date and (e.ns, e.entity_id) > ($22::int, $23::bigint))))
 order by o.text, o.date desc, e.ns, e.entity_id
 limit $24
