"""A page cut into the pictures that a model is shown, and its answers put together again.

| tiling | pictures | the answer |
|---|---|---|
| `page` | the page | Markdown as it is |
| `bands` | cut between text lines, each with the whole image budget | Markdown, cut tables joined |
| `lines` | every text line of its own | words with places |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ocr_pipeline.engines.band_tables import join_bands
from ocr_pipeline.engines.bands import bands
from ocr_pipeline.engines.base import Char, Word
from ocr_pipeline.engines.diffusion_card import Card, Tiling
from ocr_pipeline.engines.ppocr import SECOND_LOOK
from ocr_pipeline.engines.strips import (
    Strip,
    apart,
    padded,
    placed,
    reading_order,
    squeezed,
    strips_of,
)
from ocr_pipeline.geometry import Quad, quad_of_box, transform, union
from ocr_pipeline.pages.page import Gray, Page

FindLines = Callable[[Gray, float], tuple[list[Quad], list[Quad]]]
"""Upright image and dpi → boxes of text, and boxes of what may be text (`ppocr.LineFinder`)."""

TOKEN_SIDE = 48
"""Pixels of a soft token's side: Gemma pools 3×3 patches of 16×16 pixels."""


@dataclass(frozen=True, eq=False)
class Tile:
    """One picture.

    Attributes:
        image: what the model sees, H×W uint8, upright.
        quad: what it shows, stored pixels.
        strip: for `lines`, the same before its rows were squeezed and paper was added.
        line: number of the text line on the page, for parts of a line that was cut.
        sure: a detector found text here; else there is ink that may be text.
        continues: the upper edge goes through a ruled table.
    """

    image: Gray
    quad: Quad
    strip: Strip | None = None
    line: int = 0
    sure: bool = True
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Joined:
    """The answers to all tiles of a page.

    Attributes:
        raw: Markdown, or the lines one below the other.
        chars: one for each character of `raw`.
        words: for `lines`, one a text line, each character with its quad in stored pixels.
    """

    raw: str
    chars: tuple[Char, ...] = ()
    words: tuple[Word, ...] = ()


def tiles_of(
    page: Page,
    tiling: Tiling,
    *,
    card: Card,
    soft_tokens: int = 0,
    token_side: int = TOKEN_SIDE,
    find: FindLines | None = None,
) -> tuple[Tile, ...]:
    """Cut a page into tiles, in reading order.

    Args:
        page: the upright page.
        tiling: how.
        card: the image budget for `bands`; height and widths of the crops for `lines`.
        soft_tokens: goes instead of the budget of the card; 0 keeps that.
        token_side: pixels of a soft token's side, patch · pooling.
        find: for `lines`, finds them.

    Returns:
        The tiles; none when there is nothing to show.

    Raises:
        ValueError: `lines` without `find`.
    """
    if tiling == "page":
        height, width = page.image.shape
        return (Tile(page.image, transform(quad_of_box((0, 0, width, height)), page.matrix)),)
    if tiling == "bands":
        budget = (soft_tokens or card.soft_tokens) * token_side**2
        return tuple(
            Tile(
                page.image[int(top) : int(bottom), int(left) : int(right)],
                transform(quad_of_box(band.box), page.matrix),
                continues=band.continues,
            )
            for band in bands(page.image, max(page.dpi), budget)
            for left, top, right, bottom in (band.box,)
        )
    if find is None:
        raise ValueError("lines have to be found before they can be cut out")
    sure, missed = find(page.image, max(page.dpi))
    quads = [*sure, *missed]
    order = reading_order(quads)
    return line_tiles(page, [quads[i] for i in order], [i < len(sure) for i in order], card=card)


def line_tiles(
    page: Page, quads: Sequence[Quad], sure: Sequence[bool], *, card: Card
) -> tuple[Tile, ...]:
    """Each line its own tile, or several when it is longer than the widest crop.

    Args:
        page: the upright page.
        quads: the lines, upright pixels.
        sure: whether each of them is text.
        card: height and widths of the crops.
    """
    longest = max(card.widths, default=0)
    tiles = []
    for number, (line, certain) in enumerate(zip(quads, sure, strict=True)):
        for cut in strips_of(page.image, line, card.line_height, longest):
            strip = Strip(cut.image, transform(cut.quad, page.matrix))
            seen = padded(squeezed(strip.image, card.squeeze), card.widths)
            tiles.append(Tile(seen, strip.quad, strip, line=number, sure=certain))
    return tuple(tiles)


def join(
    tiling: Tiling,
    said: Sequence[Sequence[Char]],
    tiles: Sequence[Tile],
    *,
    unreadable: str = "",
) -> Joined:
    """Put the answers to the tiles of a page together.

    Args:
        tiling: how it was cut.
        said: the characters of the reply to each tile.
        tiles: as `tiles_of` gave them.
        unreadable: the mark with which the model says that nobody can read a character; such a
            character has confidence 0.
    """
    if tiling != "lines":
        chars = join_bands(said, [t.continues for t in tiles]) if said else ()
        return Joined("".join(c.text for c in chars), chars)
    words = []
    for _, group in groupby(zip(tiles, said, strict=True), key=lambda pair: pair[0].line):
        word = _word(list(group), unreadable)
        if word is not None:
            words.append(word)
    lines = [((Char("\n"),) if i else ()) + word.chars for i, word in enumerate(words)]
    raw = "\n".join(w.text for w in words)
    return Joined(raw, tuple(c for line in lines for c in line), tuple(words))


def _word(parts: Sequence[tuple[Tile, Sequence[Char]]], unreadable: str) -> Word | None:
    """The word on one line; None when nothing was read, or hardly anything where text is unsure."""
    chars: list[Char] = []
    last: Strip | None = None
    for tile, told in parts:
        line = [
            replace(c, confidence=0.0) if unreadable and c.text == unreadable else c
            for c in _trimmed(told)
        ]
        if not line:
            continue
        assert tile.strip is not None  # `line_tiles` made it
        if last is not None and apart(last, tile.strip, chars[-1].text):
            chars.append(Char(" "))
        chars += placed(line, tile.strip)
        last = tile.strip
    if not chars:
        return None
    confidence = min(c.confidence for c in chars)
    if not parts[0][0].sure and confidence < SECOND_LOOK:
        return None
    quad = union([c.quad for c in chars if c.quad is not None]) or parts[0][0].quad
    return Word("".join(c.text for c in chars), confidence, quad, chars=tuple(chars))


def _trimmed(chars: Sequence[Char]) -> list[Char]:
    """A line without white space around it, and with single spaces for breaks within."""
    inked = [i for i, c in enumerate(chars) if c.text.strip()]
    if not inked:
        return []
    inner = chars[inked[0] : inked[-1] + 1]
    return [replace(c, text=" ") if c.text in "\r\n\t" else c for c in inner]
