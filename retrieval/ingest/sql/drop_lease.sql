-- Gives a lease back.
-- $1 name, $2 holder
delete from lease l where l.name = $1 and l.holder = $2
