"""Which characters are lost: by class, by kind of mistake, by kind of name.

Characters are compared as a single run read them, before any repair, in one spelling (NFKC), so
that widths do not count. Numbers and dates are compared as values, for their print is not their
truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from eval.bootstrap import means, ratios
from eval.levels import typed
from eval.mistakes import Mistake, class_of, comparable, mistake_of, pairs
from eval.selection import consensus, single
from ocr_pipeline.orders import text
from ocr_pipeline.orders.kinds import Kind

TEXTS = frozenset((Kind.NAME, Kind.TEXT, Kind.UNIT, Kind.CODE))
"""Kinds whose truth is what is printed."""

normal_text = lru_cache(maxsize=1 << 16)(text.normal)
_COLUMNS = ("value", "position", "true", "read", "class", "mistake", "right", "seen")


def true_text(kind: str, truth: str) -> str:
    """The text in which the places of characters are counted."""
    return normal_text(truth) if kind in TEXTS else truth


def characters(values: pd.DataFrame) -> pd.DataFrame:
    """One row per true character of each value and run, and per character that was added inside.

    Returns:
        `value` (index label of the row in `values`), `position` in the true text, `true` and `read`
        (empty: added, lost), `class` of the true character (empty: added), `mistake` (empty when
        right), `right`, `seen` (the text was found and is alike, so that this is a matter of
        characters; otherwise all of its characters are wrong and none is mistaken), then `sheet`,
        `severity`, `field`, `kind` and `name_kind` of the value.
    """
    runs = single(values)
    rows: list[tuple[object, ...]] = []
    for label, kind, truth, raw, read, right in zip(
        runs.index,
        *(runs[c] for c in ("kind", "truth", "raw", "read", "right")),
        strict=True,
    ):
        true = true_text(kind, truth)
        seen = normal_text(raw) if kind in TEXTS else truth if right else read
        rows += [(label, *char) for char in _compared(true, seen)]
    table = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(
        {"value": runs.index.dtype, "position": int, "right": bool, "seen": bool}
        | dict.fromkeys(("true", "read", "class", "mistake"), "str")
    )
    return table.join(runs[["sheet", "severity", "field", "kind", "name_kind"]], on="value")


@lru_cache(maxsize=1 << 16)
def _compared(true: str, read: str) -> tuple[tuple[object, ...], ...]:
    """The rows of one value, from `position` to `seen`. Runs repeat each other, hence the cache."""
    aligned = pairs(true, read)
    if not comparable(aligned):
        return tuple((i, c, "", str(class_of(c)), "", False, False) for i, c in enumerate(true))
    return tuple(
        (
            p.position,
            p.true,
            p.read,
            str(class_of(p.true)) if p.true else "",
            "" if p.true == p.read else str(mistake_of(p.true, p.read)),
            p.true == p.read,
            True,
        )
        for p in aligned
    )


def by_class(
    chars: pd.DataFrame, *, by: Sequence[str] = ("class", "severity"), seed: int = 0
) -> pd.DataFrame:
    """Share of true characters that were read, with intervals and counts.

    Args:
        chars: what `characters` returns.
        by: columns to group by.
        seed: of the resampling.

    Returns:
        The long table of `eval.bootstrap.means`: `right` of all true characters, `right_seen` of
        those in texts that were found.
    """
    true = chars[chars["true"] != ""]
    known = true["right"].astype(float).where(true["seen"])
    return means(true.assign(right_seen=known), ["right", "right_seen"], by=by, seed=seed)


def names(
    values: pd.DataFrame, *, by: Sequence[str] = ("name_kind", "severity"), seed: int = 0
) -> pd.DataFrame:
    """Company names by how they were made: coined katakana beside dictionary words.

    Returns:
        Long table as of `eval.bootstrap.ratios`. Of single runs `single` (typed accuracy) and `cer`
        (edits per true character of the typed name; a name that was not read is all edits); of all
        runs together `right`, `flagged` and `silent`.
    """
    named = values[values["name_kind"] != ""]
    runs, merged = single(named), consensus(named)
    length = [len(typed(Kind.NAME, t) or t) for t in runs["truth"]]
    runs = runs.assign(
        runs=1.0, single=runs["right"].astype(float), length=length, edits=runs["cer"] * length
    )
    merged = merged.assign(merged=1.0, silent=~merged["right"] & ~merged["flagged"])
    of_runs, of_all = ["runs", "single", "length", "edits"], ["right", "flagged", "silent"]
    keys = [*by, "sheet"]
    both = pd.concat([runs[[*keys, *of_runs]], merged[[*keys, "merged", *of_all]]])
    figures = {"single": ("single", "runs"), "cer": ("edits", "length")}
    figures |= {f: (f, "merged") for f in of_all}
    zeros = dict.fromkeys([*of_runs, "merged", *of_all], 0.0)
    both = both.astype(dict.fromkeys(zeros, float)).fillna(zeros)
    return ratios(both, figures, by=by, unbounded=["cer"], seed=seed)


def mistake_rates(chars: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """How often each kind of mistake was made, per severity.

    Args:
        chars: what `characters` made of `values`.
        values: the tidy table.

    Returns:
        `mistake` (all of `Mistake`, in their order), `severity`, `count`, and `rate` per true
        character. `width` counts texts that differ from the print in nothing but the width of
        characters: it is no error of any character.
    """
    totals = chars[chars["true"] != ""].groupby("severity").size()
    wrong = chars[chars["mistake"] != ""]
    counts = wrong.groupby(["mistake", "severity"]).size()
    runs = single(values)
    texts = runs[runs["kind"].isin(TEXTS)]
    wide = [
        text.raw(truth) != text.raw(raw) and normal_text(truth) == normal_text(raw)
        for truth, raw in zip(texts["truth"], texts["raw"], strict=True)
    ]
    widths = texts[np.array(wide, bool)].groupby("severity").size()
    rows = [
        (str(m), severity, found, found / total)
        for m in Mistake
        for severity, total in totals.items()
        for found in [
            int(
                widths.get(severity, 0) if m is Mistake.WIDTH else counts.get((str(m), severity), 0)
            )
        ]
    ]
    return pd.DataFrame(rows, columns=["mistake", "severity", "count", "rate"])
