"""From a wish for sheets to what is to be written: one job a sheet, each on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ocr_pipeline.errors import UsageError
from synth import files
from synth.chain import change
from synth.gallery import square_png
from synth.names import NameKind
from synth.presets import make_article
from synth.seeds import stream
from synth.severity import WORST
from synth.sheet import Sheet, make_sheet, rechained


@dataclass(frozen=True)
class Job:
    """One sheet to make.

    Attributes:
        name: of the file, without extension.
        seed: of the sheet.
        severity: 0..5.
        form: `tif`, `pdf` or `png`.
        layout: name, or `any`.
        preset: `article`, or nothing.
        marks: seals, stamps and pen.
        pool: of fonts.
        lines: fewest and most.
        kinds: of company names.
        errors: sender error rate.
        changes: (`step.field`, value) pairs that replace what the severity drew.
        extras: pictures wanted as well, of `preview`, `clean`, `pairs`.
    """

    name: str
    seed: int
    severity: int
    form: str = "tif"
    layout: str = "any"
    preset: str = ""
    marks: bool = True
    pool: str = "packaged"
    lines: tuple[int, int] = (3, 12)
    kinds: tuple[NameKind, ...] = tuple(NameKind)
    errors: float = 0.0
    changes: tuple[tuple[str, str], ...] = ()
    extras: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Made:
    """A sheet as files.

    Attributes:
        name: of the sheet's file.
        files: path below the output folder → content, the sheet's file among them.
        short: its entry in `truth.json`.
        long: its `truth/<file>.json`.
        markdown: of each page.
        pictures: paths of the preview of each page.
        pairs: paths of the training picture of each page.
    """

    name: str
    files: dict[str, bytes]
    short: dict[str, Any]
    long: dict[str, Any]
    markdown: tuple[str, ...]
    pictures: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()


def severities(text: str) -> tuple[int, ...]:
    """`2`, `0-5` or `0,3,5` as numbers.

    Raises:
        UsageError: anything else.
    """
    found: list[int] = []
    try:
        for part in text.split(","):
            low, _, high = part.partition("-")
            found += range(int(low), int(high or low) + 1)
    except ValueError:
        found = []
    if not found or min(found) < 0 or max(found) > WORST:
        raise UsageError(f"{text!r} is no severity", remedy=f"give 2, 0-{WORST} or 0,3,5")
    return tuple(found)


def name_kinds(text: str) -> tuple[NameKind, ...]:
    """`any` or kinds separated by commas.

    Raises:
        UsageError: no such kind.
    """
    if text == "any":
        return tuple(NameKind)
    try:
        return tuple(NameKind(k) for k in text.split(","))
    except ValueError as error:
        kinds = ", ".join(NameKind)
        raise UsageError(f"{text!r} is no kind of name", remedy=f"any, or of {kinds}") from error


def sheet_seed(seed: int, index: int) -> int:
    """The seed of the sheet with this index in a run: runs with other seeds share none."""
    return int(stream(seed, "sheet", index).integers(2**31))


def sheet_of(job: Job) -> Sheet:
    """Make the sheet of a job."""
    if job.preset == "article":
        sheet = make_article(job.seed, severity=job.severity, marks=job.marks)
    else:
        sheet = make_sheet(
            job.seed,
            severity=job.severity,
            layout=job.layout,
            marks=job.marks,
            pool=job.pool,
            lines=job.lines,
            name_kinds=job.kinds,
            sender_error_rate=job.errors,
        )
    if job.changes:
        chain = sheet.chain
        for parameter, value in job.changes:
            chain = change(chain, parameter, value)
        sheet = rechained(sheet, chain)
    return sheet


def make(job: Job) -> Made:
    """Make a sheet and everything that is written of it."""
    sheet = sheet_of(job)
    # A PNG holds one page; an order of several becomes a PDF rather than pieces of an order.
    form = "pdf" if job.form == "png" and len(sheet.pages) > 1 else job.form
    container = files.draw_container(form, job.seed)
    name = f"{job.name}.{form}"
    written = {name: files.file_bytes(sheet.pages, container)}
    long = files.long_truth(sheet, name, container)
    written[f"truth/{name}.json"] = files.to_json(long).encode()
    written[f"{name}.md"] = "\n".join(sheet.truth.markdown).encode()
    numbers = range(1, len(sheet.pages) + 1)
    pictures: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    if "preview" in job.extras:
        pictures = tuple(f"preview/{name}.{n}.png" for n in numbers)
        written |= {
            path: square_png(plate, 1100) for path, plate in zip(pictures, sheet.pages, strict=True)
        }
    if "pairs" in job.extras:
        pairs = tuple(f"pairs/{name}.{n}.png" for n in numbers)
        written |= {
            path: square_png(plate, plate.image.shape[1])
            for path, plate in zip(pairs, sheet.pages, strict=True)
        }
    if "clean" in job.extras:
        dpi = (sheet.scale * 25.4, sheet.scale * 25.4)
        written |= {
            f"clean/{name}.{n}.png": files.png(image, dpi)
            for n, image in zip(numbers, sheet.clean, strict=True)
        }
    return Made(
        name, written, files.short_truth(sheet), long, sheet.truth.markdown, pictures, pairs
    )


def truth_json(made: Sequence[Made]) -> str:
    """`truth.json` of a folder: file → severity, fields, rows."""
    return files.to_json({m.name: m.short for m in made})


def pairs_jsonl(made: Sequence[Made]) -> str:
    """(image, Markdown) pairs, one page a line, for fine-tuning."""
    return "".join(
        files.to_line({"image": image, "markdown": text})
        for m in made
        for image, text in zip(m.pairs, m.markdown, strict=True)
    )
