from __future__ import annotations

import ctypes

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image

from ocr_pipeline.errors import UnreadableFileError
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pages.page import Ink, Resolution
from ocr_pipeline.pages.pdf import has_poppler, pdf_scans

POPPLER = [
    False,
    pytest.param(
        True, marks=pytest.mark.skipif(not has_poppler(), reason="poppler is not installed")
    ),
]


def fax_pdf(path, images, dpi):
    """Pages covered by one image each, as fax servers write them."""
    document = pdfium.PdfDocument.new()
    for image in images:
        height, width = image.shape
        size = (width / dpi[0] * 72, height / dpi[1] * 72)
        page = document.new_page(*size)
        picture = pdfium.PdfImage.new(document)
        picture.set_bitmap(pdfium.PdfBitmap.from_pil(Image.fromarray(image)))
        picture.set_matrix(pdfium.PdfMatrix().scale(*size))
        page.insert_obj(picture)
        page.gen_content()
    document.save(path)
    document.close()


def typeset_pdf(path, size=(595, 842)):
    """A page of text without any image."""
    document = pdfium.PdfDocument.new()
    page = document.new_page(*size)
    raw = pdfium.raw
    for row in range(20):
        text = raw.FPDFPageObj_NewTextObj(document, b"Helvetica", ctypes.c_float(12.0))
        line = f"PURCHASE ORDER {row:03d} total 12,345.50\0".encode("utf-16-le")
        buffer = (ctypes.c_ushort * (len(line) // 2)).from_buffer_copy(line)
        raw.FPDFText_SetText(text, buffer)
        raw.FPDFPageObj_Transform(text, 1, 0, 0, 1, 60, size[1] - 100 - 24 * row)
        raw.FPDFPage_InsertObject(page, text)
    page.gen_content()
    document.save(path)
    document.close()


@pytest.fixture(scope="module")
def order(drawing):
    return drawing.order(6, height=2292)


@pytest.mark.parametrize("poppler", POPPLER)
@pytest.mark.parametrize("dpi", [(204, 196), (204, 98)])
def test_a_fax_page_gives_back_its_own_pixels(tmp_path, order, poppler, dpi):
    path = tmp_path / "fax.pdf"
    stored = order if dpi[1] == 196 else np.ascontiguousarray(order[::2])
    fax_pdf(path, [stored, 255 - stored], dpi)
    scans = list(pdf_scans(path, poppler=poppler))
    assert [s.number for s in scans] == [1, 2]
    assert np.array_equal(scans[0].image, stored)
    assert np.array_equal(scans[1].image, 255 - stored)
    assert scans[0].dpi == pytest.approx(dpi, rel=0.002)


@pytest.mark.parametrize("poppler", POPPLER)
def test_a_typeset_page_is_rendered(tmp_path, poppler):
    path = tmp_path / "letter.pdf"
    typeset_pdf(path)
    (page,) = load_pages(path, "letter.pdf", poppler=poppler)
    assert page.dpi == Resolution(300.0, 300.0)
    assert page.stored_size == (round(595 / 72 * 300), round(842 / 72 * 300))
    assert page.ink is Ink.OK
    assert page.rotation == 0
    # The first line's baseline is 100 points from the top, and its text begins at 60 points.
    y, x = np.nonzero(page.image < 128)
    assert y.min() == pytest.approx((100 - 9) / 72 * 300, abs=8)
    assert x.min() == pytest.approx(60 / 72 * 300, abs=8)


def test_both_renderers_put_the_text_in_the_same_place(tmp_path):
    if not has_poppler():
        pytest.skip("poppler is not installed")
    path = tmp_path / "letter.pdf"
    typeset_pdf(path)
    (a,), (b,) = (list(pdf_scans(path, poppler=p)) for p in (False, True))
    assert a.image.shape == b.image.shape
    for axis in (0, 1):
        first, second = ((s.image < 128).any(axis=axis).nonzero()[0][[0, -1]] for s in (a, b))
        assert first == pytest.approx(second, abs=4)


def test_a_rotated_page_is_seen_as_a_viewer_shows_it(tmp_path, order):
    path, rotated = tmp_path / "fax.pdf", tmp_path / "rotated.pdf"
    fax_pdf(path, [order], (204, 196))
    document = pdfium.PdfDocument(path)
    document[0].set_rotation(90)
    document.save(rotated)
    document.close()
    (scan,) = pdf_scans(rotated)
    assert np.array_equal(scan.image, np.rot90(order, -1))
    assert scan.dpi == pytest.approx((196, 204), rel=0.002)


@pytest.mark.parametrize("poppler", POPPLER)
def test_a_page_of_unbelievable_size_is_measured_by_its_width(tmp_path, order, poppler):
    path = tmp_path / "fax.pdf"
    fax_pdf(path, [order], (72, 72))  # one point a pixel
    (scan,) = pdf_scans(path, poppler=poppler)
    assert scan.dpi == Resolution(204.0, 196.0)


def test_poster_sized_pages_are_rendered_within_bounds(tmp_path):
    path = tmp_path / "poster.pdf"
    typeset_pdf(path, (5000, 7000))
    (scan,) = pdf_scans(path, poppler=False, max_pixels=4_000_000)
    assert scan.image.size == pytest.approx(4_000_000, rel=0.01)


def test_a_pdf_without_pages(tmp_path):
    path = tmp_path / "none.pdf"
    document = pdfium.PdfDocument.new()
    document.save(path)
    document.close()
    with pytest.raises(UnreadableFileError):
        list(pdf_scans(path))


def test_truncated_pdf(tmp_path, order):
    path = tmp_path / "cut.pdf"
    fax_pdf(path, [order], (204, 196))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UnreadableFileError) as error:
        list(pdf_scans(path))
    assert error.value.remedy


def test_encrypted_pdf(tmp_path):
    path = tmp_path / "secret.pdf"
    path.write_bytes(ENCRYPTED)
    with pytest.raises(UnreadableFileError, match="encrypted") as error:
        list(pdf_scans(path))
    assert "password" in error.value.remedy


# A page-less-than-minimal PDF whose standard security handler (RC4, 40 bit) wants a password.
ENCRYPTED = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\n"
    b"4 0 obj<</Filter/Standard/V 1/R 2/P -4/O<"
    + b"41" * 32
    + b">/U<"
    + b"42" * 32
    + b">>>endobj\n"
    b"trailer<</Root 1 0 R/Size 5/Encrypt 4 0 R/ID[<00><00>]>>\n%%EOF\n"
)
