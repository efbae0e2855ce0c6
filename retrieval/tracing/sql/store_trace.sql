-- Stores a trace.
-- $1 id, $2 principal (null for the local administrator and for a subject), $3 namespaces, $4 marks, $5 body, $6 issuer and $7 subject of
-- a caller that no principal stands for (null for others)
insert into trace (trace_id, principal_id, namespaces, marks, body, issuer, subject) values ($1, $2, $3, $4, $5, $6, $7)
