-- Stores a token by its digest.
-- $1 digest, $2 principal, $3 label, $4 when it expires
insert into token (digest, principal_id, label, expires_at) values ($1, $2, $3, $4) returning token_id
