"""A comparison as a printed table, a page, Markdown, and a CSV of the values that changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from eval.compare import FIGURES, LESS_IS_BETTER, Comparison
from eval.permutation import Paired
from eval.report.about import about_lines
from eval.report.templating import render
from eval.report.text import escaped, table
from eval.report.wording import count, percent, points, quantity
from eval.report.writing import write_texts

MOST = 100
"""Changed values on the page; the CSV has all."""
SAME = "Both have the same values right."
SURE = 0.05
"""Greatest p-value of a difference that is called one."""

_CHANGES = ("document", "severity", "field", "row", "truth", "first", "second", "better", "told")


def write_comparison(comparison: Comparison, out: Path) -> Path:
    """Write `comparison.html`, `comparison.md` and `comparison.csv`; returns the path of the page.

    Raises:
        OutputError: the files cannot be written.
    """
    rows = pd.DataFrame([asdict(c) for c in comparison.changes], columns=list(_CHANGES))
    rows = rows.astype({"row": "Int64"})
    texts = {
        "comparison.md": "\n".join(_markdown(comparison)) + "\n",
        "comparison.csv": rows.to_csv(index=False, lineterminator="\n"),
        "comparison.html": page(comparison),
    }
    write_texts(out, texts, "comparison")
    return out / "comparison.html"


def print_comparison(console: Console, comparison: Comparison) -> None:
    """The figures and the fields, on a terminal."""
    first, second = (escape(n) for n in comparison.names)
    for sentence in verdict(comparison):
        console.print(sentence, highlight=False, markup=False)
    shown = Table(box=None)
    for head in ("", "severity", first, second, "difference", "95 % interval", "p"):
        shown.add_column(head, justify="left" if not head else "right", no_wrap=True)
    for c in comparison.figures:
        level = "all" if c.severity is None else str(c.severity)
        shown.add_row(FIGURES[c.figure], level, *_cells(c.pair), end_section=c.severity is None)
    for f in comparison.fields:
        shown.add_row(escape(f.field), "all", *_cells(f.pair))
    console.print(shown)


def verdict(comparison: Comparison) -> tuple[str, ...]:
    """In words: is the second better, and does it hide more errors?"""
    whole = {c.figure: c.pair for c in comparison.figures if c.severity is None}
    only = [sum(c.better for c in comparison.changes)]
    only.insert(0, len(comparison.changes) - only[0])
    apart = ", ".join(
        f"{count(n)} only with {name}" for n, name in zip(only, comparison.names, strict=True)
    )
    return (
        _said(whole["right"], comparison.names, "values right"),
        _said(whole["silent"], comparison.names, "values wrong and nobody told"),
        f"Of the values that one of the two has right, {apart}." if sum(only) else SAME,
    )


def _said(pair: Paired, names: tuple[str, str], what: str) -> str:
    first, second = names
    found = f"{percent(pair.second)} against {percent(pair.first)} (p = {quantity(pair.p, 2)})"
    if pair.p < SURE:
        more = "more" if pair.difference > 0 else "fewer"
        return f"{second} has {more} {what} than {first}: {found}."
    return f"No sure difference in {what}: {found}."


def page(comparison: Comparison) -> str:
    """The comparison as one HTML page."""
    seconds = comparison.seconds
    return render(
        "comparison.html.j2",
        c=comparison,
        verdict=verdict(comparison),
        figures=FIGURES,
        less=LESS_IS_BETTER,
        most=MOST,
        spread=spread,
        seconds=None if any(map(math.isnan, seconds)) else seconds,
        abouts=[
            (name, list(about_lines(about)))
            for name, about in zip(comparison.names, comparison.abouts, strict=True)
        ],
    )


def spread(pair: Paired) -> str:
    """The interval of a difference; empty when there is none, or nothing differs."""
    if math.isnan(pair.low) or pair.low == pair.high == 0:
        return ""
    return f"{points(pair.low)} to {points(pair.high)}"


def _cells(pair: Paired) -> tuple[str, ...]:
    return (
        percent(pair.first),
        percent(pair.second),
        points(pair.difference),
        spread(pair),
        quantity(pair.p, 2),
    )


def _markdown(comparison: Comparison) -> Iterator[str]:
    first, second = map(escaped, comparison.names)
    yield from (f"# {first} → {second}", "")
    yield from (f"- {escaped(sentence)}" for sentence in verdict(comparison))
    yield ""
    head = (first, second, "difference", "95 % interval", "p")
    yield from table(
        ("", "severity", *head),
        (
            (FIGURES[c.figure], "all" if c.severity is None else str(c.severity), *_cells(c.pair))
            for c in comparison.figures
        ),
    )
    if comparison.fields:
        yield from table(
            ("field", *head, "q"),
            ((escaped(f.field), *_cells(f.pair), quantity(f.q, 2)) for f in comparison.fields),
        )
