"""What the commands have in common: sheets, settings, reading, scores, report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from eval import consensus
from eval.cases import load_cases
from eval.outcomes import Form
from eval.runs import Plan, about_of, perform, run_sets
from eval.scoring import RunSet, score
from eval.tidy import CURVE, Scores, frame
from ocr_pipeline.batch.reader import usual_workers
from ocr_pipeline.engines.registry import prepare_engine, require
from ocr_pipeline.errors import OcrPipelineError, UsageError
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.pages.load import read_scans
from ocr_pipeline.pages.page import Gray
from ocr_pipeline.settings import Settings

INTERRUPTED = 130


def plan_of(sheets: Path | None, bench: str, truth: Path | None, limit: int) -> Plan:
    """The sheets to run on: those of a folder or, without one, of a bench set."""
    name = "" if sheets is not None else Path(bench).stem
    folder = sheets if sheets is not None else bench_folder(bench)
    path = truth or folder / "truth.json"
    cases = load_cases(path)
    if limit:
        cases = dict(list(cases.items())[:limit])
    return Plan(folder, path, cases, name)


def bench_folder(name: str) -> Path:
    """Where the sheets of a bench set are; they are made when they are not there.

    Raises:
        MissingExtraError: the generator is not installed.
    """
    require("synth", "fontTools", "pylopdf_fonts_jp", "matplotlib_fontja", what="a bench set")
    from eval.bench import load_bench, make_bench  # noqa: PLC0415  (needs an extra)

    with _progress("making the sheets") as told:
        return make_bench(*load_bench(name), progress=told)


def settings_of(
    schema: str, engine: str, model: str, option: list[str] | None, runs: int, seed: int
) -> Settings:
    """Build the settings, and find out now whether the engine takes them."""
    pairs = {}
    for text in option or []:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-O {text!r} sets nothing", remedy="write -O key=value")
        pairs[key.strip()] = value.strip()
    prepare_engine(engine, model, pairs)
    return Settings(load_schema(schema), engine, model, pairs, runs, seed)


def read(
    plan: Plan, settings: Settings, out: Path, workers: int, time_limit: float, fresh: bool
) -> None:
    """Run the engine over the sheets.

    Raises:
        typer.Exit: it was broken off.
    """
    with _progress("reading") as told:
        finished = perform(
            plan,
            settings,
            out,
            workers=min(workers or usual_workers(), len(plan.cases)),
            time_limit=time_limit or None,
            fresh=fresh,
            progress=told,
        )
    if not finished:
        Console(stderr=True).print("broken off: the same command goes on from here")
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on the terminal, and what moves it."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def scores_of_runs(folder: Path, truth: Path | None, schema: str, partial: bool) -> Scores:
    """Score a folder of runs; `truth` goes instead of the one that was run on."""
    about = about_of(folder)
    cases = load_cases(truth or Path(about["truth"]))
    # Only what was run: a limited run says nothing about the other sheets.
    cases = {name: case for name, case in cases.items() if name in about["files"]}
    form = Form(load_schema(schema))
    return scored(run_sets(folder, cases, form, partial=partial), about)


def scored(sets: Iterable[RunSet], about: dict[str, Any]) -> Scores:
    """Score runs, with the curve of their consensus."""
    kept = list(sets)
    curve = consensus.curve(kept)
    return replace(score(kept, about), curve=frame(curve.to_dict("records"), CURVE))


def require_report() -> None:
    """Find out whether a report can be written.

    Raises:
        MissingExtraError: it cannot.
    """
    require("eval", "jinja2", "matplotlib", "matplotlib_fontja", what="the report")


def written(scores: Scores, out: Path) -> Path:
    """Write the report, and return the path of its page."""
    require_report()
    from eval.report import write_report  # noqa: PLC0415  (needs an extra)

    about = scores.about
    parts = (about["engine"], Path(about.get("model", "")).name, about.get("bench", ""))
    title = " · ".join(part for part in parts if part)
    return write_report(scores, out, title=title, images=_images(Path(about["sheets"])))


def _images(sheets: Path) -> Callable[[str, int], Gray | None]:
    """Pages as they are stored, for the pictures of values; None where the scans are gone."""

    def image(document: str, page: int) -> Gray | None:
        try:
            found = (s.image for s in read_scans(sheets / document) if s.number == page)
            return next(found, None)
        except OcrPipelineError:
            return None

    return image
