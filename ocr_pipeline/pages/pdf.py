"""PDF pages as pixels: the stored fax image itself where there is one, a rendering otherwise.

A fax PDF is a page covered by one image. Rendered at exactly that image's size it gives back its
pixels unchanged, so that is what happens, and quads are in pixels of that image. pypdfium2 does it
bit for bit; poppler scales such an image to one pixel more than asked and repeats lines, so it is
kept for the pages it is good at: typeset ones, where it also has fallback fonts for Japanese.
Those are rendered at `render_dpi`, and quads are in pixels of that rendering, as a viewer shows
the page (its rotation applied, cut to its crop box).
"""

from __future__ import annotations

import bz2
import math
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from pdf2image import convert_from_path
from pdf2image.exceptions import (
    PDFInfoNotInstalledError,
    PDFPageCountError,
    PDFPopplerTimeoutError,
    PDFSyntaxError,
)

from ocr_pipeline.errors import UnreadableFileError
from ocr_pipeline.pages.fax import Flag, Scan, resolution_of
from ocr_pipeline.pages.page import Gray, Resolution

POINTS_PER_INCH = 72.0
COVERS = 0.8
"""Share of each page side that an image must span to be the page itself."""
INK = 128
"""Grey value below which a pixel is ink."""
WHITE_BYTES = {
    "CCITTFaxDecode": 0.001,
    "JBIG2Decode": 0.001,
    "FlateDecode": 0.005,
    "DCTDecode": 0.03,
}
"""Bytes a pixel, by filter, that a stored image of clean white paper never takes; measured it takes
0.0001 (CCITT, JBIG2), 0.001 (Flate) and 0.012 (DCT)."""
NOISE = 4
"""A picture may be stored in so many times the bytes that its grey rendering is compressed to: the
noise of three colour channels. White paper out of more bytes than that is a decoder that gave up.
"""

_POPPLER_FAILS = (
    PDFInfoNotInstalledError,
    PDFPageCountError,
    PDFPopplerTimeoutError,
    PDFSyntaxError,
)
_PDFIUM = threading.Lock()  # PDFium is not thread-safe, whatever document it works on.


def has_poppler() -> bool:
    """Whether poppler's programs, which pdf2image calls, are installed."""
    return shutil.which("pdftoppm") is not None and shutil.which("pdfinfo") is not None


def pdf_scans(
    path: Path,
    *,
    poppler: bool | None = None,
    render_dpi: float = 300.0,
    max_pixels: int = 120_000_000,
    timeout: int = 120,
) -> Iterator[Scan]:
    """The pages of a PDF, one after the other.

    A page that cannot be rendered, or whose stored image gives nothing but empty paper although it
    holds far too much data for that, comes as a damaged `Scan`; the others are not lost.

    Args:
        path: the file.
        poppler: render typeset pages with poppler; None: when it is installed.
        render_dpi: resolution of pages that are not one stored image.
        max_pixels: larger pages are rendered more coarsely.
        timeout: seconds poppler may take for a page; after that PDFium renders it.

    Raises:
        UnreadableFileError: encrypted, broken, or without pages.
    """
    use_poppler = has_poppler() if poppler is None else poppler
    with _PDFIUM:
        document = _open(path)
        pages = len(document)
    try:
        if pages == 0:
            raise UnreadableFileError(
                f"{path.name}: the PDF has no pages", remedy="ask for the document to be sent again"
            )
        for index in range(pages):
            try:
                with _PDFIUM:
                    page = document[index]
                    size, dpi, flags, stored = _raster(page, render_dpi, max_pixels)
                image = None
                if use_poppler and not stored:
                    image = _poppler(path, index, size, timeout)
                if image is None:
                    with _PDFIUM:
                        image = _render(page, size)
                if stored and _lost(stored, image):
                    reason = (
                        f"page {index + 1} of the PDF: the stored image is broken; "
                        f"its {stored.data} bytes give an empty page"
                    )
                    yield _damaged(index, size, dpi, reason)
                else:
                    yield Scan(image, dpi, index + 1, flags)
            except (pdfium.PdfiumError, MemoryError, ValueError) as error:
                reason = f"page {index + 1} of the PDF cannot be rendered: {error}"
                yield _damaged(index, (1, 1), Resolution(render_dpi, render_dpi), reason)
    finally:
        with _PDFIUM:
            document.close()


def pdf_extent(path: Path, *, pages: int) -> tuple[int, int]:
    """How much there is to a PDF, found out without drawing anything.

    Args:
        path: the file.
        pages: how many pages to look into.

    Returns:
        The number of pages, and the pixels of the largest image on those looked into.

    Raises:
        UnreadableFileError: encrypted or broken.
    """
    with _PDFIUM:
        document = _open(path)
        try:
            largest = 0
            for index in range(min(pages, len(document))):
                images = document[index].get_objects(
                    filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3
                )
                largest = max([largest, *(math.prod(i.get_px_size()) for i in images)])
            return len(document), largest
        except pdfium.PdfiumError as error:
            raise UnreadableFileError(
                f"{path.name}: not a readable PDF ({error})",
                remedy="the file is truncated or broken; ask for it to be sent again",
            ) from error
        finally:
            document.close()


def _open(path: Path) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
            raise UnreadableFileError(
                f"{path.name}: the PDF is encrypted",
                remedy="save it without a password and try again",
            ) from error
        raise UnreadableFileError(
            f"{path.name}: not a readable PDF ({error})",
            remedy="the file is truncated or broken; ask for it to be sent again",
        ) from error


def _damaged(index: int, size: tuple[int, int], dpi: Resolution, reason: str) -> Scan:
    white = np.full(size[::-1], 255, np.uint8)
    return Scan(white, dpi, index + 1, (("page_damaged", reason),), damaged=True)


class _Stored(NamedTuple):
    """The image that is the page: its size as the page shows it, its data in bytes, its filter."""

    size: tuple[int, int]
    data: int
    filter: str


def _lost(stored: _Stored, image: Gray) -> bool:
    """Whether a rendering of nothing, white or black, cannot be all that the stored image holds."""
    most = WHITE_BYTES.get(stored.filter)
    ink = image < INK
    if most is None or stored.data <= most * image.size or (ink.any() and not ink.all()):
        return False
    # The grain of blank paper takes bytes too, but then it is in the rendering.
    return stored.data > NOISE * len(bz2.compress(image.tobytes()))


def _raster(
    page: pdfium.PdfPage, render_dpi: float, max_pixels: int
) -> tuple[tuple[int, int], Resolution, tuple[Flag, ...], _Stored | None]:
    """Size to render to, resolution, flags, and the stored image if the pixels are to be its."""
    width, height = (side / POINTS_PER_INCH for side in page.get_size())
    if not (width > 0 and height > 0):
        raise ValueError("the page has no area")
    stored = _page_image(page)
    if stored is not None and stored.size[0] * stored.size[1] <= max_pixels:
        across, down = stored.size
        dots, flags = resolution_of(across, down, (across / width, down / height))
        return stored.size, dots, flags, stored
    dpi = min(render_dpi, (max_pixels / (width * height)) ** 0.5)
    size = (max(1, round(width * dpi)), max(1, round(height * dpi)))
    return size, Resolution(dpi, dpi), (), None


def _page_image(page: pdfium.PdfPage) -> _Stored | None:
    """The finest image that covers the page."""
    left, bottom, right, top = page.get_cropbox()
    covering = [
        image
        for image in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        if _span(image.get_bounds(), (left, bottom, right, top))
    ]
    if not covering:
        return None
    finest = max(covering, key=lambda image: math.prod(image.get_px_size()))
    across, down = finest.get_px_size()
    if across < 200 or down < 200:  # a tinted background, not a scan
        return None
    size = (down, across) if page.get_rotation() in (90, 270) else (across, down)
    data = pdfium_c.FPDFImageObj_GetImageDataRaw(finest, None, 0)
    filters = finest.get_filters()
    return _Stored(size, data, filters[-1] if filters else "")


def _span(
    bounds: tuple[float, float, float, float], box: tuple[float, float, float, float]
) -> bool:
    across = min(bounds[2], box[2]) - max(bounds[0], box[0])
    down = min(bounds[3], box[3]) - max(bounds[1], box[1])
    return across >= COVERS * (box[2] - box[0]) and down >= COVERS * (box[3] - box[1])


def _render(page: pdfium.PdfPage, size: tuple[int, int]) -> Gray:
    """Render with PDFium to exactly `size`, on white, annotations (stamps, comments) included."""
    width, height = size
    bitmap = pdfium.PdfBitmap.new_native(width, height, pdfium_c.FPDFBitmap_Gray)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
    flags = pdfium_c.FPDF_ANNOT | pdfium_c.FPDF_GRAYSCALE
    pdfium_c.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
    image: Gray = np.array(bitmap.to_numpy(), np.uint8).reshape(height, width)
    bitmap.close()
    return image


def _poppler(path: Path, index: int, size: tuple[int, int], timeout: int) -> Gray | None:
    """Render with poppler to exactly `size`; None where it fails, for PDFium to try."""
    try:
        images = convert_from_path(
            path,
            first_page=index + 1,
            last_page=index + 1,
            size=size,
            grayscale=True,
            use_cropbox=True,
            timeout=timeout,
        )
    except (*_POPPLER_FAILS, OSError, ValueError):
        return None
    return np.array(images[0].convert("L"), np.uint8) if images else None
