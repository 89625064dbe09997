"""Words and ruling lines → Transcript, for engines that answer with boxes.

A table is found by its header: a line of words most of which are known column titles. Its columns
come from the vertical rules that cross the header, or, on sheets without them, from how the words
below line up with the titles. Its rows come from the horizontal rules where they are whole, and
from the text lines where they are not: a fax breaks rules more often than it breaks text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from rapidfuzz import fuzz

from ocr_pipeline.engines.base import Reading
from ocr_pipeline.geometry import Matrix
from ocr_pipeline.pages.page import Page
from ocr_pipeline.pages.rules import Rule, Rules, find_rules
from ocr_pipeline.tables.transcript import Cell, Table, Transcript
from ocr_pipeline.tables.words import (
    Token,
    cell_of,
    cut,
    lines_of,
    pieces_of,
    tokens_of,
)

TITLE_LIKENESS = 74.0
"""rapidfuzz ratio from which a word counts as a known column title."""
FEWEST_TITLES = 3
"""A header has at least this many known titles."""

REACH = 4
"""Pixels (and rule thicknesses) that a border may end short of the rule that closes it."""

Fold = Callable[[str], str]
"""Turns a printed title into the form the known titles are kept in."""


@dataclass(frozen=True, slots=True)
class Column:
    """Horizontal extent of a column, upright pixels."""

    left: float
    right: float


def transcribe(
    reading: Reading, page: Page, titles: frozenset[str], fold: Fold = str.strip
) -> Transcript:
    """Arrange the words of a reading as lines and tables.

    Args:
        reading: words with quads in stored pixels.
        page: the upright page they were read from; its ruling lines are used.
        titles: known column titles, folded.
        fold: how printed text is folded before it is compared with `titles`.

    Returns:
        Lines top to bottom (pieces left to right) and tables top to bottom.
    """
    to_upright = np.asarray(np.linalg.inv(page.matrix), np.float64)
    tokens = tokens_of(reading.words, to_upright)
    rules = find_rules(page.image, max(page.dpi))
    tables: list[Table] = []
    rest = tokens
    for header in find_headers(tokens, titles, fold):
        if not all(t in rest for t in header):
            continue
        layout = Layout.around(header, rest, rules)
        table, used = layout.build(rest, to_upright, reading.page)
        tables.append(table)
        rest = [t for t in rest if t not in used]
    lines = [
        cell_of([piece], reading.page)
        for line in lines_of(rest)
        for apart in _apart(line, rules)
        for piece in pieces_of(apart)
    ]
    return Transcript(tuple(lines), tuple(tables), reading.page)


def _apart(line: Sequence[Token], rules: Rules) -> list[list[Token]]:
    """Cut a text line where a vertical rule stands between two tokens (a boxed form)."""
    parts: list[list[Token]] = []
    for token in line:
        y = token.center[1]
        if parts:
            last = parts[-1][-1]
            walls = (
                r
                for r in rules.vertical
                if r.start <= y <= r.end and last.center[0] < r.across(y) < token.center[0]
            )
            if next(walls, None) is None:
                parts[-1].append(token)
                continue
        parts.append([token])
    return parts


def find_headers(tokens: Sequence[Token], titles: frozenset[str], fold: Fold) -> list[list[Token]]:
    """Lines of words that are a table's header, top to bottom."""

    def known(token: Token) -> bool:
        text = fold(token.text)
        return bool(text) and any(fuzz.ratio(text, title) >= TITLE_LIKENESS for title in titles)

    headers = []
    for line in lines_of(tokens):
        hits = sum(known(t) for t in line)
        if hits >= FEWEST_TITLES and hits >= 0.5 * len(line):
            headers.append(line)
    return headers


@dataclass(frozen=True)
class Layout:
    """Where a table's columns and rows are.

    Attributes:
        header: tokens of the header line.
        columns: left to right.
        borders: the vertical rules around and between the columns; empty without rules.
        horizontals: rules inside the table, top to bottom.
        bottom: y below which the table has ended.
    """

    header: list[Token]
    columns: list[Column]
    borders: list[Rule]
    horizontals: list[Rule]
    bottom: float

    @property
    def ruled(self) -> bool:
        """Columns came from rules, not from alignment."""
        return bool(self.borders)

    @classmethod
    def around(cls, header: list[Token], tokens: Sequence[Token], rules: Rules) -> Layout:
        """Find the layout of the table that hangs below a header."""
        y = float(np.median([t.center[1] for t in header]))
        em = float(np.median([t.height for t in header]))
        left, right = header[0].box[0], header[-1].box[2]
        horizontals = [
            r
            for r in rules.horizontal
            if r.at > y - 3 * em and min(r.end, right) - max(r.start, left) > 0.05 * (right - left)
        ]
        wide = [r for r in horizontals if r.length > 0.8 * (right - left)]
        verticals = _separators(header, y, em, rules)
        if len(verticals) >= max(2, len(header) // 2):
            body = [t for t in tokens if t.center[1] > y]
            borders = _borders(header, verticals, wide, body)
            columns = [Column(a.across(y), b.across(y)) for a, b in pairwise(borders)]
            return cls(header, columns, borders, horizontals, _ruled_bottom(borders, horizontals))
        inside = [t for t in tokens if t.center[1] > y]
        below = [r for r in wide if r.at > y + 2 * em]
        bottom = below[-1].at if below else _open_bottom(header, inside, em)
        body = [t for t in inside if t.center[1] < bottom]
        return cls(header, _aligned_columns(header, body), [], horizontals, bottom)

    def build(
        self, tokens: Sequence[Token], to_upright: Matrix, page: int
    ) -> tuple[Table, list[Token]]:
        """Fill the layout with tokens; also returns the tokens that went into it."""
        em = float(np.median([t.height for t in self.header]))
        y = float(np.median([t.center[1] for t in self.header]))
        used = [
            t
            for t in tokens
            if y + 0.4 * em < t.center[1] < self.bottom
            and self._holds(t, em)
            and t not in self.header
        ]
        parts = [p for t in used for p in self._cut(t, to_upright)]
        rows = self._rows(parts)
        header_cells = self._cells([p for t in self.header for p in self._cut(t, to_upright)], page)
        table = Table(header_cells, tuple(self._cells(row, page) for row in rows))
        return table, [*self.header, *used]

    def _holds(self, token: Token, em: float) -> bool:
        """Whether a token stands between the left and the right side of the table."""
        x, y = token.center
        if self.ruled:
            return self.borders[0].across(y) - em < x < self.borders[-1].across(y) + em
        return self.columns[0].left - em < x < self.columns[-1].right + em

    def _cut(self, token: Token, to_upright: Matrix) -> list[Token]:
        """Cut a token that the detector drew across a vertical rule."""
        parts = [token]
        for rule in self.borders:
            x, y = rule.across(token.center[1]), token.center[1]
            if not rule.start - 4 <= y <= rule.end + 4:
                continue
            last = parts[-1]
            if last.box[0] + 0.3 * last.height < x < last.box[2] - 0.3 * last.height:
                halves = cut(last, x, to_upright)
                if halves:
                    parts[-1:] = halves
        return parts

    def column_of(self, token: Token) -> int:
        """Index of the column a token stands in."""
        x, y = token.center
        if self.ruled:
            return sum(x > rule.across(y) for rule in self.borders[1:-1])

        def distance(column: Column) -> tuple[float, float]:
            gap = max(column.left - token.box[2], token.box[0] - column.right, 0.0)
            return gap, abs((column.left + column.right) / 2 - x)

        return min(range(len(self.columns)), key=lambda i: distance(self.columns[i]))

    def _rows(self, parts: Sequence[Token]) -> list[list[Token]]:
        """Group tokens into table rows: text lines, joined where one cell is wrapped."""
        lines = lines_of(parts)
        rows: list[list[Token]] = []
        for line in lines:
            if rows and self._wraps(rows[-1], line):
                rows[-1].extend(line)
            else:
                rows.append(list(line))
        return rows

    def _wraps(self, row: Sequence[Token], line: Sequence[Token]) -> bool:
        """Whether a text line continues the row above it.

        It does when no rule lies between, and it adds nothing to a column of figures: the figures
        stand once per row, only texts are wrapped.
        """
        above = float(np.mean([t.center[1] for t in row]))
        below = float(np.mean([t.center[1] for t in line]))
        middle = float(np.mean([t.center[0] for t in line]))
        if any(
            above < r.across(middle) < below and r.start <= middle <= r.end
            for r in self.horizontals
        ):
            return False
        taken = {self.column_of(t) for t in row}
        new = {self.column_of(t) for t in line}
        em = float(np.median([t.height for t in line]))
        near = below - max(t.center[1] for t in row) < 1.6 * em
        return (
            near
            and new <= taken
            and len(new) <= max(1, len(taken) - 2)
            and not any(
                _numeric(t.text) for t in line if self.column_of(t) >= len(self.columns) - 2
            )
        )

    def _cells(self, tokens: Sequence[Token], page: int) -> tuple[Cell, ...]:
        cells = []
        for i in range(len(self.columns)):
            mine = [t for t in tokens if self.column_of(t) == i]
            cells.append(cell_of(lines_of(mine), page))
        return tuple(cells)


def _numeric(text: str) -> bool:
    digits = sum(c.isdigit() for c in text)
    return digits > 0 and digits >= 0.4 * len(text)


def _separators(header: list[Token], y: float, em: float, rules: Rules) -> list[Rule]:
    """Vertical rules that are column borders.

    A border begins and ends at a horizontal rule. Where the fax has broken those, a rule counts
    that starts as high as the others, runs through no title, and parts two titles that no border
    parts: a streak from dirty glass seldom does all three.
    """

    def crossing(verticals: Sequence[Rule]) -> list[Rule]:
        return [
            r
            for r in verticals
            if r.start < y + 0.5 * em
            and r.end > y + 1.5 * em
            and header[0].box[0] - 6 * em < r.across(y) < header[-1].box[2] + 6 * em
        ]

    borders = crossing(rules.borders(0.5 * em))
    loose = [r for r in crossing(rules.vertical) if r not in borders]
    starts = [r.start for r in (borders or loose)]
    if not starts:
        return []
    top = float(np.median(starts))
    centers = [-np.inf, *(t.center[0] for t in header), np.inf]
    for rule in loose:
        x = rule.across(y)
        left = max(c for c in centers if c < x)
        right = min(c for c in centers if c >= x)
        parted = any(left < b.across(y) < right for b in borders)
        if abs(rule.start - top) < 1.5 * em and not _through_text(rule, header) and not parted:
            borders.append(rule)
    return sorted(borders, key=lambda r: r.across(y))


def _through_text(rule: Rule, header: list[Token]) -> bool:
    """A rule that runs through the middle of a title is a streak."""
    for t in header:
        x = rule.across(t.center[1])
        if t.box[0] + 0.35 * t.height < x < t.box[2] - 0.35 * t.height and " " not in t.text:
            return True
    return False


def _borders(
    header: list[Token], verticals: list[Rule], wide: list[Rule], body: Sequence[Token]
) -> list[Rule]:
    """All borders, left to right: the rules that were found, and those that must have been there.

    A side without a frame is closed where the horizontal rules end, or at the outermost title;
    where two titles share a column, the fax has lost the rule between them.
    """
    start = min(r.start for r in verticals)
    end = max(r.end for r in verticals)
    y = header[0].center[1]
    slope = float(np.median([r.slope for r in verticals]))

    def implied(x: float) -> Rule:
        return Rule(start, end, x + slope * ((start + end) / 2 - y), slope, 1.0)

    borders = list(verticals)
    if header[0].center[0] < borders[0].across(y):
        edge = float(np.median([r.start for r in wide])) if wide else header[0].box[0]
        borders.insert(0, implied(min(edge, header[0].box[0])))
    if header[-1].center[0] > borders[-1].across(y):
        edge = float(np.median([r.end for r in wide])) if wide else header[-1].box[2]
        borders.append(implied(max(edge, header[-1].box[2])))
    for a, b in pairwise(header):
        if not any(a.center[0] < r.across(y) < b.center[0] for r in borders):
            within = [t for t in body if start < t.center[1] < end]
            borders.append(implied(_clear_between(a, b, within)))
    return sorted(borders, key=lambda r: r.across(y))


def _clear_between(left: Token, right: Token, body: Sequence[Token]) -> float:
    """The x between two titles that cuts the fewest tokens of the body, in the widest such gap."""
    xs = np.arange(left.center[0], right.center[0], 2.0)
    cuts = np.array([sum(t.box[0] - 2 < x < t.box[2] + 2 for t in body) for x in xs])
    if len(xs) == 0:
        return (left.center[0] + right.center[0]) / 2
    best = np.flatnonzero(cuts == cuts.min())
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    widest = max(runs, key=len)
    return float(xs[widest[len(widest) // 2]])


def _ruled_bottom(borders: list[Rule], horizontals: list[Rule]) -> float:
    """Where a ruled table ends: at the lowest horizontal rule that at least two borders reach."""

    def reached(h: Rule) -> int:
        return sum(b.start < h.at < b.end + REACH * h.thickness + REACH for b in borders)

    closed = [h.at for h in horizontals if reached(h) >= 2]
    return max(closed, default=float(np.median([b.end for b in borders])))


def _open_bottom(header: list[Token], inside: Sequence[Token], em: float) -> float:
    """Where a table without vertical rules ends: at the first gap that is wide for its line pitch,
    or at a text line that runs across its columns.
    """
    left, right = header[0].box[0], header[-1].box[2]
    lines = [
        line
        for line in lines_of(inside)
        if any(left - 2 * em < t.center[0] < right + 2 * em for t in line)
    ]
    y = float(np.median([t.center[1] for t in header]))
    bottom = y + em
    pitches: list[float] = []
    for line in lines:
        center = float(np.median([t.center[1] for t in line]))
        pitch = center - y
        usual = float(np.median(pitches)) if pitches else 3 * em
        if pitch > 2.2 * max(usual, 1.5 * em):
            break
        if any(t.box[2] - t.box[0] > 0.55 * (right - left) for t in line):
            break
        pitches.append(pitch)
        y, bottom = center, center + 0.7 * em
    return bottom


def _aligned_columns(header: list[Token], body: Sequence[Token]) -> list[Column]:
    """Columns without rules: every word goes to the nearest title, which grows by what it gets."""
    columns = [Column(t.box[0], t.box[2]) for t in header]
    for token in sorted(body, key=lambda t: t.box[2] - t.box[0]):
        gaps = [max(c.left - token.box[2], token.box[0] - c.right, 0.0) for c in columns]
        i = int(np.argmin(gaps))
        grown = Column(min(columns[i].left, token.box[0]), max(columns[i].right, token.box[2]))
        before = columns[i - 1].right if i else -np.inf
        after = columns[i + 1].left if i + 1 < len(columns) else np.inf
        if grown.left > before and grown.right < after:
            columns[i] = grown
    return columns
