"""PDF pages as pixels: the stored fax image itself where there is one, a rendering otherwise.

A fax PDF is a page covered by one image. Rendered at exactly that image's size it gives back its
pixels unchanged, so that is what happens, and quads are in pixels of that image. pypdfium2 does it
bit for bit; poppler scales such an image to one pixel more than asked and repeats lines, so it is
kept for the pages it is good at: typeset ones, where it also has fallback fonts for Japanese.
Those are rendered at `render_dpi`, and quads are in pixels of that rendering, as a viewer shows
the page (its rotation applied, cut to its crop box).
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

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

    A page that cannot be rendered comes as a damaged `Scan`; the others are not lost.

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
                yield Scan(image, dpi, index + 1, flags)
            except (pdfium.PdfiumError, MemoryError, ValueError) as error:
                reason = f"page {index + 1} of the PDF cannot be rendered: {error}"
                yield Scan(
                    np.full((1, 1), 255, np.uint8),
                    Resolution(render_dpi, render_dpi),
                    index + 1,
                    (("page_damaged", reason),),
                    damaged=True,
                )
    finally:
        with _PDFIUM:
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


def _raster(
    page: pdfium.PdfPage, render_dpi: float, max_pixels: int
) -> tuple[tuple[int, int], Resolution, tuple[Flag, ...], bool]:
    """Size to render to, resolution, flags, and whether the pixels are those of a stored image."""
    width, height = (side / POINTS_PER_INCH for side in page.get_size())
    if not (width > 0 and height > 0):
        raise ValueError("the page has no area")
    full = _page_image(page)
    if full is not None and full[0] * full[1] <= max_pixels:
        tagged = (full[0] / width, full[1] / height)
        return full, *resolution_of(*full, tagged), True
    dpi = min(render_dpi, (max_pixels / (width * height)) ** 0.5)
    size = (max(1, round(width * dpi)), max(1, round(height * dpi)))
    return size, Resolution(dpi, dpi), (), False


def _page_image(page: pdfium.PdfPage) -> tuple[int, int] | None:
    """(width, height) in pixels of the finest image that covers the page, as the page shows it."""
    left, bottom, right, top = page.get_cropbox()
    covering = [
        image.get_px_size()
        for image in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        if _span(image.get_bounds(), (left, bottom, right, top))
    ]
    if not covering:
        return None
    across, down = max(covering, key=lambda size: size[0] * size[1])
    if across < 200 or down < 200:  # a tinted background, not a scan
        return None
    return (down, across) if page.get_rotation() in (90, 270) else (across, down)


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
