-- Gives a service the right to act for users, or takes it back; no row when that is so already.
-- $1 principal, $2 whether it may
update principal set acts_for_users = $2 where principal_id = $1 and acts_for_users <> $2 returning principal_id
