import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from ocr_pipeline.errors import UsageError
from synth.coding import CODINGS, TiffPage, decode, encode, tiff

pages = arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(1, 70))).map(
    lambda a: np.where(a, 0, 255).astype(np.uint8)
)


@pytest.mark.parametrize("coding", CODINGS)
@settings(deadline=None, max_examples=25)
@given(page=pages)
def test_decoding_undoes_coding(coding, page):
    np.testing.assert_array_equal(decode(encode(page, coding), page.shape, coding), page)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize("white", [False, True])
def test_pillow_reads_every_variant_and_its_tags(coding, low, white):
    rng = np.random.default_rng(3)
    both = [np.where(rng.random((40, 1728)) < 0.1, 0, 255).astype(np.uint8) for _ in range(2)]
    stored = [
        TiffPage(encode(p, coding, negative=not white), p.shape, (204.0, 98.0), coding)
        for p in both
    ]
    data = tiff(stored, low_bit_first=low, min_is_white=white)
    with Image.open(io.BytesIO(data)) as file:
        assert file.n_frames == 2
        for number, page in enumerate(both):
            file.seek(number)
            np.testing.assert_array_equal(np.asarray(file.convert("L")), page)
            tags = file.tag_v2
            assert tags[259] == CODINGS[coding][0]
            assert tags[262] == (0 if white else 1)
            assert tags[266] == (2 if low else 1)
            assert (tags[282], tags[283], tags[296]) == (204, 98, 2)
            assert tags[297] == (number, 2)
            if coding != "MMR":
                assert tags[292] == CODINGS[coding][1]


def test_grey_pages():
    page = np.arange(200, dtype=np.uint8).reshape(10, 20)
    data = tiff([TiffPage(page.tobytes(), page.shape, (200.0, 200.0), "grey")])
    with Image.open(io.BytesIO(data)) as file:
        np.testing.assert_array_equal(np.asarray(file), page)
        assert file.info["dpi"] == (200, 200)


def test_paper_is_the_cheap_run():
    blank = np.full((100, 1728), 255, np.uint8)
    assert len(encode(blank, "MMR")) < len(encode(~blank, "MMR"))


@pytest.mark.parametrize("coding", CODINGS)
def test_rubbish_decodes_to_some_page_and_says_nothing(coding, capfd):
    rubbish = np.random.default_rng(0).bytes(3000)
    page = decode(rubbish, (50, 1728), coding)
    assert page.shape == (50, 1728)
    assert set(np.unique(page)) <= {0, 255}
    assert decode(b"", (5, 8), coding).shape == (5, 8)
    assert capfd.readouterr() == ("", "")


def test_unknown_codings_are_refused():
    with pytest.raises(UsageError):
        encode(np.zeros((2, 2), np.uint8), "JBIG")
