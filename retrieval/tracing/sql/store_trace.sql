-- Stores a trace, unless something was erased in a namespace of it since its request began, or one of them is gone.
-- $1 id, $2 principal (null for the local administrator and for a subject), $3 namespaces, $4 marks, $5 body, $6 issuer and $7 subject of
-- a caller that no principal stands for (null for others), $8 the snapshot in which the request began
-- Erasures are kept out of the namespaces, so a transaction that has not begun by now is one of the base that this one was copied from.
insert into trace (trace_id, principal_id, namespaces, marks, body, issuer, subject)
select $1, $2, $3, $4, $5, $6, $7
 where not exists (select from unnest($3::int[]) a(ns) where not exists (select from namespace n where n.ns = a.ns))
   and not exists (
       select from erasure e
        where e.ns = any($3::int[]) and e.done_in < pg_snapshot_xmax(pg_current_snapshot())
          and not pg_visible_in_snapshot(e.done_in, $8::text::pg_snapshot))
