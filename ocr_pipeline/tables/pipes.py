"""Pipe tables: which lines of a block are whose header, separator and body, and what is amiss.

Rules are those of GitHub Flavored Markdown § 4.10, and what language models write instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ocr_pipeline.tables.html_tables import MAX_COLUMNS
from ocr_pipeline.tables.inline import Span
from ocr_pipeline.tables.transcript import TableRepair

_MARKS = re.compile(r"\\.|[|｜]")
_DASHES = re.compile(r"[|｜:\-\s]*")
_DELIMITER = re.compile(r"\s*:?-+:?\s*")
_RULE = re.compile(r"\s*:?-{3,}:?\s*")


@dataclass(frozen=True, slots=True)
class Row:
    """One line that has pipes in it.

    Attributes:
        number: 1-based number of the line in the reply.
        span: the line, trimmed.
        cells: its cells, outer pipes left out, untrimmed.
        opened: it begins with a pipe.
        closed: it ends with another.
        gap: there are blank lines between it and the row before.
        delimiter: a delimiter row as GFM has it; a single dash will do.
        rule: surely meant as one: dashes by three or more, cells may be missing.
        wide: its pipes are full-width ones.
        indented: it stands so far in that GFM takes it for code.
        excess: cells beyond the most that a table may have, left together in the last.
    """

    number: int
    span: Span
    cells: tuple[Span, ...]
    opened: bool
    closed: bool
    gap: bool = False
    delimiter: bool = False
    rule: bool = False
    wide: bool = False
    indented: bool = False
    excess: int = 0


def row_of(
    text: str, span: Span, *, number: int, gap: bool, below: bool, indented: bool
) -> Row | None:
    """The row in a trimmed line, or None when there is none.

    Args:
        text: the reply.
        span: the line.
        number: its 1-based number.
        gap: blank lines above it.
        below: a row stands right above it, so that a bare `---` is a short separator.
        indented: white space before it that GFM takes for code.
    """
    start, end = span
    marks = [m.start() for m in _MARKS.finditer(text, start, end) if text[m.start()] != "\\"]
    bars = [i for i in marks if text[i] == "|"]
    wide = not bars and bool(marks)
    bars = bars or marks
    if not bars and not (below and _RULE.fullmatch(text, start, end)):
        return None
    opened = bool(bars) and bars[0] == start
    closed = bool(bars) and bars[-1] == end - 1 and not (opened and len(bars) == 1)
    edges = [*([] if opened else [start - 1]), *bars, *([] if closed else [end])]
    excess = 0
    if len(edges) - 1 > MAX_COLUMNS:
        while len(edges) - 1 > MAX_COLUMNS and _blank(text, (edges[-2] + 1, edges[-1])):
            edges.pop()
        excess = len(edges) - 1 - MAX_COLUMNS
        del edges[MAX_COLUMNS : len(edges) - 1]
    cells = tuple((a + 1, b) for a, b in pairwise(edges))
    delimiter = rule = False
    if _DASHES.fullmatch(text, start, end) and text.find("-", start, end) >= 0:
        delimiter = all(_DELIMITER.fullmatch(text, *c) for c in cells)
        filled = [c for c in cells if not _blank(text, c)]
        rule = all(_RULE.fullmatch(text, *c) for c in filled)
    return Row(number, span, cells, opened, closed, gap, delimiter, rule, wide, indented, excess)


@dataclass(slots=True)
class PipeTable:
    """A table as written: rows of cells of different lengths.

    Attributes:
        header: None when the separator comes first.
        separator: None when there is none.
        body: the other rows.
        repairs: what was amiss, apart from the lengths of the rows.
    """

    header: Row | None
    separator: Row | None = None
    body: list[Row] = field(default_factory=list)
    repairs: list[TableRepair] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """Number of cells of the header, or of the separator when there is no header."""
        first = self.header or self.separator
        return len(first.cells) if first else 0

    @property
    def rows(self) -> list[Row]:
        """Header and body."""
        return [*([self.header] if self.header else []), *self.body]

    def note(self, code: str, row: Row, detail: str) -> None:
        """Put down a repair."""
        self.repairs.append(TableRepair(code, f"line {row.number}: {detail}"))

    @property
    def is_text(self) -> bool:
        """Nothing but the pipes speaks for a table: `TEL 03-1234 | FAX 03-1235`."""
        if self.separator is not None or (self.header is not None and self.header.opened):
            return False
        return all(len(row.cells) != self.columns for row in self.body)


def assemble(text: str, rows: Sequence[Row]) -> list[PipeTable]:
    """Divide rows that follow each other, with at most blank lines between, into tables."""
    tables: list[PipeTable] = []
    skip = False
    for i, row in enumerate(rows):
        if skip:
            skip = False
            continue
        table = tables[-1] if tables else None
        below = rows[i + 1] if i + 1 < len(rows) and not rows[i + 1].gap else None
        if table is not None and _separates(table, row):
            table.separator = row
            if row.gap:
                table.note("blank_line", row, "blank lines inside the table")
        elif table is None or _starts(table, row, below):
            bare = row.rule and (table is None or row.gap)
            tables.append(PipeTable(None, row) if bare else PipeTable(row))
            if not row.gap and table is not None and table.separator is not None:
                tables[-1].note("missing_blank_line", row, "a new table without a blank line")
        elif row.rule:
            table.note("extra_separator", row, "a separator inside the table, left out")
        elif below is not None and below.rule and _same(text, table.header, row):
            table.note("repeated_header", row, "the header again, left out")
            skip = True
        else:
            table.body.append(row)
            if row.gap:
                table.note("blank_line", row, "blank lines inside the table")
    for table in tables:
        _inspect(table)
    return tables


def _separates(table: PipeTable, row: Row) -> bool:
    """The row is the separator that the header above it waits for."""
    waiting = table.separator is None and not table.body
    return waiting and (row.rule or (row.delimiter and not row.gap))


def _starts(table: PipeTable, row: Row, below: Row | None) -> bool:
    """The row begins another table rather than going on with this one."""
    other = len(row.cells) != table.columns
    if row.gap:
        heads = below is not None and (below.rule or below.delimiter)
        return other or heads or row.rule or not row.opened
    if row.rule:
        return False
    if table.separator is None and table.header is not None and not table.header.opened:
        # What stands above may well be text, so a single dash a cell will do for a separator.
        return row.opened or (below is not None and (below.rule or below.delimiter))
    return below is not None and below.rule and (table.separator is None or other)


def _inspect(table: PipeTable) -> None:
    """Put down what is amiss with header and separator."""
    header, separator = table.header, table.separator
    if separator is None and header is not None:
        table.note("missing_separator", header, "no separator row; the first row is the header")
    elif header is None and separator is not None:
        table.note("missing_header", separator, "no header row above the separator")
    elif header is not None and separator is not None:
        found, wanted = len(separator.cells), len(header.cells)
        if found != wanted or not separator.delimiter:
            table.note("separator_width", separator, f"{found} cells under a header of {wanted}")
    written = sorted(filter(None, (*table.rows, separator)), key=lambda row: row.number)
    for row in written:
        if row.excess:
            table.note("too_wide", row, f"the last {row.excess + 1} cells left together in one")
    if wide := [row for row in written if row.wide]:
        table.note("full_width_pipes", wide[0], f"{len(wide)} rows with full-width pipes")
    if indented := [row for row in written if row.indented]:
        table.note("indented", indented[0], f"{len(indented)} rows too far in")


def _same(text: str, one: Row | None, other: Row) -> bool:
    def words(row: Row) -> list[str]:
        return [text[a:b].strip() for a, b in row.cells]

    return one is not None and words(one) == words(other)


def _blank(text: str, span: Span) -> bool:
    return not text[slice(*span)].strip()
