"""Runs and truth → `Scores`; and the consensus of any of the runs, for the curve over subsets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval import documents, outcomes
from eval.align import align
from eval.cases import Case
from eval.documents import Run, failed_run
from eval.levels import plain
from eval.outcomes import Form
from eval.tidy import CHECKLIST, CONSENSUS, DOCUMENTS, VALUES, Scores, frame
from ocr_pipeline.orders.agree import agree
from ocr_pipeline.orders.check import check
from ocr_pipeline.orders.model import FieldState, FieldValue, Order


@dataclass(frozen=True)
class RunSet:
    """All runs on one document, beside its truth.

    Attributes:
        case: the truth.
        runs: run k at place k.
        form: the form of both.
        told: a person hears of a document without an order; not so where there is no prediction.
    """

    case: Case
    runs: tuple[Run, ...]
    form: Form
    told: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """One run, or a consensus, against the truth: rows for the tables of `Scores`."""

    values: list[dict[str, Any]]
    document: dict[str, Any]
    checklist: list[dict[str, Any]]


def score(sets: Iterable[RunSet], about: Mapping[str, Any]) -> Scores:
    """Score documents: every run by itself, and the consensus of all of them.

    Args:
        sets: the runs of each document, in the order of the truth.
        about: where they come from.
    """
    verdicts = [v for runs in sets for v in verdicts_of(runs)]
    return Scores(
        frame((row for v in verdicts for row in v.values), VALUES),
        frame((v.document for v in verdicts), DOCUMENTS),
        frame((row for v in verdicts for row in v.checklist), CHECKLIST),
        about=dict(about),
    )


def verdicts_of(runs: RunSet) -> list[Verdict]:
    """Each run by itself, then the consensus of all."""
    alone = [_verdict(runs, (k,), k) for k in range(len(runs.runs))]
    return [*alone, _verdict(runs, range(len(runs.runs)), CONSENSUS)]


def consensus_of(runs: RunSet, subset: Sequence[int]) -> list[dict[str, Any]]:
    """What some of the runs say together: rows of `Scores.values` with the run `CONSENSUS`.

    Args:
        runs: all runs of a document.
        subset: which of them vote, by number.
    """
    return _verdict(runs, subset, CONSENSUS).values


def orders_of(runs: Sequence[Run], form: Form) -> tuple[Order, ...]:
    """The orders that some runs agree on, checked: as the pipeline gives them to a user."""
    voting = [run for run in runs if run.votes]
    if len(voting) == 1 and voting[0].checked:
        return voting[0].orders
    return tuple(check(order, form.schema) for order in agree([r.orders for r in voting]))


def _verdict(runs: RunSet, subset: Sequence[int], number: int) -> Verdict:
    case, form = runs.case, runs.form
    chosen = [runs.runs[k] for k in subset]
    run = _together(chosen)
    orders = orders_of(chosen, form)
    order = outcomes.best_of(orders, case, form)
    if order is not None:
        order = outcomes.undivided(order, case, form)
    lines = align(order.rows if order else (), case.rows, form.rows)
    if order is None:
        found = outcomes.lost(case, flagged=runs.told)
    else:
        found = outcomes.outcomes_of(order, case, form, lines)
    where = {
        "document": case.source,
        "sheet": case.sheet or case.source,
        "transmission": case.transmission,
        "severity": case.severity,
        "run": number,
    }
    voting = sum(r.votes for r in chosen)
    shares = [
        _share(o.value, voting, len(chosen)) if number == CONSENSUS else math.nan for o in found
    ]
    return Verdict(
        [
            where | outcomes.row_of(o, case, form, share)
            for o, share in zip(found, shares, strict=True)
        ],
        where | documents.row_of(run, orders, order, found, lines, case, told=runs.told),
        [where | row for row in _checked(case, found, run)],
    )


def _together(runs: Sequence[Run]) -> Run:
    """Several runs as one: the worst that happened to all, the cost of all.

    A failure of some of the runs is no failure of the consensus.
    """
    if len(runs) == 1:
        return runs[0]
    if not runs:
        return failed_run("there is no run")
    whole = [r for r in runs if r.ended == "ok"] or [r for r in runs if r.votes] or list(runs)
    stats: dict[str, float] = {}
    for run in runs:
        for name, value in run.stats.items():
            stats[name] = stats.get(name, 0.0) + value
    return replace(
        whole[0],
        partly=len({r.ended for r in runs}) > 1,
        error="\n".join(dict.fromkeys(r.error for r in runs if r.error)),
        strict=all(r.strict for r in runs),
        repairs=tuple(dict.fromkeys(code for r in runs for code in r.repairs)),
        pages=max(r.pages for r in runs),
        seconds=sum(r.seconds for r in runs),
        tokens=sum(r.tokens for r in runs),
        stats=stats,
    )


def _share(value: FieldValue, voting: int, runs: int) -> float:
    """Share of the runs that are behind a value; those that failed are behind none."""
    votes = sum(c.votes for c in value.candidates)
    behind = value.candidates[0].votes if value.state is FieldState.READ else voting - votes
    return behind / runs if runs else math.nan


def _checked(case: Case, found: Sequence[outcomes.Outcome], run: Run) -> Iterable[dict[str, Any]]:
    """The items that a preset scores; those that are no values must stand somewhere in the text."""
    right = {o.ref: not o.error for o in found if not o.extra}
    for ref, printed in case.checklist:
        name, i = ref
        yield {
            "item": name if i is None else f"{name}[{i + 1}]",
            "truth": printed,
            "right": right[ref] if ref in right else plain(printed) in run.text,
        }
