"""What is only counted: errors, mishaps of runs, and the items of the article test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pandas as pd

from eval import accuracy, characters
from eval.report.figures import CheckedItem, CheckedRun, Count, ErrorCount
from eval.report.tables import records
from eval.tidy import CONSENSUS


def errors(values: pd.DataFrame) -> tuple[ErrorCount, ...]:
    """Kinds of error of values, in what all runs together say."""
    true = values[(values["run"] == CONSENSUS) & ~values["extra"]]
    of = Counter(true["severity"])
    found = records(accuracy.by_error(values))
    return tuple(ErrorCount(**row, of=of[row["severity"]]) for row in found)


def outcomes(documents: pd.DataFrame) -> tuple[Count, ...]:
    """How single runs of documents ended."""
    runs = documents[documents["run"] != CONSENSUS]
    return _counts(zip(runs["outcome"], runs["severity"], strict=True), Counter(runs["severity"]))


def repairs(documents: pd.DataFrame) -> tuple[Count, ...]:
    """What the parser mended in single runs; `strict` counts those in which it was nothing."""
    runs = documents[documents["run"] != CONSENSUS]
    found = [
        (code, severity)
        for strict, codes, severity in zip(
            runs["strict"], runs["repairs"], runs["severity"], strict=True
        )
        for code in (("strict",) if strict else codes)
    ]
    return _counts(found, Counter(runs["severity"]))


def mistakes(chars: pd.DataFrame, values: pd.DataFrame) -> tuple[Count, ...]:
    """Kinds of mistakes of characters that were made, in single runs."""
    of = Counter(chars.loc[chars["true"] != "", "severity"])
    return tuple(
        Count(row["mistake"], int(row["severity"]), int(row["count"]), of[row["severity"]])
        for row in records(characters.mistake_rates(chars, values))
        if row["count"]
    )


def _counts(found: Iterable[tuple[str, int]], of: Mapping[int, int]) -> tuple[Count, ...]:
    counted = sorted(Counter(found).items())
    return tuple(Count(name, int(s), count, of[s]) for (name, s), count in counted)


def checked_runs(checklist: pd.DataFrame) -> tuple[CheckedRun, ...]:
    """Right items of each sheet and run."""
    grouped = checklist.groupby(["severity", "document", "run"])["right"]
    table = grouped.agg(["sum", "size"]).reset_index()
    return tuple(
        CheckedRun(r["document"], int(r["severity"]), int(r["run"]), int(r["sum"]), int(r["size"]))
        for r in records(table)
    )


def checked_items(checklist: pd.DataFrame) -> tuple[CheckedItem, ...]:
    """Each item over all sheets of a severity and all runs, in the order of the sheet."""
    runs = checklist[checklist["run"] != CONSENSUS]
    keys = ["item", "severity"]
    kinds = runs.groupby([*keys, "document"])["right"].nunique().reset_index()
    flips = Counter((r["item"], r["severity"]) for r in records(kinds) if r["right"] > 1)
    grouped = runs.groupby(keys, sort=False)
    table = grouped.agg(truth=("truth", "first"), right=("right", "sum"), of=("right", "size"))
    return tuple(
        CheckedItem(
            r["item"],
            int(r["severity"]),
            r["truth"],
            *(int(r["right"]), int(r["of"])),
            flips[r["item"], r["severity"]],
        )
        for r in records(table.reset_index())
    )
