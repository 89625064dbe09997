"""Everything a report says, as one value: `results.json`, from which the pages are drawn.

Shares are 0..1. A number that cannot be had (one run, one sheet, no truth about ink) is null, never
0. `python -m eval.report` prints the JSON schema, `docs/results.schema.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import TypeAdapter

from eval.report.figures import (
    Bin,
    Cases,
    CheckedItem,
    CheckedRun,
    ClassFigures,
    Component,
    Confusion,
    ConsensusPoint,
    Count,
    ErrorCount,
    FieldFigures,
    FlagFigures,
    Headline,
    InkBin,
    NameFigures,
    Review,
    RiskCurve,
    WorstValue,
)
from ocr_pipeline.export.record import Contract


@dataclass(frozen=True, slots=True)
class Results:
    """Everything a report says.

    Attributes:
        title: of the report.
        about: where the scores come from: engine, model, settings, seeds, versions, command.
        summary: the three sentences at the top.
        headline: by severity; the last is all together.
        cases: for values, lines and orders, all severities together.
        fields: every field × severity.
        consensus: the consensus curve; empty when there is none.
        components: of the variance.
        flags: what each flag is good for.
        risk: curves of risk against coverage.
        review: how much to look at for a wanted silent-error rate.
        calibration: values by confidence.
        ink: values by surviving ink; empty when it is known of none.
        errors: kinds of error of values, in what all runs together say.
        outcomes: how single runs of documents ended.
        repairs: what the parser had to mend in the replies of single runs; `strict`: nothing.
        characters: accuracy by class × severity.
        mistakes: kinds of mistakes of characters, in single runs.
        confusions: the commonest first.
        names: company names by kind × severity.
        checked_runs: the `article` test by run.
        checked_items: the `article` test by item.
        worst: the values to look at first.
        version: of this contract.
    """

    title: str
    about: Mapping[str, Any]
    summary: tuple[str, str, str]
    headline: tuple[Headline, ...]
    cases: tuple[Cases, ...]
    fields: tuple[FieldFigures, ...]
    consensus: tuple[ConsensusPoint, ...]
    components: tuple[Component, ...]
    flags: tuple[FlagFigures, ...]
    risk: tuple[RiskCurve, ...]
    review: tuple[Review, ...]
    calibration: tuple[Bin, ...]
    ink: tuple[InkBin, ...]
    errors: tuple[ErrorCount, ...]
    outcomes: tuple[Count, ...]
    repairs: tuple[Count, ...]
    characters: tuple[ClassFigures, ...]
    mistakes: tuple[Count, ...]
    confusions: tuple[Confusion, ...]
    names: tuple[NameFigures, ...]
    checked_runs: tuple[CheckedRun, ...]
    checked_items: tuple[CheckedItem, ...]
    worst: tuple[WorstValue, ...]
    version: Literal[1] = 1


_ADAPTER = TypeAdapter(Results)


def to_json(results: Results) -> str:
    """The results as JSON text; the same results are the same text."""
    plain = _ADAPTER.dump_python(results, mode="json")
    return json.dumps(_rounded(plain), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _rounded(value: Any) -> Any:
    """Numbers to 9 digits: what differs behind is rounding of the machine."""
    match value:
        case float():
            return float(f"{value:.9g}")
        case dict():
            return {name: _rounded(v) for name, v in value.items()}
        case list():
            return [_rounded(v) for v in value]
        case _:
            return value


def json_schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of `results.json`, generated from the dataclasses."""
    schema = _ADAPTER.json_schema(schema_generator=Contract, mode="serialization")
    return {"$schema": Contract.schema_dialect} | schema
