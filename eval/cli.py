"""`eval`: score an engine on sheets whose truth is known."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from eval.accuracy import by_field, by_flag, by_severity, frame_of
from eval.cases import Case, load_cases
from eval.outcomes import Outcome, score_all
from ocr_pipeline import __version__
from ocr_pipeline.batch.reader import MakeReader, usual_workers
from ocr_pipeline.batch.run import run_batch
from ocr_pipeline.batch.scans import Found, Scan
from ocr_pipeline.errors import OcrPipelineError, UsageError
from ocr_pipeline.export.record import Record, from_json
from ocr_pipeline.orders.schema import Schema, load_schema
from ocr_pipeline.settings import DEFAULT_RUNS, Settings

app = typer.Typer(
    help="Score an engine on sheets whose truth is known: typed accuracy per severity and field, "
    "and how often a value is wrong without a flag.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Truth = Annotated[
    Path | None,
    typer.Option("--truth", help="The truth file; by default truth.json beside the sheets."),
]
SchemaName = Annotated[str, typer.Option("--schema", help="The form: a name or a YAML file.")]
Misses = Annotated[bool, typer.Option("--misses", help="Also list every wrong value.")]


@app.command()
def run(
    sheets: Annotated[Path, typer.Option("--sheets", help="Folder of scans with a truth.json.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the records.")] = Path(
        "report"
    ),
    engine: Annotated[str, typer.Option("--engine", help="What reads the pages.")] = "ppocr",
    model: Annotated[str, typer.Option("--model", help="Model of the engine.")] = "",
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="How often a page is read.")
    ] = DEFAULT_RUNS,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the first run.")] = 0,
    schema: SchemaName = "purchase_order",
    truth: Truth = None,
    workers: Annotated[int, typer.Option("--workers", "-j", min=0, help="0: by cores.")] = 0,
    misses: Misses = False,
) -> None:
    """Read the sheets of a folder and score what comes out."""
    cases = load_cases(truth or sheets / "truth.json")
    settings = Settings(load_schema(schema), engine=engine, model=model, runs=runs, seed=seed)
    count = workers or usual_workers()
    scans = tuple(Scan(sheets / source, source) for source in cases)
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("reading", total=len(scans))
        run_batch(
            Found(scans, ()),
            out,
            MakeReader(settings, count),
            form=settings.schema,
            settings=settings.as_dict(),
            fingerprint=settings.fingerprint(__version__),
            seeds=[seed + k for k in range(runs)],
            workers=count,
            time_limit=600.0,
            progress=lambda step: progress.update(task, completed=step.done),
        )
    _report(_records(out, cases), cases, settings.schema, misses)


@app.command()
def score(
    results: Annotated[Path, typer.Argument(help="Output folder of `read` or of `eval run`.")],
    truth: Annotated[Path, typer.Option("--truth", help="The truth file.")],
    schema: SchemaName = "purchase_order",
    misses: Misses = False,
) -> None:
    """Score records that are there already; no engine is needed."""
    cases = load_cases(truth)
    _report(_records(results, cases), cases, load_schema(schema), misses)


def _records(results: Path, cases: Mapping[str, Case]) -> dict[str, Record]:
    """The stored records of some cases, by the name the truth file has for them."""
    records = {}
    for path in sorted((results / "documents").rglob("*.json")):
        record = from_json(path.read_text(encoding="utf-8"))
        # `read a/b` names a document by its folder, the truth file by its name alone.
        name = record.source if record.source in cases else Path(record.source).name
        records[name] = replace(record, source=name)
    if not records:
        raise UsageError(
            f"there are no records in {results}", remedy="give the folder that `read -o` wrote"
        )
    return records


def _report(
    records: dict[str, Record], cases: dict[str, Case], schema: Schema, misses: bool
) -> None:
    outcomes = score_all(records, cases.values(), schema)
    frame = frame_of(outcomes)
    console = Console()
    _print(console, "per severity", by_severity(frame))
    _print(console, "typed accuracy per field and severity", by_field(frame))
    _print(console, "values under each flag", by_flag(frame))
    if misses:
        _print_misses(console, outcomes)


_HEADINGS = {"documents": "docs", "raw_right": "raw", "folded_right": "folded"}
"""Short forms, so that a table fits a terminal of 80 columns."""


def _print(console: Console, title: str, frame: pd.DataFrame) -> None:
    console.print(f"[bold]{title}[/]", highlight=False)
    table = Table(box=None)
    table.add_column(str(frame.index.name or ""), no_wrap=True)
    for column in frame.columns:
        table.add_column(_HEADINGS.get(str(column), str(column)), justify="right", no_wrap=True)
    for name, row in frame.iterrows():
        table.add_row(str(name), *(_shown(v) for v in row))
    console.print(table)
    console.print()


def _shown(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.1%}" if 0 <= value <= 1 and not float(value).is_integer() else f"{value:g}"


def _print_misses(console: Console, outcomes: list[Outcome]) -> None:
    table = Table("file", "field", "row", "truth", "read", "flags", title="wrong values", box=None)
    for o in outcomes:
        if not o.right:
            row = "" if o.row is None else str(o.row + 1)
            flags = " ".join(o.codes) or ("(order)" if o.flagged else "[red]none[/]")
            table.add_row(o.source, o.field, row, o.truth, o.read or o.raw, flags)
    console.print(table)


def main() -> None:
    """Run the commands; errors meant for the user become a message and an exit code."""
    try:
        app()
    except OcrPipelineError as e:
        print(f"error: {e}", file=sys.stderr)
        sys.exit(e.exit_code)
