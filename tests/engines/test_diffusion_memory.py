from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.diffusion_memory import (
    ON_A_GPU,
    PUBLISHED,
    Size,
    check,
    describe,
    fitting,
)
from ocr_pipeline.errors import EngineError

SMALL = Size(experts=6_400, linears=800, rest=100, layer=3_200, logits=1000)


class TestSize:
    def test_bytes_of_the_weights(self):
        assert SMALL.total == 7_300
        assert SMALL.weights("float32") == 4 * 7_300
        assert SMALL.weights("float16") == SMALL.weights("bfloat16") == 2 * 7_300
        assert SMALL.weights("int8") == 7_200 * 8.25 / 8 + 200
        assert SMALL.weights("int4") == 6_400 * 4.5 / 8 + 800 * 8.25 / 8 + 200

    def test_the_published_model(self):
        gigabytes = {p: round(PUBLISHED.weights(p) / 1e9, 1) for p in ("float32", *ON_A_GPU)}
        assert gigabytes == {"float32": 103.3, "bfloat16": 51.6, "int8": 27.9, "int4": 17.2}

    @given(free=st.floats(0, 200e9))
    @settings(max_examples=50, deadline=None)
    def test_rows_and_need_agree(self, free):
        for precision in ON_A_GPU:
            rows = PUBLISHED.rows(precision, free)
            assert (rows > 0) == (PUBLISHED.needed(precision) <= free)
            used = PUBLISHED.weights(precision) + PUBLISHED.working(precision)
            assert rows == 0 or used + rows * PUBLISHED.row() <= free * (1 + 1e-9)

    def test_smaller_precisions_need_less(self):
        needs = [PUBLISHED.needed(p) for p in ("float32", *ON_A_GPU)]
        assert needs == sorted(needs, reverse=True)


class TestFitting:
    @pytest.mark.parametrize(
        ("gigabytes", "best"),
        [(200, "bfloat16"), (54, "int8"), (32, "int4"), (22, None), (0, None)],
    )
    def test_the_best_that_fits(self, gigabytes, best):
        assert fitting(PUBLISHED, gigabytes * 1e9) == best

    def test_what_fits_passes(self):
        assert check("m", PUBLISHED, "int4", 24e9, "cuda:0") is None

    def test_what_does_not_fit_says_how_much_is_there_needed_and_what_would_fit(self):
        with pytest.raises(EngineError) as caught:
            check("google/m", PUBLISHED, "int8", 24e9, "cuda:0")
        assert caught.value.message.startswith("google/m needs 33.0 GB in int8 (27.9 GB of weights")
        assert "cuda:0 has 24.0 GB free" in caught.value.message
        assert caught.value.remedy == "what fits: -O quantise=int4"

    def test_full_precision_can_become_half(self):
        with pytest.raises(EngineError) as caught:
            check("m", PUBLISHED, "float32", 80e9, "cpu")
        assert caught.value.remedy == "what fits: -O dtype=bfloat16"

    def test_when_nothing_fits_every_need_is_named(self):
        with pytest.raises(EngineError) as caught:
            check("m", PUBLISHED, "int4", 8e9, "cpu")
        assert describe(PUBLISHED) in caught.value.remedy
        assert "--engine ppocr" in caught.value.remedy


def test_it_needs_no_torch():
    code = "import sys, ocr_pipeline.engines.diffusion_memory; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
