from __future__ import annotations

import ctypes
import re

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
        height, width = image.shape[:2]
        size = (width / dpi[0] * 72, height / dpi[1] * 72)
        page = document.new_page(*size)
        picture = pdfium.PdfImage.new(document)
        picture.set_bitmap(pdfium.PdfBitmap.from_pil(Image.fromarray(image)))
        picture.set_matrix(pdfium.PdfMatrix().scale(*size))
        page.insert_obj(picture)
        page.gen_content()
    document.save(path)
    document.close()


def scan_pdf(path, images):
    """Pages covered by a JPEG (greyscale) or a G4 image (1-bit) each."""
    images[0].save(path, "PDF", resolution=200, save_all=True, append_images=images[1:])


def break_image(path, size=None):
    """Put zeros over the first bytes, or all, of the data of the first image."""
    data = bytearray(path.read_bytes())
    start = re.compile(rb"stream\r?\n").search(data, data.index(b"/Image")).end()
    length = data.index(b"endstream", start) - 1 - start
    size = length if size is None else size
    assert 0 < size <= length
    data[start : start + size] = bytes(size)
    path.write_bytes(data)


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


@pytest.mark.parametrize(("mode", "size"), [("L", 64), ("L", None), ("1", None)])
def test_a_broken_image_is_not_a_blank_page(tmp_path, order, mode, size):
    path = tmp_path / "fax.pdf"
    image = Image.fromarray(order).convert(mode)
    scan_pdf(path, [image, image])
    break_image(path, size)
    lost, whole = pdf_scans(path)
    assert lost.damaged
    assert [code for code, _ in lost.flags] == ["page_damaged"]
    assert "page 1 of the PDF: the stored image is broken" in lost.flags[0][1]
    assert lost.image.shape == order.shape
    assert (whole.damaged, whole.flags) == (False, ())
    first, second = load_pages(path, "fax.pdf")
    assert (first.ink, second.ink) == (Ink.DAMAGED, Ink.OK)
    scan_pdf(path, [image])
    break_image(path, size)
    with pytest.raises(UnreadableFileError, match="broken"):
        list(load_pages(path, "fax.pdf"))


def test_broken_flate_data_is_not_a_blank_page(tmp_path, order):
    path = tmp_path / "fax.pdf"
    fax_pdf(path, [order], (204, 196))
    break_image(path, 64)
    (scan,) = pdf_scans(path)
    assert scan.damaged


@pytest.mark.parametrize("mode", ["L", "1"])
def test_white_paper_is_a_blank_page(tmp_path, drawing, mode):
    path = tmp_path / "blank.pdf"
    scan_pdf(path, [Image.fromarray(drawing.blank()).convert(mode)])
    (page,) = load_pages(path, "blank.pdf")
    assert (page.ink, page.flags) == (Ink.BLANK, ())


@pytest.mark.parametrize("colours", [1, 3])
@pytest.mark.parametrize("quality", [75, 95, None])
def test_grainy_paper_is_not_broken(tmp_path, colours, quality):
    path = tmp_path / "grey.pdf"
    grain = np.random.default_rng(4).normal(244, 3, (1000, 800, colours))
    paper = np.clip(grain, 0, 255).astype(np.uint8).squeeze()
    if quality is None:
        fax_pdf(path, [paper], (100, 100))
    else:
        Image.fromarray(paper).save(path, "PDF", resolution=100, quality=quality)
    (scan,) = pdf_scans(path)
    assert (scan.damaged, scan.flags) == (False, ())
    assert scan.image.min() > 128


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
