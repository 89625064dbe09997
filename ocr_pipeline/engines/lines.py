"""Line crops: cutting them out of a page, and placing the recognised characters on their ink."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.engines.base import Char
from ocr_pipeline.engines.ctc import Glyph
from ocr_pipeline.geometry import Quad
from ocr_pipeline.pages.page import Gray

DARK = 128
"""Grey levels below this are ink."""
LATIN_GAP = 0.45
"""Beside a half-width character, paper wider than this share of the text height is a space."""
KANA_GAP = 0.55
"""The same between full-width characters, some of which are narrow (リ ト 1)."""
DIGIT_GAP = 0.8
"""Digits and separators stand far apart in monospaced fonts: there only a wide gap is a space."""
SURE_GAP = 0.15
"""Where the recogniser is sure of a space, this much paper confirms it."""
LIKELY_GAP = 0.3
"""Where the recogniser thought of a space, this much."""
SURE, LIKELY = 0.5, 0.1
"""Probabilities of a space from which the recogniser is sure of it, or has thought of it."""
STANDS_OUT = 1.3
"""Share of the usual distance of two characters that is more than usual."""
_NUMERIC = set("0123456789,.-¥￥:：/%")


def crop(image: Gray, quad: Quad, height: int) -> Gray:
    """The content of a quad as an upright line `height` pixels high, white beyond the page."""
    tl, tr, br, bl = (np.asarray(p) for p in quad)
    across = max(float(np.linalg.norm(tr - tl)), float(np.linalg.norm(br - bl)))
    down = max(float(np.linalg.norm(bl - tl)), float(np.linalg.norm(br - tr)), 1.0)
    width = max(8, round(across / down * height))
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    # Quads name the corners of pixels, OpenCV their centres.
    corners = np.asarray(quad, np.float32) - 0.5
    matrix = cv2.getPerspectiveTransform(corners, target - np.float32(0.5))
    line = cv2.warpPerspective(
        image,
        matrix,
        (width, height),
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=255.0,
    )
    return np.asarray(line, np.uint8)


def place(glyphs: Sequence[Glyph], line: Gray, quad: Quad) -> tuple[Char, ...]:
    """Give every glyph the quad of its own ink, and put spaces where the ink leaves a gap.

    CTC answers with a narrow spike somewhere on the character. Half way between two spikes is the
    first guess of where one character ends; the ink between the guesses is the second.

    Args:
        glyphs: decoded characters, left to right.
        line: the crop they were read from, H×W.
        quad: where the crop lies on the page.

    Returns:
        One `Char` per glyph and per space found; quads in the coordinates of `quad`.
    """
    # An upright stroke alone is a ruling line or a streak: no order is written with one.
    visible = [g for g in glyphs if g.text.strip() and g.text not in "|｜¦"]
    if not visible:
        return ()
    height, width = line.shape
    ink = line < DARK
    top, bottom = _span(text_rows(ink), 0, height)
    columns = ink[top:bottom].sum(axis=0) >= 2
    em = float(max(bottom - top, height // 3))
    centers = [(g.start + g.end) / 2 * width for g in visible]
    pitch = _pitch(visible, centers, em)
    bounds = [
        max(0.0, centers[0] - em * 0.75),
        *((a + b) / 2 for a, b in pairwise(centers)),
        min(float(width), centers[-1] + em * 0.75),
    ]
    chars: list[Char] = []
    for i, glyph in enumerate(visible):
        left, right = _span(columns, int(bounds[i]), int(np.ceil(bounds[i + 1])))
        if i:
            gap = _longest_gap(columns, int(centers[i - 1]), int(centers[i])) / em
            needed = _space_gap(visible[i - 1].text, glyph.text, glyph.space)
            # In a loosely set line the gaps are wide everywhere: a space stands out among them.
            usual = pitch * (advance(visible[i - 1].text) + advance(glyph.text)) / 2
            stands_out = centers[i] - centers[i - 1] > STANDS_OUT * usual
            if gap > needed and (stands_out or glyph.space > LIKELY):
                chars.append(Char(" "))
        box = (left / width, top / height, right / width, bottom / height)
        chars.append(Char(glyph.text, glyph.confidence, glyph.alternatives, part(quad, box)))
    return tuple(chars)


def advance(char: str) -> float:
    """Width that a font gives a character, in ems."""
    return 0.5 if unicodedata.east_asian_width(char) in "NaH" else 1.0


def _pitch(glyphs: Sequence[Glyph], centers: Sequence[float], em: float) -> float:
    """Pixels between the middles of two neighbours, for each em of their widths."""
    if len(glyphs) < 2:
        return em
    widths = [(advance(a.text) + advance(b.text)) / 2 for a, b in pairwise(glyphs)]
    return float(np.median(np.diff(centers) / widths))


def _space_gap(left: str, right: str, space: float) -> float:
    """How wide the paper between two characters must be for a space, in text heights.

    Args:
        left: the character before.
        right: the character behind.
        space: how probable the recogniser thought a space between them.
    """
    if space > SURE:
        return SURE_GAP
    if {left, right} <= _NUMERIC:
        return LATIN_GAP if space > LIKELY else DIGIT_GAP
    if any(unicodedata.east_asian_width(c) in "NaH" for c in (left, right)):
        return LIKELY_GAP if space > LIKELY else LATIN_GAP
    return KANA_GAP


def text_rows(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows of a line have more ink than a speck."""
    return np.asarray(ink.sum(axis=1) > max(1, 0.004 * ink.shape[1]))


def _span(marks: NDArray[np.bool_], start: int, end: int) -> tuple[int, int]:
    """First and last+1 marked index within [start, end); the whole range when none is marked."""
    found = np.flatnonzero(marks[start:end])
    if len(found) == 0:
        return start, max(end, start + 1)
    return start + int(found[0]), start + int(found[-1]) + 1


def _longest_gap(columns: NDArray[np.bool_], start: int, end: int) -> int:
    """Length of the longest run of unmarked columns between two positions."""
    marked = np.flatnonzero(columns[start : end + 1])
    if len(marked) == 0:
        return end - start
    return int(np.diff(marked).max(initial=1)) - 1


def part(quad: Quad, box: tuple[float, float, float, float]) -> Quad:
    """The part of a quad inside (left, top, right, bottom) fractions of it."""
    tl, tr, br, bl = (np.asarray(p, dtype=float) for p in quad)
    left, top, right, bottom = box

    def at(u: float, v: float) -> tuple[float, float]:
        x, y = (tl * (1 - u) + tr * u) * (1 - v) + (bl * (1 - u) + br * u) * v
        return float(x), float(y)

    return at(left, top), at(right, top), at(right, bottom), at(left, bottom)
