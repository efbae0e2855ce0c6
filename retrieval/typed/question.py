"""A typed walk as a value: its anchors and steps, checked once, equal when they mean the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from retrieval.access import Space
from retrieval.errors import BadInput
from retrieval.keys import check_key
from retrieval.primitives.graph import Direction
from retrieval.question import check_instant, check_namespaces, within
from retrieval.text import blank, strict
from retrieval.tuning import NAME_LENGTH, Tuning


class StepOrigin(StrEnum):
    """Where a step begins."""

    ANCHORS = "ANCHORS"
    PREVIOUS = "PREVIOUS"


@dataclass(frozen=True, slots=True)
class Anchor:
    """What to start from: the type of an entity, and its key, another name of it or a text that holds its identifier."""

    kind: str
    value: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class TypedStep:
    """Which facts to follow, which way, how far, to how many new entities, and from where."""

    relation: str
    direction: Direction = Direction.OUT
    depth: int = 1
    limit: int = 50
    origin: StepOrigin = StepOrigin.ANCHORS


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """One typed walk: equal ones of a request share all their work."""

    anchors: tuple[Anchor, ...]
    steps: tuple[TypedStep, ...]
    namespaces: tuple[str, ...] | None = None
    as_of: datetime | None = None
    allow_semantic: bool = False


def make_typed_question(
    tuning: Tuning,
    anchors: Iterable[Anchor],
    steps: Iterable[TypedStep],
    *,
    namespaces: Iterable[str] | None = None,
    as_of: datetime | None = None,
    allow_semantic: bool = False,
) -> TypedQuestion:
    """Check every argument of a typed walk; raises `BadInput` with what to change. An anchor given twice is one."""
    given, walked = list(anchors), list(steps)
    few("anchors", given, tuning.typed_anchors)
    few("traverse", walked, tuning.typed_steps)
    return TypedQuestion(
        anchors=tuple(dict.fromkeys(checked_anchor(tuning, place, one) for place, one in enumerate(given))),
        steps=tuple(checked_step(tuning, place, one) for place, one in enumerate(walked)),
        namespaces=check_namespaces(tuning, namespaces),
        as_of=None if as_of is None else check_instant("asOf", as_of),
        allow_semantic=allow_semantic,
    )


def few(name: str, listed: Sequence[object], most: int) -> None:
    """Refuse a list that is too long."""
    if len(listed) > most:
        raise BadInput(f"`{name}` has {len(listed):,} items; give at most {most}.")


def checked_anchor(tuning: Tuning, place: int, anchor: Anchor) -> Anchor:
    """An anchor whose parts can be looked up."""
    where = f"`anchors[{place}]."
    namespace = None if anchor.namespace is None else strict(anchor.namespace, f"{where}namespace`")
    kind = checked_name(f"{where}kind`", anchor.kind)
    return Anchor(kind, check_key(anchor.value, tuning.key_most, f"{where}value`"), namespace)


def checked_step(tuning: Tuning, place: int, step: TypedStep) -> TypedStep:
    """A step within its bounds."""
    within(f"traverse[{place}].depth", step.depth, 1, tuning.typed_depth)
    within(f"traverse[{place}].limit", step.limit, 1, tuning.typed_limit)
    return replace(step, relation=checked_name(f"`traverse[{place}].relation`", step.relation))


def checked_name(what: str, name: str) -> str:
    """The name of a type or a predicate, in composed form."""
    name = strict(name, what)
    if blank(name):
        raise BadInput(f"{what} is empty.")
    if len(name) > NAME_LENGTH:
        raise BadInput(f"{what} has {len(name):,} characters; at most {NAME_LENGTH} are taken.")
    return name


def spaces_of(asked: TypedQuestion, spaces: Sequence[Space], named: Sequence[Space]) -> dict[Anchor, tuple[Space, ...]]:
    """Where to look for each anchor: in its namespace, or in all of `spaces`; `named` are the namespaces that anchors name.

    Raises `BadInput` for an anchor in a namespace that is not among those asked for.
    """
    known = {space.name: space for space in named}
    outside = sorted(known.keys() - {space.name for space in spaces})
    if outside:
        raise BadInput(
            f"`anchors` names namespace {outside[0]!r}, which is not among `namespaces`; add it there or leave it out."
        )
    listed = tuple(sorted(spaces, key=lambda space: space.name))
    return {one: listed if one.namespace is None else (known[one.namespace],) for one in asked.anchors}
