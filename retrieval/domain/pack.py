"""A domain pack as its author writes it: types, predicates, aliases and patterns of identifiers, by a published JSON Schema."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from retrieval.tuning import (
    NAME_LENGTH,
    PACK_ALIASES_MOST,
    PACK_NAMES_MOST,
    PACK_PATTERN_LENGTH,
    PACK_PATTERNS_MOST,
    TITLE_LENGTH,
    Tuning,
)

SCHEMA_NAME = "domain-pack.schema.json"

PackName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=NAME_LENGTH)]
Version = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}$")]
Word = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$", max_length=NAME_LENGTH)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=Tuning().key_most)]
Text = Annotated[str, StringConstraints(max_length=TITLE_LENGTH)]


class Cardinality(StrEnum):
    """How many values a subject has at one instant."""

    ONE = "one"
    MANY = "many"


class ValueKind(StrEnum):
    """What the value of a fact is."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATE_TIME = "dateTime"
    OBJECT = "object"
    LIST = "list"
    ANY = "any"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=False)


class TypeOfEntity(_Strict):
    """A type that things of this domain have."""

    title: Text | None = Field(None, description="For people.")
    description: Text | None = Field(None, description="What such a thing is.")


class Predicate(_Strict):
    """What can be said of a thing: of another entity (`objects`) or as a value (`value`), exactly one of the two."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["objects"]}, {"required": ["value"]}]})

    description: Text | None = Field(None, description="What a fact of this predicate says.")
    cardinality: Cardinality = Field(
        Cardinality.MANY, strict=False, description="`one`: two different values at one instant are in conflict."
    )
    subjects: list[Word] = Field(min_length=1, max_length=PACK_NAMES_MOST, description="Types that the subject may have.")
    objects: list[Word] | None = Field(
        None, min_length=1, max_length=PACK_NAMES_MOST, description="Types that the object may have."
    )
    value: ValueKind | None = Field(None, strict=False, description="What the value is; dates are texts in ISO 8601.")
    values: list[str | int | float | bool] | None = Field(
        None, min_length=1, max_length=PACK_NAMES_MOST, description="The only values that are taken."
    )


class IdPattern(_Strict):
    """How an identifier of a type looks in free text, and the key of the entity that it stands for."""

    type: Word = Field(description="The type of the entity.")
    pattern: str = Field(
        min_length=1,
        max_length=PACK_PATTERN_LENGTH,
        description="A regular expression in the syntax of RE2, which takes linear time: no look-around, no back-references.",
    )
    key: Key = Field("{0}", description="The key: {0} is what was found, {1} or {name} a group of the pattern.")


class DomainPack(_Strict):
    """A named, versioned description of a domain in one namespace."""

    model_config = ConfigDict(title="Domain pack")

    name: PackName = Field(description="Lower case words joined by hyphens, such as `software-team`.")
    version: Version = Field(description="Three numbers, such as `1.0.0`; a change of the pack needs a higher one.")
    title: Text | None = Field(None, description="For people.")
    description: Text | None = Field(None, description="What the pack is about.")
    types: dict[Word, TypeOfEntity] = Field(
        min_length=1, max_length=PACK_NAMES_MOST, description="The types of things, each by its name."
    )
    predicates: dict[Word, Predicate] = Field(
        default_factory=dict, max_length=PACK_NAMES_MOST, description="The predicates, each by its name."
    )
    aliases: dict[Key, Key] = Field(
        default_factory=dict,
        max_length=PACK_ALIASES_MOST,
        description="Other names of entities: the name and the key (or alias).",
    )
    idPatterns: list[IdPattern] = Field(
        default_factory=list, max_length=PACK_PATTERNS_MOST, description="How identifiers look in free text, tried in order."
    )

    @property
    def number(self) -> tuple[int, ...]:
        """The version, to compare."""
        return tuple(int(part) for part in self.version.split("."))

    @property
    def body(self) -> dict[str, Any]:
        """The pack as JSON, without what was left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def digest(self) -> bytes:
        """SHA-256 of what the pack says, however it was written."""
        return hashlib.sha256(orjson.dumps(self.body, option=orjson.OPT_SORT_KEYS)).digest()


def pack_schema() -> dict[str, Any]:
    """The JSON Schema of a pack, as published in `schemas/domain-pack.schema.json`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_NAME} | DomainPack.model_json_schema()
