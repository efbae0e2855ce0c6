"""What packs allow, and what they make of names: types, ends, values, aliases, identifiers."""

from __future__ import annotations

import time
from typing import Any

import pytest

from retrieval.domain.pack import DomainPack
from retrieval.domain.patterns import Identifier, identifiers
from retrieval.domain.reading import pack_of
from retrieval.domain.rules import Domain, joined
from retrieval.errors import BadInput, Conflict

TYPES: dict[str, Any] = {"person": {}, "ticket": {}, "run": {}}
PREDICATES = {
    "assigned_to": {"cardinality": "one", "subjects": ["ticket"], "objects": ["person"]},
    "mentions": {"subjects": ["ticket", "run"], "objects": ["run", "person"]},
    **{kind: {"subjects": ["run"], "value": kind} for kind in
       ("string", "integer", "number", "boolean", "date", "dateTime", "object", "list", "any")},
    "state": {"subjects": ["run"], "value": "any", "values": ["red", 1, True]},
}  # fmt: skip


def pack(**given: Any) -> DomainPack:
    """A pack with what is given."""
    return pack_of({"name": "team", "version": "1.0.0", "types": TYPES, "predicates": PREDICATES} | given)


DOMAIN = Domain((pack(aliases={"Boss": "chef", "chef": "person:ann"}),))


def refusal(*fact: Any) -> str:
    """Why a fact is refused."""
    with pytest.raises(BadInput) as raised:
        DOMAIN.check_fact(*fact)
    return raised.value.message


def test_without_packs_everything_is_allowed() -> None:
    Domain(()).check_fact("anything", "x", None, {"a": 1})
    Domain(()).check_entity("THING", "anything")


def test_an_unknown_name_is_refused_with_the_nearest_that_is_allowed() -> None:
    assert "did you mean 'assigned_to'?" in refusal("asigned_to", "ticket", "person", None)
    assert "there are any, assigned_to, boolean" in refusal("zzzz", "ticket", "person", None)
    with pytest.raises(BadInput, match="did you mean 'ticket'"):
        DOMAIN.check_entity("THING", "tickets")
    DOMAIN.check_entity("DOCUMENT", "page")
    DOMAIN.check_fact("links_to", "page", "page", None)


def test_ends_and_values_are_held_to_what_is_declared() -> None:
    DOMAIN.check_fact("assigned_to", "ticket", "person", None)
    assert "said of 'ticket', and this is of type 'run'" in refusal("assigned_to", "run", "person", None)
    assert "leads to 'person', and this is of type 'run'" in refusal("assigned_to", "ticket", "run", None)
    assert "leads to an entity" in refusal("assigned_to", "ticket", None, "ann")
    assert "holds a value" in refusal("string", "run", "person", None)


TAKEN: dict[str, tuple[list[Any], list[Any]]] = {
    "string": (["", "x"], [1, None, ["x"], {}]),
    "integer": ([1, -2, 3.0, 10**20], [1.5, "1", True, None]),
    "number": ([1, 1.5], ["1", False]),
    "boolean": ([True, False], [0, "true"]),
    "date": (["2026-09-05"], ["2026-9-5", "20260905", "2026-02-30", "2026-09-05T00:00:00Z", 20260905]),
    "dateTime": (["2026-09-05T00:00:00Z", "2026-09-05T00:00:00+03:00"], ["2026-09-05", "2026-09-05T00:00:00", "now", 1]),
    "object": ([{}, {"a": 1}], [[], "x"]),
    "list": ([[], [1]], [{}, "x"]),
    "any": ([1, "x", None, []], []),
    "state": (["red", 1, 1.0, True], ["blue", 0, False, None]),
}


@pytest.mark.parametrize("name", TAKEN)
def test_values_of_a_kind_are_taken_and_others_refused(name: str) -> None:
    taken, refused = TAKEN[name]
    for value in taken:
        DOMAIN.check_fact(name, "run", None, value)
    for value in refused:
        assert name in refusal(name, "run", None, value), value


def test_aliases_lead_through_others_whatever_the_case() -> None:
    assert [DOMAIN.key_of(name) for name in ("BOSS", "chef", "person:ann", "nobody")] == ["person:ann", "person:ann", None, None]


def test_packs_that_contradict_each_other_are_refused() -> None:
    other = {"name": "other", "version": "1.0.0", "types": {"person": {}}}
    with pytest.raises(Conflict, match="'state' of pack team is declared by pack other"):
        joined([pack(), pack_of(other | {"predicates": {"state": {"subjects": ["person"], "value": "any"}}})])
    with pytest.raises(Conflict, match="circle"):
        joined([pack(aliases={"a": "b"}), pack_of(other | {"aliases": {"b": "A"}})])
    assert joined([pack(), pack_of(other)]).types == set(TYPES)


def test_identifiers_are_found_in_the_order_of_patterns_each_once() -> None:
    domain = Domain((pack(idPatterns=[
        {"type": "ticket", "pattern": r"(?i)\b(?P<team>ops|dev)-([0-9]+)", "key": "ticket:{team}-{2}{{}}"},
        {"type": "run", "pattern": r"прогон\s+(\pN+)", "key": "run:{1}"},
    ]),))  # fmt: skip
    text = "прогон 7 сломал OPS-12, ops-12 и dev-3"
    assert domain.identifiers(text) == [
        Identifier("ticket", "ticket:OPS-12{}"), Identifier("ticket", "ticket:ops-12{}"), Identifier("ticket", "ticket:dev-3{}"),
        Identifier("run", "run:7"),
    ]  # fmt: skip


@pytest.mark.usefixtures("no_collector")
def test_a_pattern_made_to_backtrack_takes_linear_time() -> None:
    made = pack(idPatterns=[{"type": "run", "pattern": r"(a+)+(a|aa)+(.*)*b"}]).idPatterns
    spent = []
    for size in (20_000, 200_000):
        started = time.process_time()
        assert identifiers(tuple(made), "a" * size) == []
        spent.append(time.process_time() - started)
    assert spent[1] < 1 + 50 * spent[0]


def test_hints_for_many_unknown_names_take_a_bounded_time() -> None:
    names = {f"predicate_number_{number}": {"subjects": ["run"], "value": "any"} for number in range(1_000)}
    domain, started = Domain((pack(predicates=names),)), time.process_time()
    for number in range(5_000):
        with pytest.raises(BadInput):
            domain.check_fact(f"predicate_nummer_{number}" * 4, "run", None, 1)
    assert time.process_time() - started < 60


def test_the_nearest_of_a_thousand_names_is_found() -> None:
    names = {
        f"{word}_of_number_{number}": {"subjects": ["run"], "value": "any"} for number in range(500) for word in ("cost", "size")
    }
    with pytest.raises(BadInput, match="did you mean 'size_of_number_417'"):
        Domain((pack(predicates=names),)).check_fact("sise_of_number_417", "run", None, 1)
