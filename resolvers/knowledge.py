"""What fields about namespaces and the caller do beyond naming a stage."""

from __future__ import annotations

from retrieval.access import ROLES, Caller, Space
from retrieval.knowledge import NamespaceSummary


async def entity_count(root: NamespaceSummary) -> int:
    """Visible entities."""
    return await root.entity_count()


async def fragment_count(root: NamespaceSummary) -> int:
    """Visible fragments."""
    return await root.fragment_count()


async def fact_count(root: NamespaceSummary) -> int:
    """Visible facts."""
    return await root.fact_count()


def roles(root: Space) -> list[str]:
    """The roles held in a namespace, least first."""
    return [role for role in ROLES if role in root.roles]


def principal(root: Caller) -> str:
    """The name of who brought the request."""
    return root.name if root.service is None else root.service


def acting_for(root: Caller) -> str | None:
    """The name of the user that a service acts for."""
    return None if root.service is None else root.name


def namespaces(root: Caller) -> list[Space]:
    """Namespaces that the caller may read."""
    return list(root.spaces)
