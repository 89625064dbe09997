"""The weights that ship, on crops of sheets and names that no run has trained on."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pylopdf_fonts_jp")

from ocr_pipeline.pocket.crops import Crop
from ocr_pipeline.pocket.evaluate import Read, marks, read_crops, unseen
from ocr_pipeline.pocket.keep import open_model
from ocr_pipeline.pocket.score import Score, auroc, compare

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def crops() -> tuple[Crop, ...]:
    """Of eighteen sheets, three of each severity."""
    return unseen(288)


@pytest.fixture(scope="module")
def pocket() -> tuple[Any, Any]:
    return open_model("pocket")


@pytest.fixture(scope="module")
def reads(pocket: tuple[Any, Any], crops: tuple[Crop, ...]) -> list[Read]:
    return read_crops(*pocket, [c.image for c in crops])


def test_it_reads_faxes(crops: tuple[Crop, ...], reads: list[Read]) -> None:
    """Bounds with room for so few crops; the figures of 2,000 are in docs/pocket.md."""
    pairs = [(c.severity, compare(c.text, r.text)) for c, r in zip(crops, reads, strict=True)]

    def cer(severities: set[int]) -> float:
        return Score.of(pair for severity, pair in pairs if severity in severities).cer

    assert cer({0, 1}) < 0.04
    assert cer({2, 3}) < 0.08
    assert cer({0, 1, 2, 3, 4, 5}) < 0.10


def test_its_confidence_tells_right_from_wrong(crops: tuple[Crop, ...], reads: list[Read]) -> None:
    pairs = [compare(c.text, r.text) for c, r in zip(crops, reads, strict=True)]
    found = auroc(marks(reads, pairs))
    assert found is not None
    assert found > 0.85


def test_one_seed_repeats_and_two_differ(pocket: tuple[Any, Any], crops: tuple[Crop, ...]) -> None:
    images = [c.image for c in crops if c.severity >= 3]
    one, again, other = (read_crops(*pocket, images, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert [r.text for r in one] != [r.text for r in other]
