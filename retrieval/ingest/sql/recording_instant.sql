-- When what is written now is recorded: asked after the locks are held, so that what comes later is recorded later.
select clock_timestamp()
