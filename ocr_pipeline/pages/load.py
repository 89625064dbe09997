"""Any file → its pages, upright. The door of this room.

"Stored pixels" are those a viewer shows: the EXIF or TIFF orientation and a PDF page's own rotation
are applied first, and quads refer to that.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from ocr_pipeline.errors import InputError, UnreadableFileError, UnsupportedFileError
from ocr_pipeline.pages.direction import Witness
from ocr_pipeline.pages.fax import Flag, Scan, resolution_of
from ocr_pipeline.pages.page import Gray, Ink, Page, Resolution
from ocr_pipeline.pages.pdf import pdf_scans
from ocr_pipeline.pages.upright import upright

PDF_SUFFIXES = frozenset({".pdf"})
IMAGE_SUFFIXES = frozenset({".tif", ".tiff", ".png", ".jpg", ".jpeg", ".bmp", ".webp"})
SUPPORTED_SUFFIXES = PDF_SUFFIXES | IMAGE_SUFFIXES

_FORMATS = ("TIFF", "PNG", "JPEG", "BMP", "WEBP")
_SEND_AGAIN = "the file is truncated or broken; ask for it to be sent again"


def load_pages(
    path: Path,
    source: str,
    *,
    witness: Witness | None = None,
    poppler: bool | None = None,
    max_pixels: int = 120_000_000,
) -> Iterator[Page]:
    """The pages of a file, upright, one after the other.

    A page that cannot be decoded comes as white paper with ink `damaged` and the flag
    `page_damaged`; the other pages of its file are not lost.

    Args:
        path: the file.
        source: what to call it in the result (relative to the scanned folder).
        witness: tells text from text upside down; None: the one shared by this process.
        poppler: render typeset PDF pages with poppler; None: when it is installed.
        max_pixels: pages larger than this are refused.

    Raises:
        UnreadableFileError: missing, empty, truncated, encrypted, or no page can be decoded.
        UnsupportedFileError: not a kind of file that is read.
    """
    scans = read_scans(path, poppler=poppler, max_pixels=max_pixels)
    lost: list[Scan] = []
    alive = False
    for scan in scans:
        if scan.damaged and not alive:
            lost.append(scan)  # told of once it is sure that the file has any page at all
            continue
        if not alive:
            yield from (_damaged(s, source) for s in lost)
            alive = True
        yield _damaged(scan, source) if scan.damaged else upright(scan, source, witness=witness)
    if not alive:
        reason = lost[0].flags[0][1] if lost else "it has no pages"
        raise UnreadableFileError(f"{path.name}: {reason}", remedy=_SEND_AGAIN)


def read_scans(
    path: Path, *, poppler: bool | None = None, max_pixels: int = 120_000_000
) -> Iterator[Scan]:
    """The pages of a file as they are stored; arguments and errors as for `load_pages`."""
    try:
        with path.open("rb") as stream:
            head = stream.read(1024)
    except OSError as error:
        raise UnreadableFileError(
            f"{path.name}: {error.strerror or error}", remedy="check the path and its permissions"
        ) from error
    if not head:
        raise UnreadableFileError(
            f"{path.name}: the file is empty", remedy="ask for it to be sent again"
        )
    # The content decides, not the name: fax servers are careless with suffixes.
    if b"%PDF-" in head:
        return pdf_scans(path, poppler=poppler, max_pixels=max_pixels)
    return _image_scans(path, max_pixels)


def _damaged(scan: Scan, source: str) -> Page:
    height, width = scan.image.shape
    return Page(
        image=scan.image,
        source=source,
        number=scan.number,
        stored_size=(width, height),
        dpi=scan.dpi,
        ink=Ink.DAMAGED,
        flags=scan.flags,
    )


def _image_scans(path: Path, max_pixels: int) -> Iterator[Scan]:
    with _open(path) as image:
        number = 0
        while True:
            try:
                with _quiet():
                    image.seek(number)
            except EOFError:
                return
            except Exception as error:
                # Without the directory of a page there is no way to the pages behind it.
                yield _lost(number + 1, (1, 1), f"the file breaks off here ({error})")
                return
            number += 1
            yield _frame(image, number, max_pixels)


def _open(path: Path) -> Image.Image:
    try:
        with _quiet():
            return Image.open(path, formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise _too_large(path.name) from error
    except Exception as error:
        if path.suffix.lower() in SUPPORTED_SUFFIXES:
            raise UnreadableFileError(
                f"{path.name}: not a readable image", remedy=_SEND_AGAIN
            ) from error
        raise UnsupportedFileError(
            f"{path.name}: not a kind of file that is read",
            remedy="send one of: " + " ".join(sorted(SUPPORTED_SUFFIXES)),
        ) from error


def _frame(image: Image.Image, number: int, max_pixels: int) -> Scan:
    """Decode the current frame; every failure becomes a damaged `Scan`."""
    size = image.size
    if size[0] * size[1] > max_pixels:
        reason = f"{size[0]}×{size[1]} pixels is more than a fax page can have"
        return _lost(number, (1, 1), reason)
    try:
        tagged = _tagged_dpi(image)
        with _quiet(), _fax_decoder_log(image) as bad_lines:
            pixels = _gray(image)
    except Exception as error:  # Pillow's decoders raise whatever the bytes provoke
        return _lost(number, size, f"it cannot be decoded ({error})")
    height, width = pixels.shape
    if tagged is not None and (width, height) != size:
        tagged = tagged[::-1]  # turned a quarter by its orientation tag
    dpi, flags = resolution_of(width, height, tagged)
    return Scan(pixels, dpi, number, (*flags, *_line_errors(bad_lines)))


def _lost(number: int, size: tuple[int, int], reason: str) -> Scan:
    width, height = size
    flag = ("page_damaged", f"page {number}: {reason}")
    white = np.full((height, width), 255, np.uint8)
    return Scan(white, Resolution(200.0, 200.0), number, (flag,), damaged=True)


def _gray(image: Image.Image) -> Gray:
    """Decode to H×W uint8 on white paper, turned as its orientation tag says."""
    image.load()
    frame = ImageOps.exif_transpose(image) if image.format == "JPEG" else image
    if frame.mode.startswith("I") or frame.mode == "F":
        deep = np.asarray(frame, np.float64)
        top = 65535.0 if deep.max(initial=0.0) > 255 else 255.0
        return np.clip(deep / top * 255, 0, 255).astype(np.uint8)
    if frame.has_transparency_data:
        paper = Image.new("RGBA", frame.size, "white")
        frame = Image.alpha_composite(paper, frame.convert("RGBA"))
    return np.array(frame.convert("L"), np.uint8)


def _tagged_dpi(image: Image.Image) -> tuple[float, float] | None:
    """The resolution a file states, in dots per inch; None when it states none that is a number."""
    stated = image.info.get("dpi")
    if stated is None:
        return None
    x, y = (float(v) for v in stated)
    return (x, y) if x > 0 and y > 0 else None


def _line_errors(bad_lines: list[int]) -> tuple[Flag, ...]:
    if not bad_lines:
        return ()
    reason = f"{bad_lines[0]} lines of the page arrived damaged (transmission errors)"
    return (("line_errors", reason),)


def _too_large(name: str) -> InputError:
    return UnreadableFileError(
        f"{name}: the image is far larger than any fax page", remedy="scan it at 200 to 400 dpi"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Pillow's warnings about odd tags and sizes from escaping; sizes are checked here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_STDERR = threading.Lock()


@contextmanager
def _fax_decoder_log(image: Image.Image) -> Iterator[list[int]]:
    """Count the bad lines of a Group 3 or 4 page.

    libtiff decodes what it can and tells of damaged lines nowhere but on the process's stderr, one
    line each. They are taken from there; whatever else was written meanwhile is passed on.

    Yields:
        A list, holding after the block the number of bad lines if there were any.
    """
    found: list[int] = []
    if image.info.get("compression") not in ("group3", "group4", "tiff_ccitt"):
        yield found
        return
    with _STDERR, tempfile.TemporaryFile() as log:
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            yield found
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            log.seek(0)
            lines = log.read().splitlines(keepends=True)
            bad = {m.group() for line in lines if (m := _BAD_LINE.search(line))}
            os.write(2, b"".join(line for line in lines if not line.startswith(b"Fax")))
            if bad:
                found.append(len(bad))


_BAD_LINE = re.compile(rb"line \d+ of \w+ \d+")
