"""Reads JSON Lines of facts, one a line, by the published schema `schemas/fact.schema.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.jsonl import BadLine, Instant, reasons
from retrieval.records import EVIDENCE
from retrieval.tuning import NAME_LENGTH, Tuning

SCHEMA_NAME = "fact.schema.json"
Key = Annotated[str, Field(min_length=1, max_length=Tuning().key_most)]


class Evidence(StrEnum):
    """How well a fact is supported."""

    ASSERTED = "ASSERTED"
    OBSERVED = "OBSERVED"
    INFERRED = "INFERRED"


class AssertionLine(BaseModel):
    """A fact to assert, or with `factId` one to change or close; fields as in `FactInput` of the API."""

    model_config = ConfigDict(title="Assertion", extra="forbid", frozen=True)

    factId: str | None = Field(None, description="The fact to change; what is left out stays as it is.")
    subject: Key = Field(description="The key of the entity that it is about.")
    predicate: str = Field(min_length=1, max_length=NAME_LENGTH, description="What it says, such as `owned_by`.")
    object: Key | None = Field(None, description="The key of the entity that it leads to; it has this or `value`.")
    value: Any = Field(None, description="The value, any JSON but null, where it leads to no entity.")
    validFrom: Instant | None = Field(None, description="Since when it holds, with a zone. Left out: it always did.")
    validTo: Instant | None = Field(None, description="Until when it holds, exclusive. Left out: it still does.")
    evidence: Evidence | None = Field(
        None, description="How well it is supported. Left out: ASSERTED, or as it was of a fact that is changed."
    )
    relevanceScopes: list[str] | None = Field(None, description="What it is about, as `type:id`.")
    statedIn: list[Key] | None = Field(None, description="Keys of the entities that state it.")
    supersede: bool = Field(False, description="True: what held when it begins ends there. Needs `validFrom`.")


class RetractionLine(BaseModel):
    """A fact to retract."""

    model_config = ConfigDict(title="Retraction", extra="forbid", frozen=True)

    factId: str = Field(description="The id of the fact.")
    retract: Literal[True] = Field(description="Says that the fact is to be retracted.")


@dataclass(frozen=True, slots=True)
class Retraction:
    """A fact that a line wants to have retracted."""

    fact_id: str


def read_facts(lines: Iterable[str | bytes]) -> Iterator[tuple[int, FactInput | Retraction] | BadLine]:
    """Read each line by itself: its number and fact, or what is wrong with it; blank lines are passed over."""
    for number, line in enumerate(lines, start=1):
        raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if raw.strip():
            yield read_line(number, raw)


def read_line(number: int, raw: bytes) -> tuple[int, FactInput | Retraction] | BadLine:
    """One line that is not blank."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return BadLine(number, f"Line {number} is not JSON ({error.msg[:200]}); each line is one object, see {SCHEMA_NAME}.")
    try:
        if isinstance(value, dict) and "retract" in value:
            return number, Retraction(RetractionLine.model_validate(value).factId)
        return number, fact_of_line(AssertionLine.model_validate(value))
    except ValidationError as error:
        return BadLine(number, f"Line {number} does not follow {SCHEMA_NAME}: {reasons(error)}.")


def fact_of_line(line: AssertionLine) -> FactInput:
    """The fact that a line asserts."""
    return FactInput(
        line.subject, line.predicate, line.object, line.value, line.validFrom, line.validTo,
        None if line.evidence is None else EVIDENCE[line.evidence.value], line.relevanceScopes, line.statedIn,
        line.supersede, line.factId,
    )  # fmt: skip


def fact_schema() -> dict[str, Any]:
    """The JSON Schema of a line, as published in `schemas/fact.schema.json`."""
    either: TypeAdapter[AssertionLine | RetractionLine] = TypeAdapter(AssertionLine | RetractionLine)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_NAME} | either.json_schema()
