"""The values that a person should look at first, with what every run made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from eval.report.figures import Seen, WorstValue
from eval.report.tables import number, records
from eval.selection import consensus, single

A_DOCUMENT = 3
"""Most values of one document: one bad page shall not hide the others."""
A_FIELD = 5
"""Most values of one field."""

_KEY = ["document", "field", "row"]


def worst_values(values: pd.DataFrame, most: int) -> tuple[WorstValue, ...]:
    """Wrong values, the worst first.

    Worse is, in this order: nobody was told; something was read (a gap shows by itself); the fax
    was cleaner; more of the ink was there; fewer runs were right.

    Args:
        values: the tidy table.
        most: how many.
    """
    table = values.assign(row=values["row"].fillna(-1).astype(int))  # keys must be comparable
    runs, merged = single(table), consensus(table)
    share = runs.groupby(_KEY)["right"].mean().rename("runs_right").reset_index()
    wrong = merged[~merged["right"]].merge(share, how="left", on=_KEY)
    wrong = wrong.assign(gap=wrong["read"] == "", lost=-wrong["ink"].fillna(1.0))
    order = ["flagged", "gap", "severity", "lost", "runs_right", *_KEY]
    chosen = _varied(records(wrong.sort_values(order, kind="stable")), most)
    kept = runs[runs["document"].isin({c["document"] for c in chosen})].sort_values("run")
    seen: dict[Any, list[Seen]] = {}
    for row in records(kept):
        seen.setdefault(tuple(row[k] for k in _KEY), []).append(_seen(row))
    return tuple(_worst(c, seen.get(tuple(c[k] for k in _KEY), [])) for c in chosen)


def _varied(ranked: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    chosen: list[dict[str, Any]] = []
    documents: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    for value in ranked:
        if len(chosen) == most:
            break
        if documents[value["document"]] < A_DOCUMENT and fields[value["field"]] < A_FIELD:
            chosen.append(value)
            documents[value["document"]] += 1
            fields[value["field"]] += 1
    return chosen


def _worst(merged: dict[str, Any], runs: list[Seen]) -> WorstValue:
    page, quad = merged["true_page"], merged["true_quad"]
    if quad is None:
        page, quad = merged["page"], merged["quad"]
    return WorstValue(
        document=merged["document"],
        severity=int(merged["severity"]),
        field=merged["field"],
        row=None if merged["row"] < 0 else int(merged["row"]),
        truth=merged["truth"],
        page=None if pd.isna(page) else int(page),
        quad=quad,
        ink=number(merged["ink"]),
        consensus=_seen(merged),
        runs=tuple(runs),
    )


def _seen(row: dict[str, Any]) -> Seen:
    return Seen(
        int(row["run"]),
        row["raw"],
        row["read"],
        row["state"],
        bool(row["right"]),
        row["error"],
        bool(row["flagged"]),
        tuple(row["codes"] or ()),
        number(row["confidence"]),
    )
