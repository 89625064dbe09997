"""The tables that a command prints; the report says the same and more."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pandas as pd
from rich.console import Console
from rich.table import Table

from eval.accuracy import by_field, by_severity, headline
from eval.selection import consensus
from eval.tidy import CONSENSUS, Scores
from eval.trust import by_flag

_HEADINGS = {
    "documents": "docs",
    "raw_right": "raw",
    "folded_right": "folded",
    "single": "one run",
    "seconds": "s/page",
    "tokens": "tokens/page",
}
"""Short forms, so that a table fits a terminal of 80 columns."""


def print_scores(console: Console, scores: Scores) -> None:
    """Headline per severity, accuracy per field, what the flags caught, how runs ended."""
    print_table(console, "per severity", by_severity(scores.values))
    print_table(console, "typed accuracy per field and severity", by_field(scores.values))
    flags = by_flag(scores.values).set_index("code")[["wrong", "right"]]
    print_table(console, "values under each flag", flags)
    runs = scores.documents[scores.documents["run"] != CONSENSUS]
    ended = runs["outcome"].value_counts()
    if set(ended.index) != {"ok"}:
        print_table(console, "how runs ended", ended.rename("runs").to_frame())


def print_summary(console: Console, scores: Scores) -> None:
    """The two numbers that matter, with their intervals over sheets."""
    whole = headline(scores.values, by=()).set_index("figure")[["value", "low", "high"]]
    figures = whole.T.to_dict("list")
    for figure, text in (
        ("right", "of the values are right"),
        ("silent", "are wrong and not flagged"),
        ("flagged", "are flagged for a person"),
    ):
        value, low, high = figures[figure]
        between = "too few sheets to say" if math.isnan(low) else f"{low:.1%} to {high:.1%}"
        console.print(f"  {value:6.1%} ({between}) {text}", highlight=False)


def print_table(
    console: Console,
    title: str,
    frame: pd.DataFrame,
    formats: Mapping[str, Callable[[float], str]] | None = None,
) -> None:
    """A table with its index as first column; `formats` for columns that are no shares."""
    console.print(f"[bold]{title}[/]", highlight=False)
    table = Table(box=None)
    table.add_column(str(frame.index.name or ""), no_wrap=True)
    for column in frame.columns:
        table.add_column(_HEADINGS.get(str(column), str(column)), justify="right", no_wrap=True)
    shown = [(formats or {}).get(str(column), _shown) for column in frame.columns]
    for name, row in frame.iterrows():
        table.add_row(str(name), *(show(v) for show, v in zip(shown, row, strict=True)))
    console.print(table)
    console.print()


def _shown(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.1%}" if 0 <= value <= 1 and not float(value).is_integer() else f"{value:g}"


def print_misses(console: Console, scores: Scores) -> None:
    """Every value that all runs together have wrong."""
    table = Table("file", "field", "row", "truth", "read", "error", "flags", box=None)
    table.title = "wrong values"
    wrong = consensus(scores.values)
    for miss in wrong[~wrong["right"]].to_dict("records"):
        row = "" if pd.isna(miss["row"]) else str(miss["row"] + 1)
        flags = " ".join(miss["codes"]) or ("(order)" if miss["flagged"] else "[red]none[/]")
        read = miss["read"] or miss["raw"]
        table.add_row(
            miss["document"], miss["field"], row, miss["truth"], read, miss["error"], flags
        )
    console.print(table)
