"""A model of the real classes with random weights, small enough to be made for every test run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Gray = NDArray[np.uint8]
VOCABULARY = "".join(sorted("abcdefghij|-0123456789 \nパバハカガ発注書〓"))


@dataclass(frozen=True)
class Small:
    """A model with its processor; a test that changes the model makes its own."""

    model: Any
    processor: Any
    vocabulary: str = VOCABULARY


def make_small() -> Small:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # tests run side by side, and the model is tiny
    from ocr_pipeline.pocket.build import TINY, build_model, build_processor

    return Small(build_model(TINY, VOCABULARY, seed=3), build_processor(TINY, VOCABULARY))


@pytest.fixture(scope="session")
def small() -> Small:
    return make_small()


@pytest.fixture
def own_small() -> Small:
    return make_small()


@pytest.fixture
def noise() -> Gray:
    return np.random.default_rng(5).integers(0, 255, (200, 150)).astype(np.uint8)
