"""Styled text of a run, folded to a width: what is final plain, what is forming grey."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from math import inf, log

from rich.cells import get_character_cell_size
from rich.text import Text

from ocr_pipeline.denoise.view import GAP, Lane, Tile
from ocr_pipeline.engines.event_data import Number

FINAL = ""
DRAFT = "grey50"
CHANGED = "grey50 dim"
"""What was different one step ago is noise, most likely: it recedes."""
NOT_BEGUN = "·"
"""Stands for a tile of which nothing is known yet."""
HEAT = (
    (0.1, ""),
    (0.5, "color(108)"),
    (1.5, "color(179)"),
    (3.0, "color(173)"),
    (inf, "color(167)"),
)
"""Nats up to which a character has this colour; below the first it looks as it does without heat.
The colours can be told apart on black and on white, and by brightness alone."""

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)


class _Visible(dict[int, str]):
    """A table for `str.translate`, made as characters turn up."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if code in _VARIATION_SELECTORS or unicodedata.category(char) in _HIDDEN:
            char = "·"
        return self.setdefault(code, char)


_VISIBLE = _Visible({ord("\n"): "\n", ord("\t"): " "})


def visible(text: str) -> str:
    """The text, one character for one, with a dot for all that would steer a terminal.

    Noise is any of a quarter million tokens: control characters, joiners, directions of writing.
    """
    return text.translate(_VISIBLE)


def styled(lane: Lane, height: int, *, heat: bool = False) -> tuple[Text, int | None]:
    """The text of a run with its styles, and where its forming part begins.

    Args:
        lane: the run.
        height: lines that can be seen; what is surely above or below them is left out.
        heat: colour by entropy, and final characters by how much their confidence lacks.

    Returns:
        The text, and the position of its first draft character; None when nothing is forming.
    """
    lines = lane.lines
    forming = {n for n, tile in lane.tiles.items() if tile.draft}
    first = next((i for i, row in enumerate(lines) if forming & set(row)), len(lines))
    text, start = Text(), None
    for i, row in enumerate(lines[max(0, first - height) : first + height]):
        if i:
            text.append("\n")
        for k, n in enumerate(row):
            if k:
                text.append(GAP)
            if n not in lane.tiles:
                text.append(NOT_BEGUN, CHANGED)
                continue
            tile = _last_lines(lane.tiles[n], height) if start is None else lane.tiles[n]
            _append(text, tile.committed, _committed_styles(tile, heat))
            if tile.draft and start is None:
                start = len(text)
            _append(text, tile.draft, _draft_styles(tile, heat))
    return text, start


def fold(text: Text, width: int) -> list[tuple[int, Text]]:
    """Cut a text into lines of at most `width` cells, each with the position it begins at.

    Lines break between any two characters, as Japanese does: were words kept whole, all that
    follows would jump whenever noise puts a space somewhere.
    """
    lines: list[tuple[int, Text]] = []
    begin = 0
    for line in text.split("\n", allow_blank=True):
        breaks = _breaks(line.plain, width)
        starts = (begin + b for b in (0, *breaks))
        lines += zip(starts, line.divide(breaks), strict=True)
        begin += len(line) + 1
    return lines


def window(lines: int, height: int, forming: int | None) -> int:
    """The first line to show, of so many: the last ones, but never past where the draft begins.

    Args:
        lines: how many there are.
        height: how many can be seen.
        forming: the line in which the draft begins; None when nothing is forming.
    """
    last = max(0, lines - height)
    return last if forming is None else min(last, forming)


def _breaks(plain: str, width: int) -> list[int]:
    breaks, used = [], 0
    for i, char in enumerate(plain):
        cells = get_character_cell_size(char)
        if used + cells > width and used:
            breaks.append(i)
            used = 0
        used += cells
    return breaks


def _append(text: Text, chars: str, styles: Iterable[str]) -> None:
    """Add characters, those of one style together."""
    start = 0
    for style, group in groupby(styles):
        end = start + sum(1 for _ in group)
        text.append(visible(chars[start:end]), style)
        start = end


def _committed_styles(tile: Tile, heat: bool) -> list[str]:
    if not heat:
        return [FINAL] * len(tile.committed)
    # −ln p of what was chosen is on the scale of entropy: both are nats.
    doubts = (None if c is None else -log(max(c, 1e-9)) for c in tile.confidence)
    return [_warm(doubt) or FINAL for doubt in doubts]


def _draft_styles(tile: Tile, heat: bool) -> list[str]:
    greys = (CHANGED if i in tile.changed else DRAFT for i in range(len(tile.draft)))
    if not heat:
        return list(greys)
    return [_warm(e) or grey for e, grey in zip(tile.entropy, greys, strict=True)]


def _warm(nats: Number) -> str:
    return "" if nats is None else next(style for limit, style in HEAT if nats <= limit)


def _last_lines(tile: Tile, count: int) -> Tile:
    """A tile without committed lines that are more than `count` before its end."""
    cut = len(tile.committed)
    for _ in range(count):
        cut = tile.committed.rfind("\n", 0, cut)
        if cut < 0:
            return tile
    return replace(tile, committed=tile.committed[cut + 1 :], confidence=tile.confidence[cut + 1 :])
