-- Takes due fragments out of the reach of other workers for a while, with how often each was tried, this time included.
-- $1 how many, $2 seconds
select c.ns, c.fragment_id, c.attempts from claim_embeddings($1, $2) c
