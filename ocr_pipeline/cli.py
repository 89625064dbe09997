"""The commands: the one place where settings are built and results are printed."""

from __future__ import annotations

import sys
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ocr_pipeline import __version__
from ocr_pipeline.batch.run import Step, run_batch
from ocr_pipeline.batch.scans import find_scans
from ocr_pipeline.batch.summary import Report
from ocr_pipeline.engines.registry import prepare_engine, require
from ocr_pipeline.errors import EXIT_SOME_FAILED, OcrPipelineError, UsageError
from ocr_pipeline.export.record import DocumentStatus
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.settings import DEFAULT_RUNS, Settings

app = typer.Typer(
    name="ocr-pipeline",
    help="Faxed Japanese purchase orders become checked orders: CSV, Excel, JSON, "
    "and a short list of the fields a person must look at.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

NOT_READ = (DocumentStatus.FAILED, DocumentStatus.DAMAGED, DocumentStatus.INCOMPLETE)
"""Documents of which something is missing, so that the batch does not count as all read."""


class CsvEncoding(StrEnum):
    """Encodings that Excel in Japan opens."""

    UTF8 = "utf-8-sig"
    CP932 = "cp932"


class TableFormat(StrEnum):
    """Kinds of tables."""

    CSV = "csv"
    XLSX = "xlsx"


Scans = Annotated[
    list[Path],
    typer.Argument(
        help="Files and folders (folders with all that is in them): TIFF, PDF, PNG, JPEG.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")]
EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="What reads the pages; `ocr-pipeline doctor` lists them. Several, with commas "
        "between, take turns and vote: `--engine ppocr,diffusiongemma --runs 4`.",
    ),
]
Model = Annotated[
    str,
    typer.Option("--model", help="Model of the engine: a hub id or a folder.", show_default=False),
]
Options = Annotated[
    Optional[list[str]],  # noqa: UP045  (typer reads it)
    typer.Option(
        "--option",
        "-O",
        metavar="KEY=VALUE",
        help="A setting of the engine (of several: `engine.key=value`); may be repeated.",
    ),
]
Runs = Annotated[
    int,
    typer.Option(
        "--runs",
        min=1,
        max=99,
        help="How often each page is read. What the runs do not agree on is flagged: one run is "
        "fastest, three find most errors.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of the first run; the same seed repeats a run.")
]
SchemaName = Annotated[
    str,
    typer.Option("--schema", help="The form: a name that ships with the package, or a YAML file."),
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", "-j", min=0, help="Documents read at once; 0 is one for every two cores."
    ),
]
Fresh = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help="Start over: forget what OUT holds of earlier runs, and read everything named now.",
    ),
]
TimeLimit = Annotated[
    float,
    typer.Option("--time-limit", min=0, help="Seconds a document may take; 0 is no limit."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print a line for every document, and all warnings.")
]


@app.command()
def read(
    scans: Scans,
    out: Out = Path("out"),
    engine: EngineName = "ppocr",
    model: Model = "",
    option: Options = None,
    runs: Runs = DEFAULT_RUNS,
    seed: Seed = 0,
    schema: SchemaName = "purchase_order",
    workers: Workers = 0,
    fresh: Fresh = False,
    time_limit: TimeLimit = 600.0,
    formats: Annotated[
        Optional[list[TableFormat]],  # noqa: UP045
        typer.Option("--format", help="Which tables to write; both by default. May be repeated."),
    ] = None,
    csv_encoding: Annotated[
        CsvEncoding,
        typer.Option(
            help="`utf-8-sig` opens in Excel by a double click; `cp932` is for older systems (what "
            "it cannot write is reported)."
        ),
    ] = CsvEncoding.UTF8,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Read scanned purchase orders.

    A batch can be broken off and started again: what is done is skipped, what failed is tried
    again. One broken file never stops the others; it is in the list of what to check.

    **Results in OUT:** `orders.xlsx` (発注, 明細, 要確認), `orders.csv`, `lines.csv`, `review.csv`,
    `documents/*.json` and `*.md`, `ledger.sqlite`, `run.json`.

    OUT gathers what is read into it; the tables hold all of it until `--fresh`.

    **Exit code:** 0 all read; 10 some documents failed, are damaged or incomplete; 130 broken off;
    2 wrong call, 3 unreadable input, 4 wrong schema, 5 the engine cannot run, 6 cannot write.
    """
    from ocr_pipeline.batch.reader import MakeReader, usual_workers
    from ocr_pipeline.pages.load import SUPPORTED_SUFFIXES

    console = Console(quiet=quiet, stderr=False)
    settings = _settings(schema, engine, model, option, runs, seed)
    count = workers or usual_workers(engine)
    found = find_scans(scans, SUPPORTED_SUFFIXES, out=out)
    if not found.scans:
        raise UsageError(
            "there is nothing to read there",
            remedy=f"give files of these kinds: {' '.join(sorted(SUPPORTED_SUFFIXES))}",
        )
    count = min(count, len(found.scans))
    with _progress(console) as progress:
        task = progress.add_task("reading", total=len(found.scans), flags=0)
        flags = 0

        def step(s: Step) -> None:
            nonlocal flags
            flags += s.flags
            progress.update(task, completed=s.done, flags=flags)
            if verbose:
                how = "done before" if s.resumed else f"{s.seconds:.1f} s"
                progress.console.print(
                    f"{escape(s.source)}: {s.status}, {s.flags} to check ({how})", highlight=False
                )

        report = run_batch(
            found,
            out,
            MakeReader(settings, count),
            form=settings.schema,
            settings=settings.as_dict() | {"workers": count},
            fingerprint=settings.fingerprint(__version__),
            seeds=[seed + k for k in range(runs)],
            workers=count,
            time_limit=time_limit or None,
            fresh=fresh,
            formats=[f.value for f in formats or list(TableFormat)],
            csv_encoding=csv_encoding.value,
            progress=step,
        )
    _print_report(console, report, out, verbose)
    if report.interrupted:
        raise typer.Exit(130)
    if any(report.counts.get(status) for status in NOT_READ):
        raise typer.Exit(EXIT_SOME_FAILED)


@app.command()
def denoise(
    scan: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(metavar="PAGE", help="The scan to watch being read.", show_default=False),
    ] = None,
    prompt: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Send this text instead of a page.", show_default=False),
    ] = None,
    engine: EngineName = "diffusiongemma",
    model: Model = "",
    option: Options = None,
    runs: Annotated[
        int, typer.Option("--runs", min=1, max=99, help="How often; runs are shown together.")
    ] = 1,
    seed: Seed = 0,
    page: Annotated[int, typer.Option("--page", min=1, help="Which page of the scan.")] = 1,
    heat: Annotated[
        bool,
        typer.Option("--heat", help="Colour what the model is unsure of, in drafts and for good."),
    ] = False,
    record: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--record", help="Keep what happens in this file.", show_default=False),
    ] = None,
    replay: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--replay", help="Show what was kept in this file.", show_default=False),
    ] = None,
    speed: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--speed", min=0, help="Of the replay: 1 as it was, 2 twice as fast, 0 at once."
        ),
    ] = None,
) -> None:
    """Watch a page turn into text: drafts grey, what is final plain.

    Without a terminal (a pipe, a log) there are plain lines instead.

    Without --model the small model that ships with the package is used, where there is one.

    **Exit code:** 0 done; 10 some runs failed or are incomplete; 130 broken off; 2 wrong call,
    3 unreadable input, 5 the engine cannot run, 6 cannot write.
    """
    from ocr_pipeline.denoise.command import Watch, watch, watch_again

    if sum(x is not None for x in (scan, prompt, replay)) != 1:
        raise UsageError(
            "it is not clear what to watch", remedy="give one: PAGE, --prompt TEXT or --replay FILE"
        )
    console = Console()
    if replay is not None:
        if record is not None:
            raise UsageError("a replay is on record already", remedy="leave --record out")
        code = watch_again(replay, console, speed=1.0 if speed is None else speed, heat=heat)
    else:
        if speed is not None:
            raise UsageError("only a replay has a speed", remedy="leave --speed out")
        wanted = Watch(scan, prompt, page, engine, model, _pairs(option), runs, seed)
        code = watch(wanted, console, record=record, heat=heat)
    if code:
        raise typer.Exit(code)


@app.command()
def doctor() -> None:
    """Say what works on this machine, what is missing, and how to get it."""
    from ocr_pipeline.doctor import diagnose

    console = Console()
    table = Table("", "what", "found", "how to get it", box=None, pad_edge=False)
    marks = {"ok": "[green]✓[/]", "optional": "[yellow]–[/]", "broken": "[red]✗[/]"}
    broken = False
    for d in diagnose():
        table.add_row(marks[d.state], d.name, escape(d.detail), escape(d.remedy))
        broken = broken or d.state == "broken"
    console.print(table)
    if broken:
        raise typer.Exit(1)


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", "-o", help="Results to look through.", show_default=False),
    ] = None,
    engine: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="NAME[=MODEL]",
            help="Engines to choose from; by default all that work here. May be repeated.",
        ),
    ] = None,
    option: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--option", "-O", metavar="ENGINE.KEY=VALUE", help="A setting of an engine; repeatable."
        ),
    ] = None,
    samples: Annotated[
        Path, typer.Option(help="Scans to try; none when there is no such folder.")
    ] = Path("datasets/samples"),
    token: Annotated[
        str,
        typer.Option(
            envvar="OCR_PIPELINE_TOKEN",
            help="What visitors must know. Made up and printed where one is needed.",
            show_default=False,
        ),
    ] = "",
    schema: SchemaName = "purchase_order",
) -> None:
    """Serve the browser: watch a page being read, look through results.

    **Exit code:** 0 when ended by Ctrl-C; 2 wrong call, 4 wrong schema, 5 a package is missing.
    """
    packages = ("fastapi", "uvicorn", "sse_starlette", "jinja2", "python_multipart")
    require("web", *packages, what="the web app")
    from ocr_pipeline.web.serve import serve as start
    from ocr_pipeline.web.serve import settings_of

    settings = settings_of(
        engine or [], option or [], schema=schema, token=token, samples=samples, out=out
    )
    # Plain lines, so that the address and the token can be copied and piped.
    start(settings, host, port, lambda line: print(line, flush=True))


_PASS_ON = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
}


@app.command("eval", context_settings=_PASS_ON, add_help_option=False)
def evaluate(context: typer.Context) -> None:
    """Score an engine on sheets whose truth is known (see `ocr-pipeline eval --help`)."""
    require("eval", "jinja2", "matplotlib", "fontTools", what="eval")
    from eval.cli import app as commands

    commands(context.args, prog_name="ocr-pipeline eval")


@app.command(context_settings=_PASS_ON, add_help_option=False)
def sheets(context: typer.Context) -> None:
    """Make synthetic faxes with their truth (see `ocr-pipeline sheets --help`)."""
    require("synth", "fontTools", "pylopdf_fonts_jp", what="making sheets")
    from synth.cli import app as commands

    commands(["sheets", *context.args], prog_name="ocr-pipeline")


def _settings(
    schema: str, engine: str, model: str, options: list[str] | None, runs: int, seed: int
) -> Settings:
    """Build the settings, and find out now whether the engine takes them."""
    pairs = _pairs(options)
    prepare_engine(engine, model, pairs)
    return Settings(load_schema(schema), engine, model, pairs, runs, seed)


def _pairs(options: list[str] | None) -> dict[str, str]:
    """The engine's own settings."""
    pairs = {}
    for text in options or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"-O {text!r} sets nothing", remedy="write -O key=value")
        pairs[key.strip()] = value.strip()
    return pairs


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[flags]} to check"),
        TimeRemainingColumn(),
        console=console,
    )


def _print_report(console: Console, report: Report, out: Path, verbose: bool) -> None:
    """The summary of a batch: what came out, where it is, what to do next."""
    counts = ", ".join(f"{n} {status}" for status, n in sorted(report.counts.items()))
    console.print(
        f"{report.read} read, {report.resumed} done before, in {report.seconds:.0f} s: {counts}",
        highlight=False,
    )
    if report.skipped:
        console.print(f"{len(report.skipped)} files of other kinds were passed over")
    shown = report.warnings if verbose else report.warnings[:5]
    for warning in shown:
        console.print(f"[yellow]![/] {escape(warning)}", highlight=False)
    if len(shown) < len(report.warnings):
        console.print(f"… {len(report.warnings) - len(shown)} more in run.json")
    for name, what in (
        ("orders.xlsx", "the orders; sheet 要確認 is the list to check"),
        ("review.csv", "the same list"),
        ("documents", "everything about each document"),
        ("run.json", "versions, settings, counts"),
    ):
        if (out / name).exists():
            console.print(f"  {escape(str(out / name))}  [dim]{what}[/]", highlight=False)
    unread = sum(n for status, n in report.counts.items() if status is not DocumentStatus.OK)
    if unread:
        console.print(f"{unread} documents without a complete order: they are in 要確認, too")
    if report.flags:
        console.print(f"{report.flags} things to check")
    elif not unread and not report.interrupted:
        console.print("nothing to check")
    if report.interrupted:
        console.print("[yellow]broken off[/]: the rest is not read yet; run the same command again")


def main() -> None:
    """Run the command line; errors meant for the user become a message and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a character must not end a batch.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except OcrPipelineError as e:
        Console(stderr=True).print(f"[red]error:[/] {escape(str(e))}", highlight=False)
        sys.exit(e.exit_code)


if __name__ == "__main__":
    main()
