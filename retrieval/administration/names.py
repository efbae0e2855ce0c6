"""Checks names of namespaces and principals, and finds principals by name."""

from __future__ import annotations

from collections.abc import Iterable

from retrieval.administration.sql import statement
from retrieval.database import Connection
from retrieval.errors import BadInput
from retrieval.text import blank, strict
from retrieval.tuning import NAME_LENGTH, PRINCIPAL_LENGTH, TITLE_LENGTH

EVERYONE, ADMINISTRATOR = "everyone", "administrator"
RESERVED = frozenset({EVERYONE, ADMINISTRATOR})
"""Names that no principal of one's own may take."""


def check_name(name: str, what: str, most: int = NAME_LENGTH) -> str:
    """The name in composed form; raises `BadInput` when it is blank or too long, or has spaces at an end."""
    checked = strict(name, what)
    if blank(checked):
        raise BadInput(f"{what} is empty.")
    if checked != checked.strip():
        raise BadInput(f"{what} begins or ends with a space; remove it.")
    if len(checked) > most:
        raise BadInput(f"{what} has {len(checked):,} characters; at most {most:,} are taken.")
    return checked


def check_principal(name: str) -> str:
    """The name of a principal in composed form; raises `BadInput`."""
    return check_name(name, "The name of a principal", PRINCIPAL_LENGTH)


def check_title(title: str | None, what: str = "The title") -> str | None:
    """A title in composed form, None when there is nothing to see; raises `BadInput` when it is too long."""
    if title is None or blank(title := strict(title, what)):
        return None
    if len(title) > TITLE_LENGTH:
        raise BadInput(f"{what} has {len(title):,} characters; at most {TITLE_LENGTH:,} are taken.")
    return title


async def principals_by_name(connection: Connection, names: Iterable[str]) -> dict[str, int]:
    """The ids of principals, kept from being deleted until the transaction ends; raises `BadInput` that names the unknown."""
    asked = list(dict.fromkeys(check_principal(name) for name in names))
    rows = await connection.fetch(statement("principals_by_name"), asked)
    found: dict[str, int] = {row["name"]: row["principal_id"] for row in rows}
    unknown = [name for name in asked if name not in found]
    if unknown:
        raise BadInput(f"There is no principal {', '.join(repr(name) for name in unknown[:5])}; create it first.")
    return found
