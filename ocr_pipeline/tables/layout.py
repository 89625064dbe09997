"""Where the columns and rows of a table are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ocr_pipeline.geometry import Matrix
from ocr_pipeline.pages.rules import Rule, Rules
from ocr_pipeline.tables.transcript import Cell, Table
from ocr_pipeline.tables.words import Token, cell_of, cut, level_of, lines_of

FEWEST_BORDERS = 4
"""A grid has at least this many vertical rules that start at the same height."""
COLUMN_GAP = 0.3
"""Columns without rules are at least this share of the text height apart."""
THROUGH = 0.8
"""A horizontal rule this share of the table's width goes all the way."""
REACH = 4
"""Pixels (and rule thicknesses) that a border may end short of the rule that closes it."""


@dataclass(frozen=True)
class Layout:
    """The borders of a table.

    Attributes:
        header: tokens of the header line.
        borders: one rule more than there are columns, left to right.
        drawn: the borders are rules on the paper; else they were inferred from the gaps.
        horizontals: rules inside the table, top to bottom.
        bottom: y below which the table has ended.
    """

    header: list[Token]
    borders: list[Rule]
    drawn: bool
    horizontals: list[Rule]
    bottom: float

    @classmethod
    def around(cls, header: list[Token], tokens: Sequence[Token], rules: Rules) -> Layout:
        """Find the layout of the table that hangs below a header."""
        y, em = level_of(header)
        left, right = header[0].box[0], header[-1].box[2]
        horizontals = [
            r
            for r in rules.horizontal
            if r.at > y - 3 * em and min(r.end, right) - max(r.start, left) > 0.05 * (right - left)
        ]
        wide = [r for r in horizontals if r.length > 0.8 * (right - left)]
        inside = [t for t in tokens if t.center[1] > y]
        verticals = _separators(header, y, em, rules)
        if len(verticals) >= max(2, len(header) // 2):
            borders = _completed(header, verticals, wide, inside)
            borders = _rivers(borders, inside, em)
            return cls(header, borders, True, horizontals, _ruled_bottom(borders, horizontals))
        below = [r for r in wide if r.at > y + 2 * em]
        bottom = below[-1].at if below else _open_bottom(header, inside, em)
        body = [t for t in inside if t.center[1] < bottom]
        borders = _inferred(header, body, wide, bottom)
        return cls(header, borders, False, horizontals, bottom)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.borders) - 1

    def build(
        self, tokens: Sequence[Token], to_upright: Matrix, page: int
    ) -> tuple[Table, list[Token]]:
        """Fill the layout with tokens; also returns the tokens that went into it."""
        y, em = level_of(self.header)
        used = [
            t
            for t in tokens
            if y + 0.4 * em < t.center[1] < self.bottom
            and self._holds(t, em)
            and t not in self.header
        ]
        titles = [p for t in self.header for p in self._cut(t, to_upright)]
        rows = self._rows([p for t in used for p in self._cut(t, to_upright)])
        table = Table(self._cells(titles, page), tuple(self._cells(row, page) for row in rows))
        return table, [*self.header, *used]

    def _holds(self, token: Token, em: float) -> bool:
        """Whether a token stands between the left and the right side of the table."""
        x, y = token.center
        return self.borders[0].across(y) - em < x < self.borders[-1].across(y) + em

    def _cut(self, token: Token, to_upright: Matrix) -> list[Token]:
        """Cut a token that the detector drew across two columns."""
        parts = [token]
        y = token.center[1]
        for border in self.borders:
            # A border that ends above leaves the cells of the closing rows joined.
            if not border.start - 4 <= y <= border.end + 4:
                continue
            last, x = parts[-1], border.across(y)
            if not last.box[0] + 0.3 * last.height < x < last.box[2] - 0.3 * last.height:
                continue
            halves = cut(last, x, to_upright)
            # Without a rule only a gap in the text shows that two columns meet there.
            gap = halves[1].box[0] - halves[0].box[2] if halves else 0.0
            if halves and (self.drawn or gap > COLUMN_GAP * last.height):
                parts[-1:] = halves
        return parts

    def column_of(self, token: Token) -> int:
        """Index of the column a token stands in."""
        x, y = token.center
        return sum(x > rule.across(y) for rule in self.borders[1:-1])

    def _rows(self, parts: Sequence[Token]) -> list[list[Token]]:
        """Group tokens into table rows.

        What stands between two rules that go all the way is a row, however its lines lie. Where a
        rule is lost there are two figures in one column; there, and on sheets without such rules,
        the text lines are the rows, joined where a cell is wrapped.
        """
        bands: dict[int, list[Token]] = {}
        left, right = self.borders[0].at, self.borders[-1].at
        through = [r for r in self.horizontals if r.length > THROUGH * (right - left)]
        for token in parts:
            x, y = token.center
            bands.setdefault(sum(r.across(x) < y for r in through), []).append(token)
        rows: list[list[Token]] = []
        for above, band in sorted(bands.items()):
            lines = lines_of(band)
            if 0 < above < len(through) and self._is_one_row(band):
                rows.append([t for line in lines for t in line])
            else:
                rows += self._text_rows(lines)
        return rows

    def _is_one_row(self, band: Sequence[Token]) -> bool:
        """Whether no column of a band holds more than one figure, nor every column two lines."""
        columns: dict[int, list[Token]] = {}
        for token in band:
            columns.setdefault(self.column_of(token), []).append(token)
        figures = [sum(_numeric(t.text) for t in c) for c in columns.values()]
        single = any(len(lines_of(c)) == 1 for c in columns.values())
        return single and all(
            n <= 1 or len(lines_of(c)) == 1 for n, c in zip(figures, columns.values(), strict=True)
        )

    def _text_rows(self, lines: Sequence[Sequence[Token]]) -> list[list[Token]]:
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
        below, em = level_of(line)
        middle = float(np.mean([t.center[0] for t in line]))
        if any(
            above < r.across(middle) < below and r.start <= middle <= r.end
            for r in self.horizontals
        ):
            return False
        taken = {self.column_of(t) for t in row}
        new = {self.column_of(t) for t in line}
        near = below - max(t.center[1] for t in row) < 1.6 * em
        figures = any(_numeric(t.text) and self.column_of(t) >= self.width - 2 for t in line)
        return near and not figures and new <= taken and len(new) <= max(1, len(taken) - 2)

    def _cells(self, tokens: Sequence[Token], page: int) -> tuple[Cell, ...]:
        columns: list[list[Token]] = [[] for _ in range(self.width)]
        for token in tokens:
            columns[self.column_of(token)].append(token)
        return tuple(cell_of(lines_of(mine), page) for mine in columns)


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

    whole = crossing(rules.borders(0.5 * em))
    borders = list(whole)
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
        parted = len(whole) >= FEWEST_BORDERS and any(left < b.across(y) < right for b in borders)
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


def _completed(
    header: list[Token], verticals: list[Rule], wide: list[Rule], body: Sequence[Token]
) -> list[Rule]:
    """The rules that were found, and those that must have been there.

    A side without a frame is closed where the horizontal rules end, or at the outermost title;
    where two titles share a column, the fax has lost the rule between them.
    """
    start, end = min(r.start for r in verticals), max(r.end for r in verticals)
    y, _ = level_of(header)
    slope = float(np.median([r.slope for r in verticals]))

    def implied(x: float) -> Rule:
        return Rule(start, end, x + slope * ((start + end) / 2 - y), slope, 1.0)

    borders = list(verticals)
    left, right = _sides(header, wide)
    if header[0].center[0] < borders[0].across(y):
        borders.insert(0, implied(left))
    if header[-1].center[0] > borders[-1].across(y):
        borders.append(implied(right))
    within = [t for t in body if start < t.center[1] < end]
    for a, b in pairwise(header):
        if not any(a.center[0] < r.across(y) < b.center[0] for r in borders):
            borders.append(implied(_clear_between(a, b, within)))
    return sorted(borders, key=lambda r: r.across(y))


def _rivers(borders: list[Rule], body: Sequence[Token], em: float) -> list[Rule]:
    """Add the borders that the fax lost together with the title beside them.

    A column that holds two things in most of its rows, with clear paper between them all the way
    down and one of them flush along an edge, is two columns.
    """
    found = list(borders)
    for a, b in pairwise(borders):
        inside = [
            t
            for t in body
            if a.start < t.center[1] < min(a.end, b.end)
            and a.across(t.center[1]) < t.center[0] < b.across(t.center[1])
        ]
        pairs = [line for line in lines_of(inside) if len(line) == 2]
        lines = len(lines_of(inside))
        if len(pairs) < 3 or len(pairs) < 0.6 * lines:
            continue
        left, right = max(p[0].box[2] for p in pairs), min(p[1].box[0] for p in pairs)
        flush = min(np.std([p[1].box[0] for p in pairs]), np.std([p[1].box[2] for p in pairs]))
        if right - left > COLUMN_GAP * em and flush < 0.4 * em:
            found.append(Rule(a.start, min(a.end, b.end), (left + right) / 2, a.slope, 1.0))
    return sorted(found, key=lambda r: r.at)


def _inferred(
    header: list[Token], body: Sequence[Token], wide: list[Rule], bottom: float
) -> list[Rule]:
    """Borders of a table that has none on paper: the clear strips between its titles."""
    top = min(t.box[1] for t in header)
    left, right = _sides(header, wide)
    left = min([left, *(t.box[0] for t in body)]) if not wide else left
    right = max([right, *(t.box[2] for t in body)]) if not wide else right
    xs = [left, *(_clear_between(a, b, body) for a, b in pairwise(header)), right]
    return [Rule(top, bottom, x, 0.0, 1.0) for x in xs]


def _sides(header: list[Token], wide: list[Rule]) -> tuple[float, float]:
    """Left and right end of a table: of its horizontal rules, else of its titles."""
    left, right = header[0].box[0], header[-1].box[2]
    if wide:
        left = min(left, float(np.median([r.start for r in wide])))
        right = max(right, float(np.median([r.end for r in wide])))
    return left, right


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
    # Where the closing rule is lost, the borders still go on: three of them do not err alike.
    ends = sorted(b.end for b in borders)
    return max([*closed, ends[-3] if len(ends) >= 3 else ends[0]])


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
