-- Takes away every trace of a subject that no principal stood for.
-- $1 subject
delete from trace t where t.subject = $1
