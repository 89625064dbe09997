"""`sheets`: makes a folder of synthetic faxes with their truth."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from ocr_pipeline.errors import OcrPipelineError, OutputError, UsageError
from synth.gallery import contact_sheet, gallery
from synth.making import (
    Job,
    Made,
    make,
    name_kinds,
    pairs_jsonl,
    severities,
    sheet_seed,
    truth_json,
)
from synth.sheet import make_sheet

app = typer.Typer(add_completion=False)


def _changes(pairs: list[str]) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{pair!r} sets nothing", remedy="write it as scan.skew_deg=1.5")
        found.append((name, value))
    return tuple(found)


def _lines(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    try:
        found = int(low), int(high or low)
    except ValueError as error:
        raise UsageError(f"{text!r} is no range", remedy="write --lines 3-12") from error
    if not 1 <= found[0] <= found[1] <= 120:
        raise UsageError(f"{text!r} lines make no order", remedy="use 1 to 120, e.g. 3-12")
    return found


def _made(jobs: list[Job], workers: int) -> Iterator[Made]:
    if workers == 1:
        yield from map(make, jobs)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(make, jobs)


def _write(out: Path, path: str, data: bytes) -> None:
    target = out / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except OSError as error:
        raise OutputError(
            f"cannot write {target}: {error}", remedy="choose another folder with -o"
        ) from error


@app.command()
def sheets(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many sheets (orders).")] = 10,
    severity: Annotated[
        str, typer.Option(help="0 (clean scan) to 5; `0-5` and `1,3` take turns.")
    ] = "2",
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same bytes.")] = 0,
    layout: Annotated[str, typer.Option(help="Name of a layout, or `any`.")] = "any",
    form: Annotated[
        str, typer.Option("--format", help="tif (all variants of TIFF-F), pdf, png.")
    ] = "tif",
    preset: Annotated[str, typer.Option(help="`article`: the sheet of a published test.")] = "",
    lines: Annotated[str, typer.Option(help="Fewest and most lines of an order.")] = "3-12",
    names: Annotated[
        str,
        typer.Option(help="Company names: any, random, pronounceable, minimal_pair, dictionary."),
    ] = "any",
    fonts: Annotated[
        str, typer.Option(help="`packaged` (the same everywhere), or `any` of the system's too.")
    ] = "packaged",
    marks: Annotated[bool, typer.Option(help="Seals, stamps and pen.")] = True,
    sender_errors: Annotated[
        float, typer.Option(min=0, max=1, help="Share of orders with a mistake of their sender.")
    ] = 0.0,
    same_order: Annotated[
        bool, typer.Option("--same-order", help="Write every order once at each severity.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Fix a parameter of the chain, e.g. scan.skew_deg=1.5."),
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Write preview.html.")] = False,
    clean: Annotated[bool, typer.Option("--clean", help="Write the undamaged twins.")] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Write pairs.jsonl (image, Markdown) for fine-tuning.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Make synthetic faxed purchase orders whose truth and damage are known.

    Writes the sheets, truth.json (file → severity, fields, rows), truth/<file>.json (quads, ink
    survival, marks, chain) and <file>.md (the true transcription).
    """
    if preset not in ("", "article"):
        raise UsageError(f"no preset is called {preset!r}", remedy="the one there is: article")
    levels = severities(severity)
    wanted = {"preview": preview, "clean": clean, "pairs": jsonl}
    turns = [(i, s) for i in range(n) for s in levels] if same_order else [
        (i, levels[i % len(levels)]) for i in range(n)
    ]  # fmt: skip
    jobs = [
        Job(
            name=f"{i:04d}_s{level}",
            seed=sheet_seed(seed, i),
            severity=level,
            form=form,
            layout=layout,
            preset=preset,
            marks=marks and not preset,
            pool=fonts,
            lines=_lines(lines),
            kinds=name_kinds(names),
            errors=sender_errors,
            changes=_changes(set_ or []),
            extras=tuple(k for k, v in wanted.items() if v),
        )
        for i, level in turns
    ]
    made: list[Made] = []
    console = Console(stderr=True)
    for sheet in track(_made(jobs, workers), "sheets", len(jobs), console=console, disable=quiet):
        for path, data in sheet.files.items():
            _write(out, path, data)
        # The pictures are written; only what the lists need is kept in memory.
        sheet.files.clear()
        made.append(sheet)
    _write(out, "truth.json", truth_json(made).encode())
    if jsonl:
        _write(out, "pairs.jsonl", pairs_jsonl(made).encode())
    if preview:
        page = gallery([m.long for m in made], [m.pictures for m in made])
        _write(out, "preview.html", page.encode())
    if not quiet:
        console.print(f"{len(made)} sheets in {out}; truth in {out / 'truth.json'}")


@app.command()
def contact(
    out: Annotated[Path, typer.Option("-o", "--out", help="PNG file to write.")],
    seed: Annotated[int, typer.Option(min=0)] = 7,
    layout: Annotated[str, typer.Option(help="Name of a layout, or `any`.")] = "full_grid",
) -> None:
    """One order at all severities, side by side in one picture."""
    plates = [make_sheet(seed, severity=s, layout=layout).pages[0] for s in severities("0-5")]
    _write(out.parent, out.name, contact_sheet(plates))


def main() -> None:
    """Entry point of `python -m synth`; errors become one message and an exit code."""
    try:
        app()
    except OcrPipelineError as error:
        Console(stderr=True).print(f"error: {error}", style="red", markup=False, highlight=False)
        sys.exit(error.exit_code)
