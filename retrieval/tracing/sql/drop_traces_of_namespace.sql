-- Takes away every trace over a namespace.
-- $1 namespace
delete from trace t where t.namespaces @> array[$1::int]
