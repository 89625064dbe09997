"""The tidy tables that scoring makes and every figure is computed from.

Four tables, each with the same columns and dtypes however few rows it has, and one dict about
where they come from. They are written as CSV that any program can open and that comes back exactly
as it was: same scores, same bytes.
"""

from __future__ import annotations

import ast
import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ocr_pipeline.errors import OutputError, UnreadableFileError, UsageError

CONSENSUS = -1
"""The `run` of rows that hold what all runs of a document together say."""

VALUES: Mapping[str, str] = {
    "document": "str",  # name of the file
    "sheet": "str",  # the sheet it is a transmission of
    "transmission": "int64",  # 0-based
    "severity": "int64",
    "run": "int64",  # 0-based; CONSENSUS for that of all runs
    "field": "str",  # field of the order, or column of its lines
    "row": "Int64",  # 0-based true line (read line, where `extra`); <NA> for a field of the order
    "extra": "bool",  # read and not in the truth: counted, in no denominator of accuracy
    "kind": "str",  # kind of the schema: money number percent date code phone name unit text
    "name_kind": "str",  # how synth made the company name; empty for everything else
    "truth": "str",
    "raw": "str",  # the text that was read
    "read": "str",  # the typed value as text; empty when there is none
    "state": "str",  # FieldState
    "raw_right": "bool",
    "right": "bool",  # the score: equal typed values
    "folded_right": "bool",
    "cer": "float64",  # edits per true character of a name or text; NaN for other kinds
    "error": "str",  # of eval.align.ERRORS; empty when right
    "flagged": "bool",  # a person was told
    "codes": "tuple",  # tuple of the codes of the value's own flags
    "confidence": "float64",
    "votes": "float64",  # share of the runs behind the winner; NaN for a single run
    "ink": "float64",  # least ink survival of the true value's prints; NaN when unknown
    "page": "Int64",  # 1-based page it was read on
    "quad": "quad",  # four points in stored pixels of that page, or None
    "true_page": "Int64",  # 1-based page of its first print, when known
    "true_quad": "quad",  # its quad, when known
}
"""Columns of `Scores.values`, one row per (document, run, value) → dtype. Beside the dtypes of
pandas: `tuple`, `dict` and `quad` (four points or None), which are `object` there."""

DOCUMENTS: Mapping[str, str] = {
    "document": "str",
    "sheet": "str",
    "transmission": "int64",
    "severity": "int64",
    "run": "int64",
    "status": "str",  # DocumentStatus
    "outcome": "str",  # of eval.documents.OUTCOMES
    "error": "str",  # the reason when it failed
    "strict": "bool",  # every reply could be parsed as it stood
    "repairs": "tuple",  # tuple of the parser's repair codes, without repetition
    "pages": "int64",
    "orders": "int64",  # found in it
    "tables": "int64",
    "rows_true": "int64",
    "rows_read": "int64",
    "rows_in_order": "bool",  # the lines that were found stand in their true order
    "order_right": "bool",  # every value typed right and no line too many
    "flagged": "bool",  # anything of it has to be looked at
    "order_flags": "tuple",  # tuple of the codes of flags of the order as a whole
    "seconds": "float64",  # of the engine; NaN when unknown
    "tokens": "float64",
    "stats": "dict",  # dict: the engine's own measures, summed over pages (and runs)
}
"""Columns of `Scores.documents`, one row per (document, run) → dtype."""

CHECKLIST: Mapping[str, str] = {
    "document": "str",
    "sheet": "str",
    "transmission": "int64",
    "severity": "int64",
    "run": "int64",
    "item": "str",  # name of the field, with [line] (1-based) for a line's
    "truth": "str",  # as printed
    "right": "bool",
}
"""Columns of `Scores.checklist`: the items a preset scores one by one (`article`: twenty)."""

CURVE: Mapping[str, str] = {
    "document": "str",
    "sheet": "str",
    "severity": "int64",
    "k": "int64",  # how many runs vote
    "values": "float64",  # true ones
    "right": "float64",  # mean number of them over subsets of k runs; so are the next two
    "flagged": "float64",
    "silent": "float64",  # wrong and not flagged
    "seconds": "float64",  # that k runs take; NaN when unknown
    "tokens": "float64",
}
"""Columns of `Scores.curve`: what the consensus of k runs says (`eval.consensus.curve`)."""


@dataclass(frozen=True, eq=False)
class Scores:
    """What became of every true value, in every run.

    Attributes:
        values: one row per (document, run, value); columns `VALUES`.
        documents: one row per (document, run); columns `DOCUMENTS`.
        checklist: one row per (document, run, item); columns `CHECKLIST`; often empty.
        curve: one row per (document, k); columns `CURVE`.
        about: plain data on where this comes from: engine, model, options, runs, seed, schema,
            sheets, bench, versions, machine …
    """

    values: pd.DataFrame
    documents: pd.DataFrame
    checklist: pd.DataFrame = field(default_factory=lambda: frame([], CHECKLIST))
    curve: pd.DataFrame = field(default_factory=lambda: frame([], CURVE))
    about: Mapping[str, Any] = field(default_factory=dict)


def frame(rows: Iterable[Mapping[Any, Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    """A table of some rows, with exactly these columns and dtypes."""
    listed = list(rows)
    return pd.DataFrame(
        {
            name: pd.Series([r[name] for r in listed], dtype="object" if kind in _OBJECTS else kind)
            for name, kind in columns.items()
        }
    )


_OBJECTS = ("tuple", "dict", "quad")


_TABLES = {"values": VALUES, "documents": DOCUMENTS, "checklist": CHECKLIST, "curve": CURVE}


def save(scores: Scores, folder: Path) -> None:
    """Write each table as `NAME.csv`, and `about.json`, into a folder.

    Raises:
        OutputError: they cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, columns in _TABLES.items():
            _write(getattr(scores, name), columns, folder / f"{name}.csv")
        text = json.dumps(scores.about, ensure_ascii=False, indent=1, sort_keys=True)
        (folder / "about.json").write_text(text + "\n", encoding="utf-8")
    except OSError as e:
        raise OutputError(
            f"the scores cannot be written to {folder}: {e}", remedy="choose another folder with -o"
        ) from e


def load(folder: Path) -> Scores:
    """Read back what `save` wrote, with all types.

    Raises:
        UsageError: there are no scores in the folder.
        UnreadableFileError: they are not of this form.
    """
    if not (folder / "values.csv").is_file():
        raise UsageError(
            f"there are no scores in {folder}",
            remedy="make them: ocr-pipeline eval score FOLDER",
        )
    try:
        tables = {n: _read(folder / f"{n}.csv", columns) for n, columns in _TABLES.items()}
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, SyntaxError, csv.Error) as e:
        raise UnreadableFileError(
            f"the scores in {folder} cannot be used: {e!r}",
            remedy="score the runs again: ocr-pipeline eval score FOLDER",
        ) from e
    return Scores(**tables, about=about)


def _write(table: pd.DataFrame, columns: Mapping[str, str], path: Path) -> None:
    cells = [[_texts[kind](v) for v in table[name]] for name, kind in columns.items()]
    # A lone surrogate, as a broken model may write it, must come back like everything else.
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*cells, strict=True))


def _read(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    with path.open(encoding="utf-8", errors="surrogatepass", newline="") as file:
        rows = list(csv.DictReader(file))
    read = {name: _values[kind] for name, kind in columns.items()}
    return frame(({n: read[n](row[n]) for n in columns} for row in rows), columns)


def _float_text(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


_texts: Mapping[str, Callable[[Any], str]] = {
    "str": str,
    "int64": str,
    "Int64": lambda v: "" if pd.isna(v) else str(v),
    "bool": lambda v: str(int(v)),
    "float64": _float_text,
    "tuple": lambda v: repr(v) if v else "",
    "dict": lambda v: repr(v) if v else "",
    "quad": lambda v: "" if v is None else repr(v),
}
_values: Mapping[str, Callable[[str], Any]] = {
    "str": str,
    "int64": int,
    "Int64": lambda t: int(t) if t else pd.NA,
    "bool": lambda t: t == "1",
    "float64": lambda t: float(t) if t else math.nan,
    "tuple": lambda t: ast.literal_eval(t) if t else (),
    "dict": lambda t: ast.literal_eval(t) if t else {},
    "quad": lambda t: ast.literal_eval(t) if t else None,
}
