-- A fragment whose texts held nothing to mask or to make safe when they were stored carries a seal of them, so that readers need not
-- look again (retrieval/sealing.py); 0 is none. A seal fits one wording and one set of rules: when either changed, readers look.
alter table fragment add column seal bigint not null default 0;
