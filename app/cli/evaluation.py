"""The command that measures retrieval on a set with known answers."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from app.cli.command import command, json_option
from app.cli.output import note, results, say
from app.cli.running import run
from app.evaluation.picture import draw, picture_file
from app.evaluation.reranking import run_rerank_eval
from app.evaluation.run import EvalOptions, run_eval
from app.evaluation.thresholds import Thresholds
from retrieval.errors import BadInput
from retrieval.question import FusionMethod, Primitive


@command("eval", example="contextql eval fastapi-sections --groups ru --embeddings e5")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--embeddings", metavar="DIR", type=click.Path(path_type=Path), help="Vectors to use: docs.npy and queries.npy.")
@click.option("--groups", metavar="A,B", help="Only these groups of the set.")
@click.option("-k", type=int, default=10, help="How many fragments are asked for.")
@click.option("--fusion", type=click.Choice([method.value for method in FusionMethod], case_sensitive=False), default="ADAPTIVE")
@click.option("--weight", "weights", multiple=True, metavar="CHANNEL=NUMBER", help="With --fusion weighted; repeatable.")
@click.option(
    "--rerank", is_flag=True, help="Show from which rerank score on hits are relevant; one call of the chat model a query."
)
@click.option(
    "--png",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --rerank: where the picture goes; else rerank.png. Needs contextql[pictures].",
)
@json_option
def eval_command(
    folder: Path,
    embeddings: Path | None,
    groups: str | None,
    k: int,
    fusion: str,
    weights: tuple[str, ...],
    rerank: bool,
    png: Path | None,
    as_json: bool,
) -> None:
    """Measure nDCG@10, recall@10 and MRR@10 of each channel on the set in DIR.

    The set has corpus.jsonl.gz, queries.jsonl and qrels.tsv; DIR is also looked for in EVAL_DATA. Works in a namespace of its own
    and leaves nothing behind but its rows of the audit. With --rerank it shows precision and recall over the rerank score
    instead, as a table and as a picture, and proposes a threshold.
    """
    options = EvalOptions(
        embeddings=embeddings,
        groups=tuple(part.strip() for part in groups.split(",")) if groups else None,
        k=k,
        fusion=FusionMethod(fusion.upper()),
        weights=tuple(weight_of(text) for text in weights) or None,
    )
    if rerank:
        file = picture_file(png)  # what cannot be drawn is said before anything is asked
        found = run(lambda settings: run_rerank_eval(settings, folder, options))
        if file is not None:
            draw(found, file)
        show_thresholds(found, file, as_json)
        return
    report = run(lambda settings: run_eval(settings, folder, options))
    if as_json:
        results().file.write(report.json() + "\n")
    else:
        results().print(report.table())


def show_thresholds(found: Thresholds, png: Path | None, as_json: bool) -> None:
    """The table and what it proposes, or JSON."""
    if found.lost:
        note(f"{found.lost} questions could not be judged and are left out.")
    note("There is no picture: it needs contextql[pictures]." if png is None else f"The picture is in {png}.")
    if as_json:
        results().file.write(found.json() + "\n")
        return
    results().print(found.table())
    for point, name in found.proposals():
        kept = f"{point.kept} of {len(found.verdicts)} hits, precision {point.precision:.2f}, recall {point.recall:.2f}"
        say(f"Proposed ({name}): rerankScore ≥ {point.threshold:.2f} keeps {kept}.")
    if not found.proposals():
        say("Nothing relevant was judged: there is no threshold to propose.")


def weight_of(text: str) -> tuple[Primitive, float]:
    """A weight such as `lexical=0.5`."""
    name, _, number = text.partition("=")
    try:
        return Primitive(name.strip().upper()), float(number)
    except ValueError:
        raise BadInput(f"{text!r} is no weight; write lexical=0.5 or vector=2.") from None
