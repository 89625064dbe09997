"""`eval`: score an engine, or anybody's predictions, on sheets whose truth is known."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from eval.cases import load_cases
from eval.compare import compare as compare_scores
from eval.outcomes import Form
from eval.predictions import prediction_sets, record_sets, records_in
from eval.printing import print_misses, print_scores, print_summary, print_table
from eval.runs import RUNS
from eval.steps import (
    bench_folder,
    plan_of,
    read,
    require_report,
    scored,
    scores_of_runs,
    settings_of,
    written,
)
from eval.sweep import label_of, settings_over, table_of
from eval.tidy import Scores, load, save
from ocr_pipeline.errors import OcrPipelineError, OutputError, UsageError
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.settings import DEFAULT_RUNS

app = typer.Typer(
    help="Score an engine on sheets whose truth is known: typed accuracy per severity and field, "
    "and how often a value is wrong and nobody is told.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

Sheets = Annotated[
    Path | None,
    typer.Option("--sheets", help="Folder of scans with a truth.json.", show_default=False),
]
BenchName = Annotated[
    str,
    typer.Option(
        "--bench",
        help="A bench set instead of a folder: quick (12 sheets), standard (120), katakana, "
        "article, samples, or a YAML file. It is made once and kept.",
    ),
]
TruthFile = Annotated[
    Path | None,
    typer.Option("--truth", help="The truth file, when it is not the one that was run on."),
]
EngineName = Annotated[str, typer.Option("--engine", help="What reads the pages.")]
Model = Annotated[str, typer.Option("--model", help="Model of the engine: a hub id or a folder.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-O", metavar="KEY=VALUE", help="A setting of the engine."),
]
Runs = Annotated[
    int,
    typer.Option(
        "--runs",
        min=1,
        max=99,
        help="How often a page is read: with another seed each time or, by an engine that does "
        "not sample, from a small re-scan.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the first run.")]
SchemaName = Annotated[str, typer.Option("--schema", help="The form: a name or a YAML file.")]
Limit = Annotated[
    int, typer.Option("--limit", min=0, help="Only the first so many files; 0 is all.")
]
Workers = Annotated[
    int, typer.Option("--workers", "-j", min=0, help="Documents at once; 0: by cores.")
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", min=0, help="Seconds for all runs of a document; 0: no limit."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget the runs that are stored.")]
Misses = Annotated[bool, typer.Option("--misses", help="Also list every wrong value.")]


@app.command()
def run(
    sheets: Sheets = None,
    bench: BenchName = "quick",
    truth: TruthFile = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path(
        "report"
    ),
    engine: EngineName = "ppocr",
    model: Model = "",
    option: Options = None,
    runs: Runs = DEFAULT_RUNS,
    seed: Seed = 0,
    schema: SchemaName = "purchase_order",
    limit: Limit = 0,
    workers: Workers = 0,
    time_limit: TimeLimit = 0.0,
    fresh: Fresh = False,
    misses: Misses = False,
) -> None:
    """Read sheets several times, score what comes out, and write a report.

    It can be broken off at any moment: the same command goes on where it stopped. More runs or more
    sheets may be added; other settings need another folder.

    **In OUT:** `report.html`, `report.md`, `results.json`; `runs.jsonl` (all that the engine said)
    and `run.json`; the scores as `values.csv`, `documents.csv`, `checklist.csv`, `curve.csv`.
    """
    console = Console()
    plan = plan_of(sheets, bench, truth, limit)
    settings = settings_of(schema, engine, model, option, runs, seed)
    read(plan, settings, out, workers, time_limit, fresh)
    scores = scores_of_runs(out, truth, schema, partial=True)
    _report(console, scores, out, misses)


@app.command()
def score(
    results: Annotated[
        Path | None,
        typer.Argument(help="Folder that `eval run` or `read` wrote.", show_default=False),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            help="Somebody else's answers: a folder of Markdown or JSON files named like the "
            "sheets (0001.md for 0001.tif; 0001.run1.md for a second run), or one JSON file.",
            show_default=False,
        ),
    ] = None,
    truth: TruthFile = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for scores and report; by default that of the runs, `eval` in that of "
            "`read`, and `report` for predictions.",
            show_default=False,
        ),
    ] = None,
    schema: SchemaName = "purchase_order",
    partial: Annotated[
        bool, typer.Option("--partial", help="Score what is there, though runs are missing.")
    ] = False,
    misses: Misses = False,
) -> None:
    """Score what was read before, by whomever; no engine is needed.

    Odd tables are no obstacle: Markdown is parsed as a model's reply is, and what had to be mended
    is counted. A sheet without a prediction, or with one that cannot be read, counts as wrong.
    """
    console = Console()
    if (results is None) == (predictions is None):
        raise UsageError(
            "what is to be scored?", remedy="give a folder of results, or --predictions DIR"
        )
    if results is not None and (results / RUNS).is_file():
        scores = scores_of_runs(results, truth, schema, partial)
        _report(console, scores, out or results, misses)
        return
    if results is not None:
        records_in(results)  # before the truth is asked for: there may be nothing to compare it to
    if truth is None:
        raise UsageError("the truth is not known", remedy="give --truth FILE")
    cases, form = load_cases(truth), Form(load_schema(schema))
    about = {"schema": form.schema.name, "truth": str(truth), "sheets": str(truth.parent)}
    if predictions is not None:
        sets = prediction_sets(predictions, cases, form)
        about |= {"engine": "predictions", "predictions": str(predictions)}
        target = out or Path("report")
    else:
        assert results is not None
        sets = record_sets(results, cases, form)
        about |= {"engine": "records", "records": str(results)}
        target = out or results / "eval"
    _report(console, scored(sets, about | {"runs": len(sets[0].runs)}), target, misses)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="Folder with scores, system A.")],
    second: Annotated[Path, typer.Argument(help="Folder with scores, system B.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder for the comparison; by default B's.", show_default=False
        ),
    ] = None,
) -> None:
    """Compare two systems on the sheets that both have read, sheet by sheet.

    Writes `comparison.html`, `comparison.md` and `comparison.csv` (every value that only one of the
    two has right).
    """
    require_report()
    from eval.report.comparison import (  # noqa: PLC0415  (needs an extra)
        print_comparison,
        write_comparison,
    )

    console = Console()
    names = _names(first, second)
    found = compare_scores(load(first), load(second), names=names)
    print_comparison(console, found)
    path = write_comparison(found, out or second)
    console.print(f"the comparison: {path}", highlight=False, soft_wrap=True)


def _names(first: Path, second: Path) -> tuple[str, str]:
    """What to call two folders: their own names, or as much of their paths as tells them apart."""
    one, two = (p.resolve().parts for p in (first, second))
    for depth in range(1, max(len(one), len(two)) + 1):
        if one[-depth:] != two[-depth:]:
            return "/".join(one[-depth:]), "/".join(two[-depth:])
    raise UsageError(f"{first} and {second} are the same", remedy="give two folders")


@app.command()
def sweep(
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="KEY=V1,V2",
            help="Values of an engine's setting to compare; several give every combination.",
        ),
    ],
    sheets: Sheets = None,
    bench: BenchName = "quick",
    truth: TruthFile = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; each setting gets its own.")] = (
        Path("sweep")
    ),
    engine: EngineName = "ppocr",
    model: Model = "",
    option: Options = None,
    runs: Runs = DEFAULT_RUNS,
    seed: Seed = 0,
    schema: SchemaName = "purchase_order",
    limit: Limit = 0,
    workers: Workers = 0,
    time_limit: TimeLimit = 0.0,
    fresh: Fresh = False,
) -> None:
    """Accuracy against cost: the same sheets with several values of an engine's setting.

    ocr-pipeline eval sweep --engine diffusiongemma --over steps=8,16,32,48 -o sweep
    """
    console = Console()
    swept = settings_over(over)
    plan = plan_of(sheets, bench, truth, limit)
    # All settings are tried before the first one is run for an hour.
    prepared = {
        label_of(s): settings_of(
            schema, engine, model, [*(option or []), *map("=".join, s)], runs, seed
        )
        for s in swept
    }
    scores = {}
    for label, settings in prepared.items():
        console.print(f"[bold]{label}[/]", highlight=False)
        read(plan, settings, out / label, workers, time_limit, fresh)
        scores[label] = scores_of_runs(out / label, truth, schema, partial=True)
        save(scores[label], out / label)
        written(scores[label], out / label)
    table = table_of(scores)
    print_table(
        console,
        "accuracy against cost",
        table,
        dict.fromkeys(("seconds", "tokens"), "{:.3g}".format),
    )
    try:
        table.to_csv(out / "sweep.csv", lineterminator="\n")
    except OSError as e:
        raise OutputError(f"{out / 'sweep.csv'} cannot be written: {e}") from e
    console.print(f"the table: {out / 'sweep.csv'}", highlight=False, soft_wrap=True)


@app.command("bench")
def make(
    name: Annotated[str, typer.Argument(help="A bench set's name, or a YAML file.")],
) -> None:
    """Make the sheets of a bench set, to be read by something else, and say where they are."""
    print(bench_folder(name))


def _report(console: Console, scores: Scores, out: Path, misses: bool) -> None:
    save(scores, out)
    print_scores(console, scores)
    if misses:
        print_misses(console, scores)
    print_summary(console, scores)
    path = written(scores, out)
    console.print(f"the report: {path}", highlight=False, soft_wrap=True)


def main() -> None:
    """Run the commands; errors meant for the user become a message and an exit code."""
    try:
        app()
    except OcrPipelineError as e:
        print(f"error: {e}", file=sys.stderr)
        sys.exit(e.exit_code)
