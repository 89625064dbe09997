from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.pages.direction import TextWitness
from ocr_pipeline.pages.fax import Scan
from ocr_pipeline.pages.page import Ink, Resolution
from ocr_pipeline.pages.upright import upright

FINE = Resolution(204.0, 204.0)


class Fixed:
    """A witness that always says the same, and remembers that it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def upside_down(self, lines, *, sideways=False):
        self.asked.append((len(lines), sideways))
        return self.answer


def stand(image, dpi=FINE, **options):
    return upright(Scan(image, dpi), "page.tif", **options)


def test_an_upright_page_keeps_its_pixels(drawing):
    page = stand(drawing.order(0))
    assert np.array_equal(page.image, drawing.order(0))
    assert np.array_equal(page.matrix, np.eye(3))
    assert (page.rotation, page.skew, page.inverted, page.flags) == (0, 0.0, False, ())


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
@pytest.mark.parametrize("landscape", [False, True])
def test_all_four_directions(drawing, quarters, landscape):
    order = drawing.order(5, width=2376, height=1728) if landscape else drawing.order(5)
    page = stand(np.ascontiguousarray(np.rot90(order, quarters)))
    assert page.rotation == 90 * quarters
    assert page.rotation_confidence > 0.9
    assert np.array_equal(page.image, order)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(
    degrees=st.floats(-4.8, 4.8),
    quarters=st.integers(0, 3),
    seed=st.integers(0, 99),
    standard=st.booleans(),
    inverted=st.booleans(),
)
def test_the_matrix_leads_back_to_the_stored_ink(
    drawing, *, degrees, quarters, seed, standard, inverted
):
    """A dot drawn on the stored page is where the matrix says, whatever was done to the page."""
    order = drawing.turned(drawing.order(seed), degrees)
    stored = np.ascontiguousarray(np.rot90(order, quarters))
    dpi = FINE
    if standard:  # every second line only
        stored, dpi = np.ascontiguousarray(stored[::2]), Resolution(204.0, 102.0)
    points = [(700, 760), (1000, 500), (400, 300)]
    for x, y in points:
        stored[y - 14 : y + 14, x - 14 : x + 14] = 255
        stored[y - 3 : y + 3, x - 3 : x + 3] = 0
    page = stand(255 - stored if inverted else stored, dpi)
    assert page.rotation == 90 * quarters
    assert page.inverted == inverted
    assert page.skew == pytest.approx(degrees, abs=0.1)
    assert page.stored_size == stored.shape[::-1]
    to_upright = np.linalg.inv(page.matrix)
    for x, y in points:
        u, v, _ = to_upright @ [x, y, 1.0]
        left, top = round(u) - 10, round(v) - 10
        dot = 255.0 - page.image[top : top + 20, left : left + 20]
        rows, columns = np.indices(dot.shape)
        centre = (
            np.average(columns + left + 0.5, weights=dot),
            np.average(rows + top + 0.5, weights=dot),
        )
        back = page.matrix @ [*centre, 1.0]
        assert back[:2] == pytest.approx([x, y], abs=0.5)


def test_nothing_is_cut_off(drawing):
    order = drawing.order(2)
    order[20:60, 20:60] = order[-60:-20, -60:-20] = 0
    page = stand(drawing.turned(order, 0.0))
    tilted = stand(np.pad(drawing.turned(np.pad(order, 250, constant_values=255), 4.0), 0))
    assert (tilted.image < 128).sum() == pytest.approx((page.image < 128).sum(), rel=0.03)
    assert tilted.image.shape[0] > order.shape[0] + 500


def test_square_pixels_of_a_standard_resolution_page(drawing):
    page = stand(drawing.order(0)[::2].copy(), Resolution(204.0, 102.0))
    assert page.image.shape == (2376, 1728)
    assert page.dpi == Resolution(204.0, 102.0)
    assert page.matrix == pytest.approx(np.diag([1.0, 0.5, 1.0]))


def test_an_unsure_witness_leaves_the_page_and_flags_it(drawing):
    page = stand(drawing.order(0), witness=Fixed(0.55))
    assert page.rotation == 0
    assert page.rotation_confidence < 0.75
    assert [code for code, _ in page.flags] == ["direction_unsure"]


def test_a_sideways_page_needs_the_witness_to_look_closely(drawing):
    witness = Fixed(0.5)
    stored = np.ascontiguousarray(np.rot90(drawing.order(0)))
    page = stand(stored, witness=witness)
    assert witness.asked[0][1] is True
    assert (page.rotation, page.skew) == (0, 0.0)
    assert np.array_equal(page.image, stored)
    assert [code for code, _ in page.flags] == ["direction_unsure"]


def test_vertical_writing_is_not_turned(drawing):
    page = stand(drawing.vertical())
    assert page.rotation == 0
    assert [code for code, _ in page.flags] == ["direction_unsure"]


def test_the_header_line_has_no_vote(drawing):
    # Fed upside down, the page is on its head, but the sender's header line is not.
    stored = np.ascontiguousarray(np.rot90(drawing.order(1, rows=2), 2))
    stored = drawing.text(
        stored, (80, 10), "2026年4月1日 14時31分   大塚製作所   NO.2285  P.1/1", 26
    )
    assert stand(stored).rotation == 180


@pytest.mark.parametrize("kind", ["white", "dust", "black"])
def test_pages_without_writing_are_not_moved_and_nobody_is_asked(drawing, kind):
    image = drawing.blank()
    if kind == "dust":
        image = drawing.speckled(image, 0, 0.001)
    if kind == "black":
        image = 255 - image
    witness = Fixed(1.0)
    page = stand(image, witness=witness)
    assert page.ink is (Ink.DAMAGED if kind == "black" else Ink.BLANK)
    assert (page.rotation, page.skew, witness.asked) == (0, 0.0, [])
    assert bool(page.flags) == (kind == "black")


@pytest.mark.parametrize("shape", [(1, 1), (1, 1728), (2376, 1), (3, 3)])
def test_tiny_pages(shape):
    page = stand(np.full(shape, 255, np.uint8))
    assert page.ink is Ink.BLANK
    assert page.image.shape == shape


def test_a_witness_without_lines_knows_nothing():
    assert TextWitness().upside_down([]) == 0.5


def test_the_flags_of_the_scan_are_kept(drawing):
    scan = Scan(drawing.order(0), FINE, 3, (("line_errors", "reason"),))
    page = upright(scan, "page.tif", witness=Fixed(0.0))
    assert page.flags == (("line_errors", "reason"),)
    assert page.number == 3
