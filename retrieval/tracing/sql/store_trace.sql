-- Stores a trace.
-- $1 id, $2 principal (null for the local administrator), $3 namespaces, $4 marks, $5 body
insert into trace (trace_id, principal_id, namespaces, marks, body) values ($1, $2, $3, $4, $5)
