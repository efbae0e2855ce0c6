-- Counts of visible entities, of their fragments or of the facts about them, in groups; periods are of UTC, named by their first day.
-- $1-$3 access, $4 instant of attributes, $5-$18 filter as in visible_entities, $19 what is counted, $20 and $21 what it is grouped
-- by (null for nothing), $22 the date that periods are taken from, $23 how many groups
with chosen as not materialized (
    select * from visible_entities($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
), counted as (
    select c.* from chosen c where $19::text = 'ENTITIES'
    union all
    select c.* from chosen c join fragment_lexemes f on f.ns = c.ns and f.entity_id = c.entity_id
     where $19::text = 'FRAGMENTS' and visible(f.ns, f.acl_id, $1, $2, $3)
    union all
    select c.*
      from chosen c
      join fact f on f.ns = c.ns and f.subject_id = c.entity_id
      left join entity o on o.ns = f.ns and o.entity_id = f.object_id
     where $19::text = 'FACTS' and f.retracted_at is null
       and (f.object_id is null or visible(o.ns, o.acl_id, $1, $2, $3))
       and (not f.has_places or exists (
            select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
             where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3)))
), dated as (
    select c.*, case $22::text when 'CREATED' then c.created_at when 'UPDATED' then c.updated_at else c.occurred_at end
                at time zone 'UTC' as date
      from counted c
)
select case $20::text when 'NAMESPACE' then d.ns::text when 'KIND' then d.kind when 'TYPE' then d.type when 'STATUS' then d.status
                      when 'SOURCE_PATH' then d.source_path when 'DAY' then to_char(d.date, 'YYYY-MM-DD')
                      when 'WEEK' then to_char(date_trunc('week', d.date), 'YYYY-MM-DD')
                      when 'MONTH' then to_char(date_trunc('month', d.date), 'YYYY-MM-DD') end as first,
       case $21::text when 'NAMESPACE' then d.ns::text when 'KIND' then d.kind when 'TYPE' then d.type when 'STATUS' then d.status
                      when 'SOURCE_PATH' then d.source_path when 'DAY' then to_char(d.date, 'YYYY-MM-DD')
                      when 'WEEK' then to_char(date_trunc('week', d.date), 'YYYY-MM-DD')
                      when 'MONTH' then to_char(date_trunc('month', d.date), 'YYYY-MM-DD') end as second,
       count(*)::int as n
  from dated d
 group by 1, 2
 limit $23
