"""The real faxes of `datasets/samples`, turned in all four directions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ocr_pipeline.pages.fax import Scan
from ocr_pipeline.pages.load import read_scans
from ocr_pipeline.pages.page import Ink, Resolution
from ocr_pipeline.pages.upright import upright

SAMPLES = Path(__file__).parents[2] / "datasets" / "samples"
FAXES = sorted(p for p in SAMPLES.iterdir() if p.suffix in {".tif", ".png", ".pdf"})


@pytest.mark.slow
@pytest.mark.parametrize("path", FAXES, ids=lambda p: p.name)
def test_every_direction_of_every_sample(path):
    (scan,) = read_scans(path)
    straight = upright(scan, path.name)
    assert (straight.rotation, straight.ink, straight.flags) == (0, Ink.OK, ())
    for quarters in (1, 2, 3):
        dpi = Resolution(*scan.dpi[::-1]) if quarters % 2 else scan.dpi
        turned = Scan(np.ascontiguousarray(np.rot90(scan.image, quarters)), dpi)
        page = upright(turned, path.name)
        assert page.rotation == 90 * quarters
        assert page.skew == pytest.approx(straight.skew, abs=0.1)
