"""Lines of a drawing as characters with their ink, and the parts of them that fit into a crop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ocr_pipeline.geometry import Box, box_of
from synth.drawing import Drawing, Written

LONGEST = 23
"""Characters in a canvas of 24, which also holds the end of the text. Few crops are so dense."""
SIDE = 0.35
"""The most paper left and right of a line, in heights of its box."""
CUT = (0.2, 0.8)
"""Where between two characters a line is cut, as a share of the paper between them."""
_WHOLE = 0.85
"""Share of the lines that are split only where they must be."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters that stand in one line.

    Attributes:
        chars: each character with the box of its ink, mm on the sheet; a space has none.
        y: middle of the line, mm.
        size: type size, mm.
        before, after: where the neighbours of a part end and begin, mm; None at the ends of the
            line.
    """

    chars: tuple[tuple[str, Box | None], ...]
    y: float
    size: float
    before: float | None = None
    after: float | None = None

    @property
    def text(self) -> str:
        """What is written."""
        return "".join(c for c, _ in self.chars)


def segments_of(drawing: Drawing) -> Iterator[tuple[int, Segment]]:
    """The lines of a drawing with their index.

    Lines that are cut by the edge of the sheet, or hold a glyph without ink, are left out.
    """
    runs = iter(drawing.runs)
    for index, line in enumerate(drawing.lines):
        boxes: list[tuple[str, Box]] = []
        whole = True
        for text, _ in line.pieces:
            seen = text.replace("\u3000", "").replace(" ", "")
            if seen:
                # Every piece that left ink is a run, in the same order.
                run = next(runs)
                whole = whole and "".join(c for c, _ in run.chars) == seen
                boxes += run.chars
        if whole and boxes:
            yield index, _segment(line, boxes)


def _segment(line: Written, boxes: list[tuple[str, Box]]) -> Segment:
    """Put the spaces back; several in a row, or a wide one, look like one."""
    chars: list[tuple[str, Box | None]] = []
    found = iter(boxes)
    for char in "".join(t for t, _ in line.pieces).replace("\u3000", " ").strip():
        if char != " ":
            chars.append(next(found))
        elif chars[-1][1] is not None:
            chars.append((" ", None))
    return Segment(tuple(chars), line.y, line.size)


def band(line: Segment, rng: np.random.Generator) -> tuple[float, float]:
    """Top and bottom of a line's box as a detector draws it, mm: around the ink or the type."""
    tops, bottoms = zip(*((b[1], b[3]) for _, b in line.chars if b), strict=True)
    half = line.size * float(rng.uniform(0.3, 0.52))
    if rng.random() < 0.6:
        half *= 0.7
    top, bottom = min(*tops, line.y - half), max(*bottoms, line.y + half)
    tall = bottom - top
    above, below = rng.uniform(0.02, 0.32, 2) * tall
    if rng.random() < 0.1:
        above, below = rng.uniform(0.0, 0.6, 2) * tall
    return top - above, bottom + below


def split(line: Segment, longest: float, rng: np.random.Generator) -> list[Segment]:
    """Parts that fit into a crop; now and then a line that would fit is split as well.

    Args:
        line: the line.
        longest: mm that a part may be wide.
        rng: for how often, and where.
    """
    if rng.random() >= _WHOLE:
        longest *= float(rng.uniform(0.3, 1.0))
    parts: list[list[tuple[str, Box | None]]] = [[]]
    for char, box in line.chars:
        part = parts[-1]
        first = part[0][1] if part else None
        wide = box is not None and first is not None and box[2] - first[0] > longest
        if len(part) >= LONGEST or wide:
            part = []
            parts.append(part)
        if part or box is not None:  # no part begins with a space
            part.append((char, box))
    for part in parts:
        while part and part[-1][1] is None:
            part.pop()
    kept = [p for p in parts if p]
    ends = [_ends(p) for p in kept]
    return [
        Segment(
            tuple(part),
            line.y,
            line.size,
            ends[i - 1][1] if i else None,
            ends[i + 1][0] if i + 1 < len(kept) else None,
        )
        for i, part in enumerate(kept)
    ]


def _ends(part: Sequence[tuple[str, Box | None]]) -> tuple[float, float]:
    """The columns between which a part has ink, mm."""
    left, _, right, _ = box_of([p for _, b in part if b for p in (b[:2], b[2:])])
    return left, right


def frame(part: Segment, top: float, bottom: float, widest: float, rng: np.random.Generator) -> Box:
    """The box of a part of a line, mm: some paper on both sides, but no neighbour.

    Args:
        part: the part.
        top: of the band of its line, mm.
        bottom: of the same.
        widest: what the box may be wide; a part that is no longer than that stays whole.
        rng: for the paper.
    """
    left, right = _ends(part.chars)
    before, after = rng.uniform(0.0, SIDE, 2) * (bottom - top)
    if part.before is not None:
        before = min(before, max(0.0, left - part.before) * float(rng.uniform(*CUT)))
    if part.after is not None:
        after = min(after, max(0.0, part.after - right) * float(rng.uniform(*CUT)))
    shrink = min(1.0, max(0.0, widest - (right - left)) / max(before + after, 1e-9))
    return left - before * shrink, top, right + after * shrink, bottom
