"""Ruling lines of an upright page, even where the fax broke them into dashes.

Horizontal strokes longer than any stroke of a character are chained along their own direction: a
broken rule is a row of strokes that line up with small gaps. The same is done on the transposed
page for vertical rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ocr_pipeline.pages.page import Gray

INK = 128
"""Grey levels below this are ink."""

# All lengths in inches, so that they mean the same at 200 and at 400 dpi.
STROKE = 0.14
"""Shortest piece of a rule; longer than a horizontal stroke of body text."""
BRIDGE = 0.025
"""A gap inside a stroke that a speck of white makes."""
THICK = 0.06
"""Thickest rule; a seal's rim and a black bar are thicker."""
GAP = 0.45
"""Longest hole in a broken rule."""
DRIFT = 0.025
"""How far the next piece may lie off the line."""
SHORTEST = 0.4
"""Shortest rule; the cells of a totals box are about that wide."""
COVERED = 0.45
"""Least share of a long rule that must still be ink."""
LONG = 2.0
"""From here on a rule may be broken; a shorter one must be nearly whole, or text would make one."""
COVERED_SHORT = 0.8
FLANK = 0.025
"""Paper is looked for at this distance on both sides of a rule: strokes of text have neighbours."""
CROWDED = 0.35
"""Largest share of a rule's flanks that may be ink."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One ruling line; "along" is x for a horizontal rule and y for a vertical one.

    Attributes:
        start: first pixel along.
        end: last pixel along.
        at: position across, at the middle of the rule.
        slope: change across per pixel along.
        thickness: pixels, mean of the pieces.
    """

    start: float
    end: float
    at: float
    slope: float
    thickness: float

    def across(self, along: float) -> float:
        """Position across at a position along, extrapolated beyond the ends."""
        return self.at + self.slope * (along - (self.start + self.end) / 2)

    @property
    def length(self) -> float:
        """Pixels along."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Rules:
    """The ruling lines of a page: horizontal ones by y, vertical ones by x."""

    horizontal: tuple[Rule, ...] = ()
    vertical: tuple[Rule, ...] = ()

    def borders(self, slack: float) -> tuple[Rule, ...]:
        """The vertical rules that begin and end at a horizontal one, left to right.

        A streak from dirty glass and the strokes of a character do not.

        Args:
            slack: pixels that a border may fall short of, or stand out over, its horizontal rule.
        """

        def meets(vertical: Rule, y: float) -> bool:
            x = vertical.across(y)
            return any(
                h.start - slack <= x <= h.end + slack and abs(h.across(x) - y) <= slack
                for h in self.horizontal
            )

        return tuple(v for v in self.vertical if meets(v, v.start) and meets(v, v.end))


def find_rules(image: Gray, dpi: float) -> Rules:
    """Find the ruling lines of an upright page.

    Args:
        image: H×W grey, dark ink; skew taken out (up to half a degree may be left).
        dpi: resolution of the square pixels.
    """
    ink = (image < INK).astype(np.uint8)
    return Rules(_horizontal(ink, dpi), _horizontal(np.ascontiguousarray(ink.T), dpi))


def erase(image: Gray, rules: Rules) -> Gray:
    """The page without its ruling lines; ink that crosses a rule keeps its own pixels.

    A pixel of a rule goes white unless ink continues on both sides across the rule.
    """
    out = image.copy()
    for horizontal, group in ((True, rules.horizontal), (False, rules.vertical)):
        view = out if horizontal else out.T
        for rule in group:
            _erase_one(view, rule)
    return out


def _erase_one(view: NDArray[np.uint8], rule: Rule) -> None:
    half = int(np.ceil(rule.thickness / 2)) + 1
    along = np.arange(max(0, int(rule.start)), min(view.shape[1], int(rule.end) + 1))
    if len(along) == 0:
        return
    across = np.rint(rule.across(0) + rule.slope * along).astype(int)
    offsets = np.arange(-half, half + 1)
    rows = np.clip(across[None, :] + offsets[:, None], 0, view.shape[0] - 1)
    above = view[np.clip(across - half - 1, 0, view.shape[0] - 1), along] < INK
    below = view[np.clip(across + half + 1, 0, view.shape[0] - 1), along] < INK
    keep = above & below
    view[rows[:, ~keep], np.broadcast_to(along, rows.shape)[:, ~keep]] = 255


def _horizontal(ink: NDArray[np.uint8], dpi: float) -> tuple[Rule, ...]:
    """Horizontal rules of a 0/1 ink image, top to bottom."""
    bridge = max(3, round(BRIDGE * dpi)) | 1
    stroke = max(8, round(STROKE * dpi))
    # One row of slack, so that a rule that steps down by a pixel stays one stroke.
    loose = cv2.dilate(ink, np.ones((3, 1), np.uint8))
    loose = cv2.morphologyEx(loose, cv2.MORPH_CLOSE, np.ones((1, bridge), np.uint8))
    strokes = cv2.morphologyEx(loose, cv2.MORPH_OPEN, np.ones((1, stroke), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(strokes, connectivity=8)
    pieces = []
    for i in range(1, count):
        x, y, w, h, area = (int(v) for v in stats[i])
        thickness = area / w - 2  # less the slack
        if thickness > THICK * dpi or h > THICK * dpi + 0.05 * w + 3:
            continue
        rows, columns = np.nonzero(labels[y : y + h, x : x + w] == i)
        slope, start = np.polyfit(columns, rows, 1) if w > h else (0.0, float(rows.mean()))
        pieces.append(
            Rule(x, x + w - 1, y + start + slope * (w - 1) / 2, float(slope), max(1.0, thickness))
        )
    chains = _chain(sorted(pieces, key=lambda r: r.start), dpi)
    rules = [
        _joined(chain)
        for chain in chains
        if _is_rule(chain, dpi) and _crowding(ink, chain, dpi) <= CROWDED
    ]
    return tuple(sorted(rules, key=lambda r: r.at))


def _chain(pieces: list[Rule], dpi: float) -> list[list[Rule]]:
    """Link pieces, given from left to right, that continue one another."""
    chains: list[list[Rule]] = []
    for piece in pieces:
        best, best_offset = None, DRIFT * dpi
        for chain in chains:
            last = chain[-1]
            gap = piece.start - last.end
            if not -0.05 * dpi <= gap <= GAP * dpi:
                continue
            offset = abs(piece.across(piece.start) - last.across(last.end))
            if offset <= best_offset:
                best, best_offset = chain, offset
        if best is None:
            chains.append([piece])
        else:
            best.append(piece)
    return chains


def _is_rule(chain: list[Rule], dpi: float) -> bool:
    span = max(r.end for r in chain) - chain[0].start
    covered = sum(r.length for r in chain)
    needed = COVERED if span >= LONG * dpi else COVERED_SHORT
    return span >= SHORTEST * dpi and covered >= needed * span


def _crowding(ink: NDArray[np.uint8], chain: list[Rule], dpi: float) -> float:
    """Share of the flanks of a chain's pieces that is ink: near 0 for a rule, high for text."""
    inked = total = 0
    for piece in chain:
        along = np.arange(int(piece.start), int(piece.end) + 1)
        centre = piece.across(0) + piece.slope * along
        for side in (-1, 1):
            offset = side * (piece.thickness / 2 + FLANK * dpi)
            across = np.rint(centre + offset).astype(int)
            inside = (across >= 0) & (across < ink.shape[0])
            inked += int(ink[across[inside], along[inside]].sum())
            total += int(inside.sum())
    return inked / total if total else 0.0


def _joined(chain: list[Rule]) -> Rule:
    """One rule through all pieces of a chain (least squares, weighted by length)."""
    if len(chain) == 1:
        return chain[0]
    start, end = chain[0].start, max(r.end for r in chain)
    along = np.array([v for r in chain for v in (r.start, r.end)])
    across = np.array([v for r in chain for v in (r.across(r.start), r.across(r.end))])
    weight = np.sqrt(np.repeat([r.length + 1 for r in chain], 2))
    slope, offset = np.polyfit(along, across, 1, w=weight)
    total = sum(r.length + 1 for r in chain)
    thickness = sum(r.thickness * (r.length + 1) for r in chain) / total
    return Rule(start, end, float(offset + slope * (start + end) / 2), float(slope), thickness)
