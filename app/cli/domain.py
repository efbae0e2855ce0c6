"""The commands about domain packs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from app.cli.administration import administer, print_result
from app.cli.command import command, group, json_option
from app.cli.output import print_json, print_rows, say
from retrieval.domain.applying import Applied, apply_pack, check_pack
from retrieval.domain.pack import DomainPack
from retrieval.domain.reading import BadPack, Problem, read_pack
from retrieval.domain.rules import Domain
from retrieval.domain.stored import AppliedPack, packs_of
from retrieval.errors import BadInput

file_argument = click.argument("file", type=click.Path(path_type=Path))


@command("apply", example="contextql domain apply app/demo/software_team/pack.yaml --namespace team")
@file_argument
@click.option("--namespace", "-n", required=True, help="Where it holds.")
@json_option
def apply(file: Path, namespace: str, as_json: bool) -> None:
    """Make the domain pack in FILE (YAML or JSON) hold in a namespace, in the place of its version before.

    All or nothing: what is stored must follow it, else it is named and nothing changes. From then on facts and things that no
    pack declares are refused.
    """
    pack = read(file)
    applied = administer(lambda database, caller: apply_pack(database, caller, namespace, pack))
    done = "holds" if applied.changed else "held already"
    print_result(as_json, plain(applied), f"{pack.name} {pack.version} {done} in {namespace} ({contents(pack)}).")


@command("check", example='contextql domain check app/demo/software_team/pack.yaml --find "Why did OPS-17 fail?"')
@file_argument
@click.option("--namespace", "-n", help="Also say what is stored there that does not follow it.")
@click.option("--find", "text", metavar="TEXT", help="Also say which identifiers its patterns find in a text.")
@json_option
def check(file: Path, namespace: str | None, text: str | None, as_json: bool) -> None:
    """Check the domain pack in FILE without applying it: what is wrong is named with its line and its path."""
    pack = read(file)
    if namespace is not None:
        name = namespace
        administer(lambda database, caller: check_pack(database, caller, name, pack))
    found = [] if text is None else Domain((pack,)).identifiers(text)
    identifiers = [{"type": one.type, "key": one.key} for one in found]
    value = {"name": pack.name, "version": pack.version, "identifiers": identifiers}
    print_result(as_json, value, f"{pack.name} {pack.version} is right ({contents(pack)}).")
    if not as_json and text is not None:
        print_rows(("type", "key"), [(one.type, one.key) for one in found])


@command("show", example="contextql domain show team")
@click.argument("namespace")
@click.argument("name", required=False)
@json_option
def show(namespace: str, name: str | None, as_json: bool) -> None:
    """Show the domain packs of NAMESPACE, or all that the pack NAME says."""
    packs = administer(lambda database, caller: packs_of(database, caller, namespace))
    chosen = [one for one in packs if name in (None, one.pack.name)]
    if name is not None and not chosen:
        raise BadInput(f"Namespace {namespace!r} has no domain pack {name!r}.")
    if as_json:
        print_json([whole(one) for one in chosen])
    elif name is None:
        heads = ("name", "version", "title", "applied", "holds")
        listed = [(one.pack, one.applied_at) for one in chosen]
        print_rows(heads, [(pack.name, pack.version, pack.title, at, contents(pack)) for pack, at in listed])
    else:
        print_pack(chosen[0].pack)


def read(file: Path) -> DomainPack:
    """The pack in a file; each line of the refusal begins with the file and the line, as compilers write it."""
    if not file.exists():
        raise BadInput(f"There is no file {file}.")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read as text in UTF-8 ({type(error).__name__}).") from None
    try:
        return read_pack(text)
    except BadPack as error:
        raise BadPack(Problem(located(file, one), one.message) for one in error.problems) from None


def located(file: Path, problem: Problem) -> str:
    """Where a problem is, for people and for editors."""
    return ":".join(str(part) for part in (file, problem.line, f" {problem.path}" if problem.path else None) if part is not None)


def contents(pack: DomainPack) -> str:
    """How much a pack says."""
    parts = [("types", len(pack.types)), ("predicates", len(pack.predicates)), ("aliases", len(pack.aliases))]
    return ", ".join(f"{what}: {number}" for what, number in [*parts, ("patterns", len(pack.idPatterns))])


def print_pack(pack: DomainPack) -> None:
    """All that a pack says, for people."""
    say(f"{pack.name} {pack.version}{f': {pack.title}' if pack.title else ''}")
    print_rows(("type", "description"), [(name, one.description or one.title) for name, one in pack.types.items()])
    ends = [
        (name, one.cardinality.value, ", ".join(one.subjects), ", ".join(one.objects or ()) or one.value, one.description)
        for name, one in pack.predicates.items()
    ]
    print_rows(("predicate", "cardinality", "said of", "leads to", "description"), ends)
    print_rows(("alias", "key"), list(pack.aliases.items()))
    print_rows(("pattern of", "pattern", "key"), [(one.type, one.pattern, one.key) for one in pack.idPatterns])


def plain(applied: Applied) -> dict[str, Any]:
    """The result as JSON has it."""
    return {"name": applied.name, "version": applied.version, "changed": applied.changed}


def whole(one: AppliedPack) -> dict[str, Any]:
    """A pack as JSON has it."""
    return {"appliedAt": one.applied_at.isoformat(), "pack": one.pack.body}


domain = group("domain", apply, check, show, help="Apply, check and show domain packs: types, predicates, aliases, identifiers.")
