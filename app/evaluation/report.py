"""Turns rankings and judgments into nDCG@10, recall@10 and MRR@10, overall and by category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import orjson
from ir_measures import RR, R, nDCG
from rich.table import Table

from app.evaluation.collection import Collection, Query

CHANNELS = ("lexical", "vector", "fused")
MEASURES = {"ndcg@10": nDCG @ 10, "recall@10": R @ 10, "mrr@10": RR @ 10}
"""Gains are linear in the grade; for recall and MRR any grade above 0 is relevant (research/data.md)."""

Rankings = Mapping[str, Mapping[str, Sequence[str]]]
"""Documents, best first, by channel and query."""


@dataclass(frozen=True, slots=True)
class Section:
    """Means over some queries: measures by channel."""

    queries: int
    channels: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Report:
    """What an evaluation found: over all queries, and over those of each category."""

    whole: Section
    categories: dict[str, Section]

    def score(self, channel: str, measure: str = "ndcg@10", category: str | None = None) -> float:
        """One figure."""
        return (self.whole if category is None else self.categories[category]).channels[channel][measure]

    def json(self) -> str:
        """The report as JSON text, figures to six digits."""
        body = {**plain(self.whole), "categories": {name: plain(part) for name, part in self.categories.items()}}
        return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()

    def table(self) -> Table:
        """The report for people."""
        table = Table("queries of", "count", "channel", *MEASURES)
        for name, part in [("all", self.whole), *self.categories.items()]:
            for channel, found in part.channels.items():
                figures = [f"{found[measure]:.3f}" for measure in MEASURES]
                table.add_row(name, str(part.queries), channel, *figures, end_section=channel == CHANNELS[-1])
        return table


def plain(part: Section) -> dict[str, Any]:
    """A section as JSON has it."""
    channels = {
        channel: {measure: round(value, 6) for measure, value in found.items()} for channel, found in part.channels.items()
    }
    return {"queries": part.queries, "channels": channels}


def report_on(collection: Collection, rankings: Rankings) -> Report:
    """Measure every channel; a judged query without any result counts with zeros, one without judgments does not count."""
    values = {channel: values_by_query(collection, rankings[channel]) for channel in CHANNELS}
    categories = sorted({query.category for query in collection.queries if query.category is not None})
    parts = {name: [query for query in collection.queries if query.category == name] for name in categories}
    return Report(section(collection.queries, values), {name: section(queries, values) for name, queries in parts.items()})


def section(queries: Iterable[Query], values: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Section:
    """The means over the judged ones of some queries."""
    judged = [query.id for query in queries if query.id in values[CHANNELS[0]]]
    channels = {
        channel: {name: sum(found[id][name] for id in judged) / max(1, len(judged)) for name in MEASURES}
        for channel, found in values.items()
    }
    return Section(len(judged), channels)


def values_by_query(collection: Collection, ranking: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Each measure of each judged query."""
    asked = {query.id for query in collection.queries}
    judged = {query: grades for query, grades in collection.judgments.items() if query in asked}
    # Scores are places in the list, so that equal scores keep the order they came in.
    places = {query: {id: float(-place) for place, id in enumerate(ranking.get(query, ()))} for query in judged}
    found: dict[str, dict[str, float]] = {query: dict.fromkeys(MEASURES, 0.0) for query in judged}
    names = {measure: name for name, measure in MEASURES.items()}
    for metric in ir_measures.iter_calc(list(MEASURES.values()), judged, places):
        found[metric.query_id][names[metric.measure]] = metric.value
    return found
