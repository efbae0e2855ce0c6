-- Takes the marks of a namespace whose statistics are about to be refreshed; later writes make new ones.
-- $1 namespace
delete from statistics_due d where d.ns = $1
