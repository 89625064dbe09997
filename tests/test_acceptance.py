"""The main job on the ten real faxes of `datasets/samples`: the figures that must hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pandas as pd
import pytest

from eval.accuracy import by_severity
from eval.cases import load_cases
from eval.documents import run_of_record
from eval.outcomes import Form
from eval.scoring import RunSet, score
from eval.selection import consensus
from ocr_pipeline.batch.reader import MakeReader
from ocr_pipeline.export.record import DocumentStatus, Record
from ocr_pipeline.geometry import Quad
from ocr_pipeline.orders.model import FieldState, FieldValue
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.pages.load import read_scans
from ocr_pipeline.settings import Settings

SAMPLES = Path(__file__).parents[1] / "datasets" / "samples"
CASES = load_cases(SAMPLES / "truth.json")

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Results:
    """Records by source, and what became of every true value."""

    records: dict[str, Record]
    values: pd.DataFrame

    @property
    def figures(self) -> pd.DataFrame:
        return by_severity(self.values)

    def legible(self) -> pd.DataFrame:
        """The true values at severities 0 to 2."""
        true = consensus(self.values)
        return true[true["severity"] <= 2]


@pytest.fixture(scope="session")
def results() -> Results:
    schema = load_schema("purchase_order")
    read = MakeReader(Settings(schema, runs=3))()
    records = {source: read(SAMPLES / source, source) for source in CASES}
    sets = [
        RunSet(case, (run_of_record(records[source]),), Form(schema))
        for source, case in CASES.items()
    ]
    return Results(records, score(sets, {}).values)


def test_every_order_is_found(results: Results) -> None:
    for source in CASES:
        record = results.records[source]
        assert record.status is DocumentStatus.OK, f"{source}: {record.error}"
        assert len(record.orders) == 1
        assert len(record.readings) == 3


def test_every_line_is_found_and_nothing_else(results: Results) -> None:
    for source, case in CASES.items():
        if case.severity <= 3:
            assert len(results.records[source].orders[0].rows) == len(case.rows), source


@pytest.mark.parametrize(("severity", "least"), [(0, 0.97), (1, 0.97), (2, 0.94), (3, 0.80)])
def test_typed_accuracy(results: Results, severity: int, least: float) -> None:
    assert results.figures.loc[severity, "right"] >= least


def test_values_that_are_wrong_without_a_flag(results: Results) -> None:
    true = results.legible()
    silent = true[~true["right"] & ~true["flagged"]]
    listed = silent[["document", "field", "truth", "read"]].to_numpy().tolist()
    assert len(silent) <= 0.02 * len(true), listed


def test_a_person_need_not_look_at_everything(results: Results) -> None:
    assert results.legible()["flagged"].mean() <= 0.20


def values(record: Record) -> Iterator[tuple[str, FieldValue]]:
    for order in record.orders:
        yield from order.fields.items()
        for row in order.rows:
            yield from row.items()


def ink_share(image: np.ndarray, quad: Quad) -> float:
    """The share of dark pixels inside a quad."""
    mask = np.zeros(image.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(np.array(quad)).astype(np.int32)], 1)
    return float((image[mask == 1] < 128).mean()) if mask.any() else 0.0


@pytest.mark.parametrize("source", [s for s, c in CASES.items() if c.severity <= 2])
def test_fields_stand_on_their_ink_in_the_stored_file(results: Results, source: str) -> None:
    record = results.records[source]
    (scan,) = read_scans(SAMPLES / source)
    image = scan.image
    height, width = image.shape
    assert record.pages[0].stored_size == (width, height)
    placed = [(n, v) for n, v in values(record) if v.state is FieldState.READ]
    assert len(placed) > 20
    away = 0
    for name, value in placed:
        assert value.quad is not None, name
        points = np.array(value.quad)
        assert (points >= -3).all(), name
        assert (points <= (width + 3, height + 3)).all(), name
        share = ink_share(image, value.quad)
        assert 0.08 < share < 0.6, f"{name} {value.raw!r}: {share:.1%} of its place is ink"
        # Less than half a line higher or lower there is less ink: the place fits its line.
        down = points[3] - points[0]
        beside = [ink_share(image, tuple(map(tuple, points + k * down))) for k in (-0.4, 0.4)]
        away += max(beside) > share
    assert away <= 0.1 * len(placed)


def test_no_two_fields_of_an_order_share_a_place(results: Results) -> None:
    for source, case in CASES.items():
        if case.severity > 2:
            continue
        placed = [v for _, v in values(results.records[source]) if v.state is FieldState.READ]
        centres = [tuple(np.mean(v.quad, axis=0).round(1)) for v in placed if v.quad]
        assert len(set(centres)) == len(centres), source
