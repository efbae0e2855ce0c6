"""Packs are read from YAML and JSON, and whatever is wrong is named with its line and its path."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import retrieval.domain.pack as pack_module
from retrieval.domain.pack import pack_schema
from retrieval.domain.reading import BadPack, pack_of, read_pack

PACK = """\
name: team
version: 1.2.0
title: A team
types:
  person: {}
  ticket:
    description: Something to do.
predicates:
  assigned_to: {cardinality: one, subjects: [ticket], objects: [person]}
  priority:
    subjects: [ticket]
    value: string
    values: [low, "on", no]
aliases:
  boss: person:ann
  Chef: boss
idPatterns:
  - {type: ticket, pattern: '(?i)ops-([0-9]+)', key: 'ticket:OPS-{1}'}
"""
SCHEMA = Path(pack_module.__file__).parent / "schemas" / "domain-pack.schema.json"


def problems(text: str) -> list[tuple[int | None, str, str]]:
    """What is wrong with a pack."""
    with pytest.raises(BadPack) as raised:
        read_pack(text)
    return [(one.line, one.path, one.message) for one in raised.value.problems]


def test_yaml_and_json_say_the_same() -> None:
    pack = read_pack(PACK)
    assert pack.predicates["priority"].values == ["low", "on", "no"]
    assert pack.number == (1, 2, 0)
    as_json = json.dumps(pack.body, indent="\t", ensure_ascii=True)
    assert read_pack(as_json) == pack == pack_of(pack.body)
    assert read_pack("\ufeff" + as_json.replace("A team", "Команда \\ud83d\\ude00")).title == "Команда 😀"
    assert read_pack(PACK + "# a remark\n").digest == pack.digest != read_pack(PACK.replace("low", "high")).digest


def test_the_published_schema_is_the_one_that_packs_are_read_by() -> None:
    published = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert published == pack_schema()
    Draft202012Validator.check_schema(published)
    schema = Draft202012Validator(published)
    schema.validate(read_pack(PACK).body)
    assert not schema.is_valid({"name": "team", "version": "1.0.0", "types": {"a": {}}, "predicates": {"b": {"subjects": ["a"]}}})


WRONG: dict[str, tuple[tuple[str, str], int, str, str]] = {
    "a word that is not taken": (("one", "once"), 9, "predicates.assigned_to.cardinality", "'one' or 'many'"),
    "a field that is not there": (("description", "descripton"), 7, "types.ticket.descripton", "no such field"),
    "a type that is not declared": (("[person]", "[preson]"), 9, "predicates.assigned_to.objects.0", "did you mean 'person'"),
    "no end at all": ((", objects: [person]", ""), 9, "predicates.assigned_to", "`objects`"),
    "a version that is a number": (("1.2.0", "1.2"), 2, "version", "string"),
    "a version with letters": (("1.2.0", "1.2.0b"), 2, "version", "pattern"),
    "a missing version": (("version: 1.2.0\n", ""), 1, "version", "missing"),
    "a type of a pattern": (("{type: ticket", "{type: tiket"), 18, "idPatterns.0.type", "did you mean 'ticket'"),
    "look-ahead": (("(?i)ops-", "(?=ops)-"), 18, "idPatterns.0.pattern", "linear time"),
    "a back-reference": (("([0-9]+)", "([0-9]+)\\1"), 18, "idPatterns.0.pattern", "linear time"),
    "a pattern that is open": (("([0-9]+)", "([0-9]+"), 18, "idPatterns.0.pattern", "missing )"),
    "a pattern of nothing": (("(?i)ops-([0-9]+)", "([0-9]*)"), 18, "idPatterns.0.pattern", "empty text"),
    "a pattern that grows": (("([0-9]+)", "((a{500}){500})"), 18, "idPatterns.0.pattern", "repetition"),
    "a group that is not there": (("{1}", "{2}"), 18, "idPatterns.0.pattern", "{2}"),
    "a group that is code": (("{1}", "{0.__class__}"), 18, "idPatterns.0.pattern", "{name}"),
    "a brace alone": (("{1}", "{"), 18, "idPatterns.0.pattern", "brace"),
    "a circle": (("person:ann", "chef"), 15, "aliases.boss", "boss → chef → boss"),
    "an alias of itself": (("person:ann", "BOSS"), 15, "aliases.boss", "boss → BOSS"),
    "two aliases but for case": (("  Chef: boss", "  Boss: person:bob"), 16, "aliases.Boss", "case"),
    "a key twice": (("  ticket:", "  person: {}\n  ticket:"), 6, "types.person", "twice"),
    "an anchor": (("person: {}", "person: &a {}\n  robot: *a"), 6, "", "anchor"),
    "no YAML": (("types:", "types: ["), 4, "", "no YAML"),
    "a NUL": (("A team", '"A\\0team"'), 3, "title", "NUL"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_its_line_and_its_path(name: str) -> None:
    change, line, path, words = WRONG[name]
    assert change[0] in PACK
    found = problems(PACK.replace(*change, 1))
    if name == "no YAML":
        assert words in found[0][2]
        assert found[0][0] is not None
        return
    assert any((at, where) == (line, path) and words in said for at, where, said in found), found


def test_everything_that_is_wrong_is_said_at_once() -> None:
    found = problems(PACK.replace("1.2.0", "x").replace("one,", "once,").replace("value: string", "value: text"))
    assert [line for line, *_ in found] == [2, 9, 12]


HALF = {"name": "a", "version": "1.0.0", "types": {"a": {}}, "title": "\ud800"}


@pytest.mark.parametrize(
    "value", [None, [], "team", 3, {"name": "a"}, HALF, {"types": {"a": {}} | {str(n): 1 for n in range(2_000)}}]
)
def test_a_value_that_is_no_pack_is_refused(value: Any) -> None:
    with pytest.raises(BadPack):
        pack_of(value)


def test_packs_made_to_be_slow_are_refused_in_a_moment() -> None:
    nested: Any = []
    for _ in range(900):
        nested = [nested]
    hostile = [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        "[" * 100_000,
        "a: " * 50,
        "x" * 600_000,
        json.dumps(
            {"name": "x", "version": "1.0.0", "types": {"a": {}}, "aliases": {f"a{n}": f"a{n + 1}" for n in range(20_000)}}
        ),
        json.dumps(nested),
    ]
    started = time.process_time()
    for text in hostile:
        with pytest.raises(BadPack):
            read_pack(text)
    assert time.process_time() - started < 20


def test_aliases_lead_on_through_ten_thousand() -> None:
    pack = pack_of({"name": "x", "version": "1.0.0", "types": {"a": {}}, "aliases": {f"a{n}": f"a{n + 1}" for n in range(9_999)}})
    assert len(pack.aliases) == 9_999


def test_a_pack_that_comes_as_a_value_is_held_to_the_size_of_one_that_comes_as_a_text() -> None:
    aliases = {f"{number:05}{'x' * 60}": "ann" for number in range(8_000)}
    with pytest.raises(BadPack, match="larger than 512 KB"):
        pack_of({"name": "team", "version": "1.0.0", "types": {"person": {}}, "aliases": aliases})
    assert len(
        pack_of(
            {"name": "team", "version": "1.0.0", "types": {"person": {}}, "aliases": dict(list(aliases.items())[:5_000])}
        ).aliases
    )


def test_thousands_of_types_that_are_not_declared_are_refused_without_looking_for_each_of_them() -> None:
    predicates = {
        f"p{number}": {"subjects": [f"tipe{number}-{other}" for other in range(100)], "value": "any"} for number in range(50)
    }
    pack = {
        "name": "team",
        "version": "1.0.0",
        "types": {f"type{number}": {} for number in range(1_000)},
        "predicates": predicates,
    }
    started = time.process_time()
    with pytest.raises(BadPack, match="did you mean") as raised:
        pack_of(pack)
    assert len(raised.value.problems) == 5_000
    assert time.process_time() - started < 12
