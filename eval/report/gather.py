"""Scores → the results of a report. Every figure is computed by its own module of `eval`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from eval import accuracy, characters, components, confusions, consensus, repeats, trust
from eval.report import judging, tallies
from eval.report.figures import (
    Cases,
    ClassFigures,
    Component,
    Confusion,
    ConsensusPoint,
    FieldFigures,
    Headline,
    NameFigures,
)
from eval.report.results import Results
from eval.report.summary import summary_of
from eval.report.tables import number, records, with_all
from eval.report.worst import worst_values
from eval.tidy import CONSENSUS, Scores

ALL = "all"
"""Stands for every field together."""


def results_of(
    scores: Scores,
    *,
    title: str,
    worst: int = 24,
    pairs: int = 40,
) -> Results:
    """Everything a report says about some scores.

    Args:
        scores: of one engine on some sheets.
        title: of the report.
        worst: how many of the worst values are shown.
        pairs: how many confusion pairs.
    """
    values, documents = scores.values, scores.documents
    chars = characters.characters(values)
    judged = trust.verdicts(values, documents)
    cases = _cases(judged)
    headline = _headline(values, documents, cases)
    fields = _fields(values)
    return Results(
        title=title,
        about=dict(scores.about),
        summary=summary_of(headline, _runs(values), fields),
        headline=headline,
        cases=tuple(c for c in cases if c.severity is None),
        fields=fields,
        consensus=_consensus(scores.curve),
        components=_components(values),
        flags=judging.flags(values),
        risk=judging.risk(values),
        review=judging.review(values),
        calibration=judging.calibration(values),
        ink=judging.ink(values),
        errors=tallies.errors(values),
        outcomes=tallies.outcomes(documents),
        repairs=tallies.repairs(documents),
        characters=_classes(chars),
        mistakes=tallies.mistakes(chars, values),
        confusions=_confusions(chars, values, pairs),
        names=_names(values),
        checked_runs=tallies.checked_runs(scores.checklist),
        checked_items=tallies.checked_items(scores.checklist),
        worst=worst_values(values, worst),
    )


def _runs(values: pd.DataFrame) -> int:
    return int(values["run"].max()) + 1 if len(values) else 0


def _cases(judged: pd.DataFrame) -> tuple[Cases, ...]:
    table = with_all(lambda by: trust.rates(judged, by=by), ["level"])
    ordered = sorted(table.items(), key=lambda item: trust.LEVELS.index(item[0][0]))
    return tuple(
        Cases(level, severity, figures["trusted"].of, **figures)
        for (level, severity), figures in ordered
    )


def _headline(
    values: pd.DataFrame, documents: pd.DataFrame, cases: Sequence[Cases]
) -> tuple[Headline, ...]:
    table = with_all(lambda by: accuracy.headline(values, by=by))
    merged = documents[documents["run"] == CONSENSUS]
    sheets = merged.groupby("severity")["document"].nunique().to_dict()
    orders = {c.severity: c for c in cases if c.level == "order"}
    return tuple(
        Headline(
            severity,
            int(sheets[severity] if severity is not None else merged["document"].nunique()),
            figures["right"].of,
            **figures,
            orders=orders[severity],
        )
        for (severity,), figures in table.items()
    )


def _fields(values: pd.DataFrame) -> tuple[FieldFigures, ...]:
    """Every field, and before them all fields together."""
    stable = repeats.stability(values)
    places = {name: i for i, name in enumerate(dict.fromkeys((ALL, *values["field"])))}
    found = []
    for first in ([], ["field"]):
        runs = with_all(lambda by: repeats.summary(stable, by=by), first)
        merged = with_all(lambda by: accuracy.headline(values, by=by), first)
        for key, figures in runs.items():
            judged = {n: merged[key][n] for n in ("right", "flagged", "silent")}
            field = str(key[0]) if first else ALL
            found.append(FieldFigures(field, key[-1], figures["accuracy"].of, **figures, **judged))
    return tuple(sorted(found, key=lambda f: places[f.field]))


def _consensus(curve: pd.DataFrame) -> tuple[ConsensusPoint, ...]:
    table = with_all(lambda by: consensus.summary(curve, by=by), ["k"])
    return tuple(ConsensusPoint(s, int(k), **figures) for (k, s), figures in table.items())


def _components(values: pd.DataFrame) -> tuple[Component, ...]:
    found = []
    for severity in sorted(set(map(int, values["severity"]))):
        told = components.components(values[values["severity"] == severity])
        for source, count in (
            ("sheet", told.sheets),
            ("transmission", told.transmissions),
            ("run", told.runs),
        ):
            part = getattr(told, source)
            variance, low, high, part_of = (
                number(getattr(part, n)) for n in ("variance", "low", "high", "share")
            )
            found.append(Component(severity, source, variance, low, high, part_of, count))
    return tuple(found)


def _classes(chars: pd.DataFrame) -> tuple[ClassFigures, ...]:
    table = with_all(lambda by: characters.by_class(chars, by=by), ["class"])
    return tuple(ClassFigures(name, severity, **f) for (name, severity), f in table.items())


def _confusions(chars: pd.DataFrame, values: pd.DataFrame, most: int) -> tuple[Confusion, ...]:
    table = confusions.confusions(chars, values, places=3).head(most)
    return tuple(Confusion(**row) for row in records(table))


def _names(values: pd.DataFrame) -> tuple[NameFigures, ...]:
    table = with_all(lambda by: characters.names(values, by=by), ["name_kind"])
    return tuple(NameFigures(kind, severity, **f) for (kind, severity), f in table.items())
