import base64
import io

import numpy as np
import pytest
from PIL import Image

from eval.report.crops import MAX_SIDE, crop, no_images, remembered, upright_cut

QUAD = ((400.0, 600.0), (800.0, 600.0), (800.0, 640.0), (400.0, 640.0))


def page(height=2290, width=1728):
    return np.full((height, width), 255, np.uint8)


def test_a_crop_is_a_png_of_the_place():
    image = page()
    image[605:635, 410:790] = 0
    address = crop(lambda *_: image, "a.tif", 1, QUAD)
    assert address.startswith("data:image/png;base64,")
    shown = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("L")
    assert shown.width > shown.height
    assert np.asarray(shown)[shown.height // 2, shown.width // 2] == 0
    assert np.asarray(shown)[0, 0] == 255


def test_square_things_are_square_though_the_pixels_of_a_fax_are_not():
    # 204×98 dpi: half as many rows.
    image = page(1145)
    image[300:348, 500:600] = 0
    cut = upright_cut(image, ((480.0, 290.0), (620.0, 290.0), (620.0, 358.0), (480.0, 358.0)))
    ys, xs = np.nonzero(cut < 128)
    assert np.ptp(xs) == pytest.approx(np.ptp(ys), abs=3)


def test_text_that_stands_on_its_head_is_turned():
    image = page()
    image[600:640, 400:420] = 0  # the mark is at the left of the stored page
    head_over = (QUAD[2], QUAD[3], QUAD[0], QUAD[1])
    cut = upright_cut(image, head_over)
    xs = np.nonzero(cut < 128)[1]
    assert xs.min() > cut.shape[1] * 0.8


def test_what_hangs_over_the_edge_is_white_there():
    image = page()
    image[:] = 0
    cut = upright_cut(
        image, ((1700.0, 2280.0), (1760.0, 2280.0), (1760.0, 2320.0), (1700.0, 2320.0))
    )
    assert cut[0, 0] == 0
    assert cut[-1, -1] == 255


@pytest.mark.parametrize(
    "quad",
    [
        ((5.0, 5.0),) * 4,
        ((5.0, 5.0), (50.0, 5.0), (50.0, 5.0), (5.0, 5.0)),
        ((float("nan"), 5.0), (50.0, 5.0), (50.0, 9.0), (5.0, 9.0)),
    ],
)
def test_a_quad_without_area_has_no_crop(quad):
    assert upright_cut(page(), quad) is None


def test_a_huge_quad_is_reduced():
    cut = upright_cut(page(), ((0.0, 0.0), (1728.0, 0.0), (1728.0, 2290.0), (0.0, 2290.0)))
    assert max(cut.shape) <= MAX_SIDE + 1


def test_unknown_places_and_missing_pages_have_no_crop():
    assert crop(no_images, "a.tif", 1, QUAD) == ""
    assert crop(lambda *_: page(), "a.tif", None, QUAD) == ""
    assert crop(lambda *_: page(), "a.tif", 1, None) == ""
    assert crop(lambda *_: np.zeros((0, 0), np.uint8), "a.tif", 1, QUAD) == ""


def test_a_page_is_fetched_once():
    asked = []
    images = remembered(lambda *key: asked.append(key))
    for _ in range(3):
        images("a.tif", 1)
    assert asked == [("a.tif", 1)]
