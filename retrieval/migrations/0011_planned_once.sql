-- Whether a statement is planned once and for all instead of anew for its values. The last parameter of read statements has this type.
-- PostgreSQL reads the parameters of a statement before it looks for its plan, and reading one of a domain checks it: so the setting
-- holds for this statement, whatever the connection had before, and is gone with its transaction (behind a pooler too).
-- A plan that is kept must hold when its tables grow, so it is made as if they were large: by keys, and never by reading a whole table.
create domain planned_once as boolean check (
    set_config('plan_cache_mode', case when value then 'force_generic_plan' else 'force_custom_plan' end, true) is not null
    and set_config('enable_seqscan', case when value then 'off' else 'on' end, true) is not null);
