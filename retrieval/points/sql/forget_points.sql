-- Takes away what nobody asks for any more.
delete from points_used where minute < date_trunc('minute', now()) - interval '1 minute'
