-- Puts another body in the place of that of a trace.
-- $1 id, $2 marks, $3 body
update trace set marks = $2, body = $3 where trace_id = $1
