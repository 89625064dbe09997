"""Two systems on the same sheets: which is better, by how much, and is it luck?

Sheets are compared in pairs (`eval.permutation`): a hard sheet is hard for both, so the difference
is known far better than either share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from eval.permutation import Paired, paired
from eval.selection import consensus, single
from eval.tidy import CONSENSUS, Scores
from ocr_pipeline.errors import UsageError

FIGURES = {
    "right": "right",
    "single": "right in a single run",
    "silent": "wrong, and nobody told",
    "flagged": "to look at",
}
"""What is compared: the name → what it is called. Of `silent` and `flagged` less is better."""
LESS_IS_BETTER = frozenset(("silent", "flagged"))

_KEY = ["document", "field", "row"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure at one severity.

    Attributes:
        figure: of `FIGURES`.
        severity: None: all together.
        pair: both shares, their difference with its interval, and the p-value.
    """

    figure: str
    severity: int | None
    pair: Paired


@dataclass(frozen=True, slots=True)
class FieldChange:
    """Typed accuracy of one field in what all runs together say.

    Attributes:
        field: its name.
        pair: as for `Compared`.
        q: the p-value corrected for the number of fields (false discovery rate, Benjamini and
            Hochberg 1995): of the fields with q below 0.05, one in twenty is luck.
    """

    field: str
    pair: Paired
    q: float


@dataclass(frozen=True, slots=True)
class Change:
    """A value that only one of the two has right.

    Attributes:
        document: name of the file.
        severity: of it.
        field: of the value.
        row: 0-based line; None for a field of the order.
        truth: the true value.
        first: what the first system says.
        second: what the second says.
        better: the second is the one that is right.
        told: whoever is wrong told so.
    """

    document: str
    severity: int
    field: str
    row: int | None
    truth: str
    first: str
    second: str
    better: bool
    told: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The second system against the first.

    Attributes:
        names: what the two are called.
        abouts: where their scores come from.
        documents: how many both have read.
        left_out: documents that only one of the two has read, in sorted order.
        figures: by figure and severity; of each figure the last is all together.
        fields: those whose accuracy differs, the surest difference first.
        changes: values that only one has right: first those that got worse.
        seconds: engine seconds per run of a document; NaN when unknown.
    """

    names: tuple[str, str]
    abouts: tuple[Mapping[str, Any], Mapping[str, Any]]
    documents: int
    left_out: tuple[str, ...]
    figures: tuple[Compared, ...]
    fields: tuple[FieldChange, ...]
    changes: tuple[Change, ...]
    seconds: tuple[float, float]


def compare(
    first: Scores, second: Scores, *, names: tuple[str, str] = ("A", "B"), seed: int = 0
) -> Comparison:
    """Compare two systems on the documents that both have read.

    Args:
        first: scores of one system.
        second: of the other. The two may have different numbers of runs.
        names: what to call them.
        seed: of resampling and sign flips.

    Raises:
        UsageError: they have no document in common, or do not agree on what is true.
    """
    both = sorted(set(first.documents["document"]) & set(second.documents["document"]))
    either = set(first.documents["document"]) | set(second.documents["document"])
    if not both:
        raise UsageError(
            "the two results have no document in common",
            remedy="run both on the same sheets",
        )
    a, b = (s.values[s.values["document"].isin(both)] for s in (first, second))
    return Comparison(
        names=names,
        abouts=(first.about, second.about),
        documents=len(both),
        left_out=tuple(sorted(either - set(both))),
        figures=tuple(_figures(a, b, seed)),
        fields=_fields(consensus(a), consensus(b), seed),
        changes=_changes(consensus(a), consensus(b)),
        seconds=(_seconds(first, both), _seconds(second, both)),
    )


def _figures(a: pd.DataFrame, b: pd.DataFrame, seed: int) -> Iterator[Compared]:
    pairs = {figure: (_with(a, figure), _with(b, figure)) for figure in FIGURES}
    severities = sorted(set(map(int, a["severity"])))
    for figure, (left, right) in pairs.items():
        for severity in severities:
            x, y = (t[t["severity"] == severity] for t in (left, right))
            yield Compared(figure, severity, paired(x, y, figure, seed=seed))
        yield Compared(figure, None, paired(left, right, figure, seed=seed))


def _with(values: pd.DataFrame, figure: str) -> pd.DataFrame:
    """The rows a figure is about, with its column."""
    if figure == "single":
        runs = single(values)
        return runs.assign(single=runs["right"])
    merged = consensus(values)
    return merged.assign(silent=~merged["right"] & ~merged["flagged"])


def _fields(a: pd.DataFrame, b: pd.DataFrame, seed: int) -> tuple[FieldChange, ...]:
    pairs = {
        field: paired(a[a["field"] == field], b[b["field"] == field], "right", seed=seed)
        for field in dict.fromkeys(a["field"])
    }
    if not pairs:
        return ()
    qs = false_discovery_control(np.array([p.p for p in pairs.values()]))
    found = [
        FieldChange(field, pair, float(q))
        for (field, pair), q in zip(pairs.items(), qs, strict=True)
        if pair.better or pair.worse
    ]
    return tuple(sorted(found, key=lambda f: (f.pair.p, -abs(f.pair.difference), f.field)))


def _changes(a: pd.DataFrame, b: pd.DataFrame) -> tuple[Change, ...]:
    columns = [*_KEY, "severity", "truth", "read", "raw", "right", "flagged"]
    left, right = (t[columns].assign(row=t["row"].fillna(-1).astype(int)) for t in (a, b))
    both = left.merge(right, on=_KEY, suffixes=("_a", "_b"), sort=True)
    both = both[both["right_a"] != both["right_b"]].sort_values("right_b", kind="stable")
    return tuple(
        Change(
            document=row["document"],
            severity=int(row["severity_a"]),
            field=row["field"],
            row=None if row["row"] < 0 else int(row["row"]),
            truth=row["truth_a"],
            first=row["read_a"] or row["raw_a"],
            second=row["read_b"] or row["raw_b"],
            better=bool(row["right_b"]),
            told=bool(row["flagged_a"] if row["right_b"] else row["flagged_b"]),
        )
        for row in ({str(k): v for k, v in r.items()} for r in both.to_dict("records"))
    )


def _seconds(scores: Scores, documents: list[str]) -> float:
    runs = scores.documents
    runs = runs[(runs["run"] != CONSENSUS) & runs["document"].isin(documents)]
    return float(runs["seconds"].mean())
