"""Practice pages: sheets packed with texts of all kinds, sent through the fax chain.

An order has some eighty texts on a page and takes as long as a full page to go through the chain,
so most of the training data comes from pages that are written full.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ocr_pipeline.pocket.texts import draw_text
from ocr_pipeline.pocket.tokenizer import characters
from synth.chain import Plate, plate_of, run
from synth.drawing import Drawing
from synth.fonts import Face, faces
from synth.seeds import chance, pick, stream
from synth.severity import draw_chain

WIDTH, HEIGHT = 210.0, 297.0
"""Millimetres of an A4 sheet."""
SCALE = 12.0
"""Pixels a millimetre of the drawing, as of an order."""
SIZES = (2.5, 2.8, 3.0, 3.2, 3.5, 3.7, 4.0, 4.4, 5.2)
"""Type sizes, mm: 7 to 15 points."""
_MARGIN = 9.0


@dataclass(frozen=True, eq=False)
class Practice:
    """A practice page.

    Attributes:
        drawing: as written.
        plate: as stored.
        kinds: kind of each line of the drawing.
    """

    drawing: Drawing
    plate: Plate
    kinds: tuple[str, ...]


@cache
def known(face: Face) -> frozenset[str]:
    """The characters of the vocabulary that a face can draw."""
    return frozenset(characters()) - frozenset(face.missing(characters()))


def practice_page(seed: int, severity: int, *, lesson: float = 1.0, pool: str = "any") -> Practice:
    """Write a page full of texts and send it through the chain of a severity.

    Args:
        seed: decides everything.
        severity: 0 to 5.
        lesson: see `draw_text`.
        pool: of fonts.
    """
    rng = stream(seed, "practice")
    page = Drawing(WIDTH, HEIGHT, SCALE, pick(rng, faces(pool)))
    kinds: list[str] = []
    y = _MARGIN
    while y < HEIGHT - _MARGIN:
        size = pick(rng, SIZES)
        if chance(rng, 0.12):
            page.face = pick(rng, faces(pool))
        pitch = size * float(rng.uniform(1.25, 2.3))
        kinds += _row(page, y + pitch / 2, pitch, size, rng, lesson)
        y += pitch
    needles = 4.0 if chance(rng, 0.06) else 0.0
    chain = draw_chain(severity, seed, needles_per_mm=needles)
    plate = run(chain, plate_of(np.asarray(255 - page.ink, np.uint8), SCALE), seed)
    return Practice(page, plate, tuple(kinds))


def _row(
    page: Drawing, y: float, pitch: float, size: float, rng: np.random.Generator, lesson: float
) -> list[str]:
    """One row of texts, with or without rules around them; returns their kinds."""
    kinds: list[str] = []
    ruled = chance(rng, 0.35)
    rule = float(rng.uniform(0.1, 0.45))
    x = _MARGIN + float(rng.uniform(0, 12))
    top, bottom = y - pitch / 2, y + pitch / 2
    while x < WIDTH - _MARGIN - size:
        text, kind = draw_text(rng, lesson)
        text = "".join(c for c in text if c in known(page.face)).strip()
        if not text:
            continue
        track = size * float(rng.uniform(0.05, 0.5)) if chance(rng, 0.1) else 0.0
        squeeze = float(rng.uniform(0.72, 1.0)) if chance(rng, 0.15) else 1.0
        natural = page.measure(text, size, track=track)
        room = WIDTH - _MARGIN - x
        if natural * squeeze > room:
            text = text[: int(len(text) * room / natural)].strip()
            if not text or kinds:
                break
            natural = page.measure(text, size, track=track)
        if chance(rng, 0.05):
            page.tint(x - 1, top, x + natural * squeeze + 1, bottom, float(rng.uniform(0.05, 0.3)))
        bold = float(rng.uniform(0.05, 0.16)) if chance(rng, 0.12) else 0.0
        before = len(page.lines)
        width = natural * squeeze
        page.text(x, y, text, size, bold=bold, track=track, width=width)
        if len(page.lines) == before:
            continue
        kinds.append(kind)
        if chance(rng, 0.06):
            under = y + size * float(rng.uniform(0.5, 0.75))
            page.line(x - 0.5, under, x + width + 0.5, under, rule)
        if chance(rng, 0.04):
            page.box(x - 1, top + 0.2, x + width + 1, bottom - 0.2, rule)
        gap = size * float(rng.uniform(0.8, 2.5))
        if ruled:
            side = x + width + gap * float(rng.uniform(0.2, 0.8))
            page.line(side, top, side, bottom, rule)
        x += width + gap
    if ruled:
        for edge in (top, bottom):
            page.line(_MARGIN, edge, WIDTH - _MARGIN, edge, rule)
    return kinds
