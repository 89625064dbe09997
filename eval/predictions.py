"""What somebody else's system read, as Markdown or JSON files, made into runs that can be scored.

A file belongs to the sheet whose name it begins with, with or without the sheet's own suffix:

    0001.tif.md   0001.md   0001.json            one answer a sheet
    0001.run0.md  0001.run1.md                   several runs
    run0/0001.md  run1/0001.md                   the same, a folder a run

Markdown (`.md`, `.txt`, `.html`) is parsed like a model's reply, however odd its tables; form feeds
part pages. JSON is a record of `ocr-pipeline read`, or an object with `fields` and `rows`, or one
with the fields on its top level and a list of lines. A single JSON file may hold all sheets, as
`truth.json` does. Fields may be named as the form names them or as they are printed (発注番号).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from eval.cases import Case
from eval.documents import Run, failed_run, run_of, run_of_record
from eval.levels import plain
from eval.outcomes import Form
from eval.scoring import RunSet
from ocr_pipeline.engines.base import Reading
from ocr_pipeline.errors import UnreadableFileError, UsageError
from ocr_pipeline.export.record import from_json
from ocr_pipeline.orders import text
from ocr_pipeline.orders.model import ABSENT, Candidate, FieldState, FieldValue, Order
from ocr_pipeline.orders.schema import FieldSpec
from ocr_pipeline.orders.values import read
from ocr_pipeline.tables.markdown import parse

TEXTS = (".md", ".markdown", ".txt", ".html", ".htm")
MISSING = "there is no prediction for this sheet"
_RUN = re.compile(r"(?:^|[._-])run[_-]?(\d+)$", re.IGNORECASE)
_LINES = ("rows", "items", "lines", "明細")
_PAGE_BREAK = "\f"


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer for one sheet.

    Attributes:
        document: the sheet.
        run: 0-based.
        content: gives Markdown, or the JSON value of an order; raises `UnreadableFileError`.
        path: the file it came from.
    """

    document: str
    run: int
    content: Callable[[], str | Mapping[str, Any]]
    path: Path


def prediction_sets(source: Path, cases: Mapping[str, Case], form: Form) -> list[RunSet]:
    """The predictions for each sheet, in the order of the truth.

    A sheet without any has failed, and nobody is told: a silent gap is the worst of errors. One
    that cannot be read fails its sheet and no other.

    Args:
        source: a folder of predictions, or one JSON file with all of them.
        cases: the truth.
        form: its form.

    Raises:
        UsageError: there are no predictions for any of the sheets.
        UnreadableFileError: the one file with all of them is no JSON object.
    """
    answers: dict[str, dict[int, Run]] = {name: {} for name in cases}
    for found in _found(source, cases):
        held = answers[found.document]
        if found.run in held:
            raise UsageError(
                f"{found.path} is a second prediction for {found.document}, run {found.run}",
                remedy="keep one, or name them NAME.run0.md, NAME.run1.md …",
            )
        held[found.run] = _run_of(found, form)
    if not any(answers.values()):
        raise UsageError(
            f"nothing in {source} belongs to a sheet of the truth",
            remedy="name the files like the sheets: 0001.tif → 0001.md or 0001.json",
        )
    count = 1 + max(k for held in answers.values() for k in held)
    sets = []
    for name, case in cases.items():
        form.require(case)
        runs = tuple(answers[name].get(k) or failed_run(MISSING) for k in range(count))
        sets.append(RunSet(case, runs, form, told=bool(answers[name])))
    return sets


def record_sets(folder: Path, cases: Mapping[str, Case], form: Form) -> list[RunSet]:
    """The records that `ocr-pipeline read` wrote, each as the one answer of the whole product.

    `read a/b` names a document by its folder, the truth file by its name alone.

    Raises:
        UsageError: there are no records, or none belongs to the truth.
    """
    records = {}
    for path in records_in(folder):
        record = from_json(_text(path))
        records[record.source if record.source in cases else Path(record.source).name] = record
    sets = []
    for name, case in cases.items():
        form.require(case)
        found = records.get(name)
        run = run_of_record(found) if found else failed_run(MISSING)
        sets.append(RunSet(case, (run,), form, told=found is not None))
    return sets


def records_in(folder: Path) -> list[Path]:
    """The records that `ocr-pipeline read` wrote to a folder.

    Raises:
        UsageError: there is no such folder, or there are none in it.
    """
    found = sorted((folder / "documents").rglob("*.json"))
    if not found:
        what = "are no runs in it, and no records" if folder.is_dir() else "is no such folder"
        raise UsageError(
            f"{folder}: there {what}",
            remedy="give a folder that `eval run -o` or `read -o` wrote, or --predictions DIR",
        )
    return found


def _found(source: Path, cases: Mapping[str, Case]) -> Iterator[Prediction]:
    if source.is_file():
        for name, value in _json(source).items():
            if name in cases:
                yield Prediction(name, 0, partial(_mapping, value, source), source)
        return
    if not source.is_dir():
        raise UsageError(f"there is no {source}", remedy="give --predictions DIR or a JSON file")
    names = {Path(n).with_suffix("").as_posix(): n for n in cases} | {n: n for n in cases}
    for path in sorted(source.rglob("*")):
        suffix = path.suffix.lower()
        if suffix not in (*TEXTS, ".json") or not path.is_file():
            continue
        relative = path.relative_to(source)
        key, run = relative.with_suffix("").as_posix(), 0
        if number := _RUN.search(key):
            key, run = key[: number.start()], int(number[1])
        elif number := _RUN.fullmatch(relative.parts[0]):
            key, run = key.partition("/")[2], int(number[1])
        if key in names:
            content = partial(_json if suffix == ".json" else _text, path)
            yield Prediction(names[key], run, content, path)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as e:
        raise UnreadableFileError(
            f"{path} cannot be read: {e}", remedy="save it as UTF-8 text"
        ) from e


def _json(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(_text(path))
    except ValueError as e:
        raise UnreadableFileError(f"{path} is no JSON: {e}", remedy="mend the file") from e
    return _mapping(value, path)


def _mapping(value: object, path: Path) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnreadableFileError(
            f"{path} holds a {type(value).__name__}", remedy='write {"fields": {…}, "rows": […]}'
        )
    return value


def _run_of(found: Prediction, form: Form) -> Run:
    try:
        return _read(found, form)
    except UnreadableFileError as e:
        return failed_run(e.message)


def _read(found: Prediction, form: Form) -> Run:
    content = found.content()
    if isinstance(content, str):
        return run_of_markdown(content, form)
    if "orders" in content and "readings" in content:
        return run_of_record(from_json(_text(found.path)))
    try:
        return run_of_values(content, form)
    except (TypeError, AttributeError, ValueError) as e:
        raise UnreadableFileError(
            f"{found.path} is no order: {e}", remedy='write {"fields": {…}, "rows": […]}'
        ) from e


def run_of_markdown(content: str, form: Form) -> Run:
    """A run from a reply in Markdown."""
    pages = [*enumerate(content.split(_PAGE_BREAK), start=1)]
    readings = [Reading("prediction", page=n, raw=raw) for n, raw in pages]
    return run_of(readings, [parse(raw, page=n) for n, raw in pages], form.schema)


def run_of_values(values: Mapping[str, Any], form: Form) -> Run:
    """A run from an order in JSON: `{fields, rows}`, or the fields flat beside a list of lines."""
    lines: Sequence[Any] = next((values[k] for k in _LINES if k in values), ())
    fields = values.get("fields", {k: v for k, v in values.items() if k not in _LINES})
    order = Order(
        _typed(fields, form.fields), tuple(_typed(line, form.rows) for line in lines), pages=(1,)
    )
    said = "\n".join(plain(v.raw) for part in (order.fields, *order.rows) for v in part.values())
    empty = not any(v.raw for part in (order.fields, *order.rows) for v in part.values())
    return Run(orders=() if empty else (order,), text=said)


def _typed(values: Mapping[str, Any], specs: Mapping[str, FieldSpec]) -> dict[str, FieldValue]:
    """All fields of a form from the plain values of some; unknown names are passed over."""
    labels = {text.label(a): n for n, s in specs.items() for a in (*s.aliases, s.label)}
    given = {labels.get(text.label(k), ""): v for k, v in values.items()}
    given |= {k: v for k, v in values.items() if k in specs}
    return {n: _field(spec, given[n]) if n in given else ABSENT for n, spec in specs.items()}


def _field(spec: FieldSpec, value: object) -> FieldValue:
    """A value as it is given: nothing in it is mended, for it is no reading but an answer."""
    if isinstance(value, Mapping | list | bool):
        raise ValueError(f"{spec.name} is a {type(value).__name__}, not a text or a number")
    raw = "" if value is None else str(value)
    parsed = read(spec.kind, raw)
    field = FieldValue(parsed.state, raw, parsed.value, confidence=1.0, repairs=parsed.repairs)
    if parsed.state is FieldState.READ:
        field = replace(field, candidates=(Candidate(parsed.value, 1),))
    return field.flagged(parsed.reason) if parsed.reason else field
