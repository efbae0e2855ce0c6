-- What observations are about: links of another kind, which become facts in the same way once their target is there.
-- Such a fact holds from the instant of the observation on, and belongs to the relevance scopes of it.

alter table link
    add column predicate        text not null default 'links_to',
    add column valid_from       timestamptz,
    add column relevance_scopes text[] not null default '{}',
    drop constraint link_pkey,
    add primary key (ns, entity_id, target_digest, predicate);

-- Who erases an entity takes out what points to it, whether it has become a fact or not.
create index link_to on link (ns, target_digest);
