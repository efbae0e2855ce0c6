"""Domain packs by command: checked with lines, applied, shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.conftest import Run

PACK = """\
name: books
version: 1.0.0
types: {book: {}, person: {}}
predicates:
  lent_to: {cardinality: one, subjects: [book], objects: [person]}
aliases: {the whale: isbn/9780142437247}
idPatterns:
  - {type: book, pattern: 'ISBN ([0-9]{13})', key: 'isbn/{1}'}
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """The file of a pack."""
    file = tmp_path / "books.yaml"
    file.write_text(PACK)
    return file


def test_a_pack_is_checked_applied_and_shown(run: Run, pack: Path) -> None:
    assert run("domain", "check", pack).out == "books 1.0.0 is right (types: 2, predicates: 1, aliases: 1, patterns: 1).\n"
    found = run("domain", "check", pack, "--find", "see ISBN 9780142437247", "--json").json
    assert found["identifiers"] == [{"type": "book", "key": "isbn/9780142437247"}]
    assert run("domain", "apply", pack, "-n", "library").sentence.startswith("Namespace 'library' does not exist")
    run("namespace", "create", "library")
    assert run("domain", "apply", pack, "-n", "library").out.startswith("books 1.0.0 holds in library (types: 2")
    assert run("domain", "apply", pack, "-n", "library", "--json").json == {"name": "books", "version": "1.0.0", "changed": False}
    assert run("domain", "show", "library").out.startswith("books\t1.0.0\t\t20")
    assert "lent_to\tone\tbook\tperson\t\n" in run("domain", "show", "library", "books").out
    (shown,) = run("domain", "show", "library", "--json").json
    assert shown["pack"]["predicates"]["lent_to"]["cardinality"] == "one"
    assert "has no domain pack 'films'" in run("domain", "show", "library", "films").sentence


def test_mistakes_are_named_with_file_line_and_path(run: Run, pack: Path) -> None:
    pack.write_text(PACK.replace("one,", "once,").replace("type: book", "type: boook"))
    ended = run("domain", "check", pack)
    assert ended.code == 1
    assert ended.err == f"{pack}:5: predicates.lent_to.cardinality: Input should be 'one' or 'many'\n"
    pack.write_text(PACK.replace("type: book", "type: boook"))
    assert (
        f"{pack}:8: idPatterns.0.type: the pack declares no type 'boook'; did you mean 'book'?"
        in run("domain", "check", pack).err
    )
    assert "There is no file" in run("domain", "check", pack.parent / "nothing.yaml").sentence
    pack.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in run("domain", "check", pack).sentence


def test_what_is_stored_and_does_not_follow_is_named(run: Run, pack: Path, tmp_path: Path) -> None:
    run("namespace", "create", "library")
    (tmp_path / "film.md").write_text("# A film")
    run("ingest", tmp_path / "film.md", "-n", "library", "--kind", "THING", "--type", "film", "--no-wait")
    for ended in (run("domain", "check", pack, "-n", "library"), run("domain", "apply", pack, "-n", "library")):
        assert "cannot be applied" in ended.err.splitlines()[0]
        assert "things of type 'film', which is not declared (1, such as 'film.md')" in ended.err
    assert run("domain", "show", "library", "--json").json == []
