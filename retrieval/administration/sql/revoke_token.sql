-- Revokes a token; no row when there is none or it was revoked before.
-- $1 token
update token set revoked_at = now() where token_id = $1 and revoked_at is null returning token_id
