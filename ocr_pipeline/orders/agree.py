"""N readings of one document → one set of orders, with votes.

No truth is needed: rows are aligned by what they say, values are counted by what they mean, and
where the runs do not agree, the field says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rapidfuzz import fuzz

from ocr_pipeline.orders.model import (
    ABSENT,
    Candidate,
    FieldState,
    FieldValue,
    Flag,
    Order,
    Row,
    Tax,
    Value,
)
from ocr_pipeline.orders.text import plain

SAME_ROW = 0.3
"""Least similarity (0..1) of two rows that may be the same line of the sheet."""


def disagreement(candidates: Sequence[Candidate], runs: int) -> Flag:
    """The flag of a field on which the runs do not agree."""
    shown = " / ".join(f"{_shown(c.value)}×{c.votes}" for c in candidates)
    return Flag(
        "runs_disagree",
        f"{runs}回の読み取りが一致しません: {shown}",
        f"{runs} runs do not agree: {shown}",
    )


def _shown(value: Value) -> str:
    return "(空)" if value is None else str(value)


def agree(runs: Sequence[Sequence[Order]]) -> tuple[Order, ...]:
    """Merge what several runs made of the same document.

    The run with the usual number of orders (the first of them) is the frame; of the others, each
    order is matched to the one it shares most pages with. The same holds for rows.

    Args:
        runs: the orders of each run; a run that failed is left out by the caller.

    Returns:
        One order per order of the frame, every field with its candidates and, where the runs
        disagree, a flag.
    """
    if not runs:
        return ()
    if len(runs) == 1:
        return tuple(runs[0])
    frame = _frame([len(r) for r in runs])
    merged = []
    for i, order in enumerate(runs[frame]):
        others = [order if k == frame else _match(order, i, run) for k, run in enumerate(runs)]
        merged.append(_merge([o for o in others if o is not None]))
    return tuple(merged)


def _frame(counts: Sequence[int]) -> int:
    """Index of the first run with the most common count; of equally common ones the larger."""
    votes = Counter(counts)
    return list(counts).index(max(votes, key=lambda n: (votes[n], n)))


def _match(order: Order, index: int, run: Sequence[Order]) -> Order | None:
    """The order of another run that is the same one."""

    def shared(other: Order) -> int:
        return len(set(order.pages) & set(other.pages))

    if not run:
        return None
    best = max(range(len(run)), key=lambda k: (shared(run[k]), -abs(k - index)))
    return run[best] if shared(run[best]) else None


def _merge(orders: Sequence[Order]) -> Order:
    frame = orders[_frame([len(o.rows) for o in orders])]
    aligned = [align_rows(frame.rows, o.rows) for o in orders]
    rows: list[Row] = []
    for i, row in enumerate(frame.rows):
        matches = [
            None if (at := a[i]) is None else o.rows[at]
            for o, a in zip(orders, aligned, strict=True)
        ]
        rows.append({n: vote([m[n] if m is not None else ABSENT for m in matches]) for n in row})
    fields = {n: vote([o.fields[n] for o in orders]) for n in frame.fields}
    told = tuple(dict.fromkeys(f for o in orders for f in o.flags))
    merged = replace(
        frame, fields=fields, rows=tuple(rows), taxes=_taxes(frame, orders), flags=told
    )
    counts = sorted({len(o.rows) for o in orders})
    if len(counts) > 1:
        merged = replace(merged, flags=(*merged.flags, _other_rows(counts)))
    return merged


def _other_rows(counts: Sequence[int]) -> Flag:
    shown = " / ".join(map(str, counts))
    return Flag(
        "row_count",
        f"明細の行数が読み取りごとに異なります: {shown}",
        f"the runs found different numbers of lines: {shown}",
    )


def _taxes(frame: Order, orders: Sequence[Order]) -> tuple[Tax, ...]:
    """Tax lines by position, where all runs found as many."""
    if any(len(o.taxes) != len(frame.taxes) for o in orders):
        return frame.taxes
    return tuple(
        Tax(
            *(
                vote(list(values))
                for values in zip(*((t.rate, t.base, t.amount) for t in same), strict=True)
            )
        )
        for same in zip(*(o.taxes for o in orders), strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Key:
    """What a value is counted by: typed values by value, text by its plain form."""

    state: FieldState
    value: object


def _key(field: FieldValue) -> _Key:
    if field.state is not FieldState.READ:
        return _Key(field.state, None)
    value = field.value
    return _Key(field.state, plain(value) if isinstance(value, str) else value)


def vote(fields: Sequence[FieldValue]) -> FieldValue:
    """The value that most runs read; between equals the more confident one.

    A run that found the place empty, unreadable or absent has a vote too, but a readable value wins
    over it at equal votes: a person can check what is shown, not what is missing.

    Returns:
        The winning field, its confidence scaled by the share of runs behind it, all values as
        candidates, flagged when there is more than one.
    """
    groups: dict[_Key, list[FieldValue]] = {}
    for f in fields:
        groups.setdefault(_key(f), []).append(f)

    def weight(key: _Key) -> tuple[int, bool, float]:
        members = groups[key]
        return len(members), key.state is FieldState.READ, sum(m.confidence for m in members)

    order = sorted(groups, key=weight, reverse=True)
    best = groups[order[0]]
    winner = max(best, key=lambda f: f.confidence)
    candidates = tuple(
        Candidate(groups[k][0].value, len(groups[k])) for k in order if k.state is FieldState.READ
    )
    votes = len(best)
    silent = len(fields) - sum(c.votes for c in candidates)
    shown = candidates + ((Candidate(None, silent),) if silent and candidates else ())
    confidence = sum(f.confidence for f in best) / len(fields)
    # What nobody voted for (what a text might also mean) stays behind what was read.
    maybe = tuple(c for c in winner.candidates if not c.votes)
    merged = replace(winner, confidence=confidence, candidates=candidates + maybe)
    # Two sorts of "nothing" are no disagreement worth a look: there is nothing to look at.
    if votes < len(fields) and candidates:
        merged = merged.flagged(disagreement(shown, len(fields)))
    return merged


def align_rows(frame: Sequence[Row], other: Sequence[Row]) -> list[int | None]:
    """For each row of `frame` the index of the same row in `other`, in order; None if missing.

    Needleman-Wunsch without gap costs: the monotone pairing of greatest total similarity.
    """
    n, m = len(frame), len(other)
    left, right = [_said(row) for row in frame], [_said(row) for row in other]
    similarity = np.array([[_similar(a, b) for b in right] for a in left]).reshape(n, m)
    similarity[similarity < SAME_ROW] = 0.0
    score = np.zeros((n + 1, m + 1))
    for i in range(n):
        for j in range(m):
            score[i + 1, j + 1] = max(
                score[i, j + 1], score[i + 1, j], score[i, j] + similarity[i, j]
            )
    pairs: list[int | None] = [None] * n
    i, j = n, m
    while i and j:
        if score[i, j] == score[i - 1, j]:
            i -= 1
        elif score[i, j] == score[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs[i] = j
    return pairs


def _said(row: Row) -> dict[str, tuple[_Key, str]]:
    """What a row says, in the form in which rows are compared."""
    return {name: (_key(value), value.raw) for name, value in row.items()}


def _similar(a: Mapping[str, tuple[_Key, str]], b: Mapping[str, tuple[_Key, str]]) -> float:
    """0..1: share of the fields that either row has and that say the same, text by likeness."""
    scores = []
    for name in a.keys() & b.keys():
        (left, left_raw), (right, right_raw) = a[name], b[name]
        if not left_raw and not right_raw:
            continue
        if left.state is FieldState.READ and left == right:
            scores.append(1.0)
        else:
            scores.append(fuzz.ratio(left_raw, right_raw) / 100 * 0.9)
    return sum(scores) / len(scores) if scores else 0.0
