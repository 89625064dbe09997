"""Fax coding (ITU-T T.4, T.6) by libtiff, and TIFF files written tag by tag.

libtiff codes and decodes; the directory is written here, because what a fax server stores
(two resolutions, MinIsWhite, the low bit first, fax tags) cannot all be asked of Pillow, and
because a file must not depend on anything but its content.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from ocr_pipeline.errors import UsageError
from ocr_pipeline.pages.page import Gray

CODINGS = {"MH": (3, 0), "MR": (3, 1), "MMR": (4, 0)}
"""Modified Huffman, Modified READ (T.4) and MMR (T.6) → TIFF Compression and T4Options."""

_MIRROR = bytes(int(f"{i:08b}"[::-1], 2) for i in range(256))
_SHORT, _LONG, _RATIONAL = 3, 4, 5


def encode(image: Gray, coding: str, *, negative: bool = False) -> bytes:
    """Code a page of 0 and 255 as one strip, the high bit first; paper is the white run.

    With `negative` ink is, which is what a file with MinIsBlack holds.

    Raises:
        UsageError: no such coding.
    """
    if coding not in CODINGS:
        raise UsageError(f"no coding is called {coding!r}", remedy="use MH, MR or MMR")
    compression, options = CODINGS[coding]
    tags = {278: image.shape[0]} | ({292: options} if options else {})
    buffer = io.BytesIO()
    # libtiff codes zeros as white runs whatever the photometric tag says, so ink must be one.
    page = Image.fromarray(np.ascontiguousarray((image < 128) != negative))
    page.save(buffer, "TIFF", compression="group3" if compression == 3 else "group4", tiffinfo=tags)
    data = buffer.getvalue()
    with Image.open(io.BytesIO(data)) as stored:
        assert isinstance(stored, TiffImageFile)
        start, length = stored.tag_v2[273][0], stored.tag_v2[279][0]
    return data[start : start + length]


def decode(strip: bytes, shape: tuple[int, int], coding: str) -> Gray:
    """Decode a strip, however damaged, into a page of 0 and 255; what is lost is white.

    Lines with bad codes come out as the decoder leaves them: smeared, cut or copied.
    """
    data = tiff([TiffPage(strip, shape, (204.0, 196.0), coding)])
    level = cv2.utils.logging.getLogLevel()
    # libtiff complains about every bad code; here they are wanted.
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE)
    finally:
        cv2.utils.logging.setLogLevel(level)
    if image is None:
        return np.full(shape, 255, np.uint8)
    return np.asarray(image, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class TiffPage:
    """One page of a TIFF file.

    Attributes:
        data: the coded strip, high bit first; for `grey` H×W raw bytes.
        shape: (height, width).
        dpi: along x and y.
        coding: `MH`, `MR`, `MMR` or `grey`.
    """

    data: bytes
    shape: tuple[int, int]
    dpi: tuple[float, float]
    coding: str


def tiff(
    pages: Sequence[TiffPage], *, low_bit_first: bool = False, min_is_white: bool = True
) -> bytes:
    """A TIFF file, class F for faxes (RFC 2306).

    Args:
        pages: at least one.
        low_bit_first: FillOrder 2, as fax modems deliver.
        min_is_white: PhotometricInterpretation 0; False is for strips coded as `negative`.
    """
    out = bytearray(b"II*\0\0\0\0\0")
    link = 4
    for number, page in enumerate(pages):
        strip = page.data
        if page.coding == "grey":
            strip = zlib.compress(strip, 6)
        elif low_bit_first:
            strip = strip.translate(_MIRROR)
        start = len(out)
        out += strip + b"\0" * (len(strip) % 2)
        entries = _entries(page, (start, len(strip)), low_bit_first, min_is_white)
        entries.append((297, _SHORT, struct.pack("<HH", number, len(pages))))
        entries[0] = (254, _LONG, _long(2 if len(pages) > 1 else 0))
        struct.pack_into("<I", out, link, len(out))
        link = _directory(out, entries)
    return bytes(out)


def _long(value: int) -> bytes:
    return struct.pack("<I", value)


def _short(value: int) -> bytes:
    return struct.pack("<HH", value, 0)


def _ratio(value: float) -> bytes:
    return struct.pack("<II", round(value * 1000), 1000)


def _entries(
    page: TiffPage, strip: tuple[int, int], low: bool, white: bool
) -> list[tuple[int, int, bytes]]:
    """(tag, type, packed value) of one page in the order of the tags, all but the page number."""
    height, width = page.shape
    grey = page.coding == "grey"
    compression, options = (8, 0) if grey else CODINGS[page.coding]
    entries = [
        (254, _LONG, _long(0)),
        (256, _LONG, _long(width)),
        (257, _LONG, _long(height)),
        (258, _SHORT, _short(8 if grey else 1)),
        (259, _SHORT, _short(compression)),
        (262, _SHORT, _short(1 if grey or not white else 0)),
        (266, _SHORT, _short(2 if low and not grey else 1)),
        (273, _LONG, _long(strip[0])),
        (277, _SHORT, _short(1)),
        (278, _LONG, _long(height)),
        (279, _LONG, _long(strip[1])),
        (282, _RATIONAL, _ratio(page.dpi[0])),
        (283, _RATIONAL, _ratio(page.dpi[1])),
    ]
    if compression == 3:
        entries.append((292, _LONG, _long(options)))
    elif compression == 4:
        entries.append((293, _LONG, _long(0)))
    return [*entries, (296, _SHORT, _short(2))]


def _directory(out: bytearray, entries: list[tuple[int, int, bytes]]) -> int:
    """Append a directory; returns where the link to the next one has its place."""
    extra = len(out) + 2 + 12 * len(entries) + 4
    tail = bytearray()
    out += struct.pack("<H", len(entries))
    for tag, kind, value in entries:
        count = 2 if tag == 297 else 1
        if len(value) > 4:
            out += struct.pack("<HHII", tag, kind, count, extra + len(tail))
            tail += value
        else:
            out += struct.pack("<HHI", tag, kind, count) + value
    link = len(out)
    out += b"\0\0\0\0" + tail
    return link
