"""Markdown ⇄ Transcript: whatever a model replies becomes lines and tables, and nothing is lost.

What is mended is said in `Transcript.repairs`, so that a well-formed reply has none:

| code | what was written |
|---|---|
| `code_fence` | a table in a code block, or a stray fence |
| `missing_separator`, `missing_header`, `separator_width` | no delimiter row, nothing above it, or one of another width |
| `extra_separator`, `repeated_header` | a delimiter row, or the header with one, in the middle |
| `short_row`, `long_row` | padded; widened, or relieved of empty cells at its end |
| `leading_cell` | an empty first cell, in a table without outer pipes |
| `cut_row` | the reply ends before the closing pipe of a row |
| `blank_line`, `missing_blank_line`, `text_after_table`, `indented` | tables run on, run together, into text, or stand too far in |
| `full_width_pipes` | ｜ for pipes |
| `too_wide` | more than `MAX_COLUMNS` cells: the rest stays in the last one |
| `html_table` | a table in HTML; cells covered by a span are empty |

A GFM reader would take a short row as it is and throw the end of a long one away: here both are
repairs, for a cell may be missing in the middle.
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Sequence

from ocr_pipeline.engines.base import Char
from ocr_pipeline.tables.html_tables import HtmlTable, split
from ocr_pipeline.tables.inline import Source, Span, escape
from ocr_pipeline.tables.pipes import PipeTable, Row, assemble, row_of
from ocr_pipeline.tables.transcript import Cell, Table, TableRepair, Transcript

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_FENCE = re.compile(r"(?:`{3,}|~{3,})[ \t]*[A-Za-z]*")
_BREAK = re.compile(r"-{3,}|\*{3,}|_{3,}|={3,}")
# A dash before a number is a minus, however far away it stands.
_BULLET = re.compile(r"[-*+]\s+(?=\S)(?![¥￥$\\(（]*\d)")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_BLOCK = re.compile(r"[#>+=:-](?!\w)|>")
_DELIMITER = re.compile(r":?-+:?")
_INDENTS = ("", " ", "  ", "   ")
_ORDERED = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))")


def parse(text: str, *, page: int = 1, chars: Sequence[Char] = ()) -> Transcript:
    """Read a Markdown transcription, however careless.

    Args:
        text: the model's reply.
        page: 1-based page number of the cells.
        chars: one `Char` per character of `text`; empty when the engine has none.

    Returns:
        The lines outside tables, without heading and bullet marks, and the tables. A table without
        a header row has a header of empty cells; where only the separator is missing the first row
        is the header. Every cell carries the `chars` that its text was made from.

    Raises:
        ValueError: `chars` has another length than `text`.
    """
    if chars and len(chars) != len(text):
        raise ValueError(f"{len(chars)} chars for a reply of {len(text)} characters")
    builder = _Builder(Source(text, chars, page))
    for part in split(text):
        if isinstance(part, HtmlTable):
            builder.add_html(part)
        else:
            builder.add_markdown(part)
    return Transcript(tuple(builder.lines), tuple(builder.tables), page, tuple(builder.repairs))


def parse_strict(text: str, *, page: int = 1, chars: Sequence[Char] = ()) -> Transcript | None:
    """Read a transcription that is well formed as it stands; None when anything needs a repair."""
    transcript = parse(text, page=page, chars=chars)
    return transcript if transcript.strict else None


def render(transcript: Transcript) -> str:
    """Write GitHub Flavored Markdown: the lines, a paragraph each, then the tables.

    For every text, `parse(render(parse(text)))` has the texts of `parse(text)` and no repairs.
    """
    blocks = [_paragraph(line.text) for line in transcript.lines if not line.blank]
    blocks += [_pipes(table) for table in transcript.tables if table.width]
    return "\n\n".join(blocks) + "\n" if blocks else ""


class _Builder:
    """Collects what the parts of a reply give."""

    def __init__(self, source: Source) -> None:
        self.lines: list[Cell] = []
        self.tables: list[Table] = []
        self.repairs: list[TableRepair] = []
        self._source = source
        self._blank = Cell(page=source.page)
        self._end = len(source.text.rstrip())
        self._number = 1  # of the line at `_position`
        self._position = 0

    def add_markdown(self, part: Span) -> None:
        """Lines and pipe tables of a stretch of the reply."""
        text = self._source.text
        self._number += text.count("\n", self._position, part[0])
        self._position = part[1]
        rows: list[Row] = []
        gap = False
        for match in _LINE.finditer(text, *part):
            line = match[0].strip()
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            span = start, start + len(line)
            if line:
                below = bool(rows) and not gap
                indented = text[match.start() : start] not in _INDENTS
                row = None
                if not (_BULLET.match(line) or (below and _HEADING.match(line))):
                    row = row_of(
                        text, span, number=self._number, gap=gap, below=below, indented=indented
                    )
                if row is not None:
                    rows.append(row)
                else:
                    if self._add_rows(rows) and below and not _ends_table(line):
                        self._note("text_after_table", self._number, "text right below a table")
                    rows = []
                    self._add_line(span)
            gap = not line
            self._number += match[0].endswith(("\n", "\r"))
        self._add_rows(rows)

    def add_html(self, table: HtmlTable) -> None:
        """An HTML table."""
        cell = self._source.cell
        rows = [[cell(span) if span else self._blank for span in row] for row in table.rows]
        self._add_table(rows if table.titled else [[], *rows])
        detail = f"an HTML table of {len(rows)} rows"
        detail += ", places under spans left empty" if table.spanned else ""
        detail += "" if table.closed else ", not closed"
        self.repairs.append(TableRepair("html_table", detail))

    def _add_line(self, span: Span) -> None:
        """A line outside tables; fences and rules have no text."""
        start, end = span
        line = self._source.text[start:end]
        if _FENCE.fullmatch(line):
            self._note("code_fence", self._number, line)
        elif not _BREAK.fullmatch(line):
            prefix = _HEADING.match(line) or _BULLET.match(line)
            self.lines += self._source.lines((start + (prefix.end() if prefix else 0), end))

    def _add_rows(self, rows: list[Row]) -> bool:
        """Rows that follow each other; true when they end in a table."""
        table = None
        for table in assemble(self._source.text, rows):
            if table.is_text:
                for row in table.rows:
                    self._add_line(row.span)
            else:
                self.repairs += table.repairs
                cells = self._cells(table)
                whole = table.header is not None and table.separator is not None
                if whole or any(cell.text for row in cells for cell in row):
                    self._add_table(cells)
        return table is not None and not table.is_text

    def _cells(self, table: PipeTable) -> list[list[Cell]]:
        """Header and body of a pipe table; what is amiss with their lengths is noted."""
        header, wanted = table.header, table.columns
        closed = any(row.closed for row in (header, table.separator) if row is not None)
        bare = not closed and header is not None and not header.opened
        rows = [[self._blank] * wanted] if header is None else []
        for row in table.rows:
            cells = [self._source.cell(span) for span in row.cells]
            missing = wanted - len(cells)
            cut = row.span[1] == self._end and row.opened and not row.closed
            if row is header:
                pass
            elif cut and closed:
                self._note("cut_row", row.number, f"the reply ends in cell {len(cells)}")
            elif missing == 1 and bare and row.opened and not row.closed:
                cells.insert(0, self._blank)
                self._note("leading_cell", row.number, "an empty first cell")
            elif missing > 0:
                self._note("short_row", row.number, f"{len(cells)} cells instead of {wanted}")
            elif missing < 0:
                self._note("long_row", row.number, f"{len(cells)} cells instead of {wanted}")
                while len(cells) > wanted and cells[-1].blank:
                    cells.pop()
            rows.append(cells)
        return rows

    def _add_table(self, rows: list[list[Cell]]) -> None:
        """A table from rows of any lengths, the first of them the header."""
        width = max(map(len, rows))
        header, *body = (tuple(row) + (self._blank,) * (width - len(row)) for row in rows)
        self.tables.append(Table(header, tuple(body)))

    def _note(self, code: str, number: int, detail: str) -> None:
        self.repairs.append(TableRepair(code, f"line {number}: {detail}"))


def _ends_table(line: str) -> bool:
    """The line is a block of its own, so no reader takes it for a row."""
    return bool(_FENCE.fullmatch(line) or _HEADING.match(line) or _BULLET.match(line))


def _paragraph(text: str) -> str:
    """A line that no reader takes for anything but text."""
    line = escape(text)
    if line.startswith("｜"):
        return "&#65372;" + line[1:]
    return "\\" + line if _BLOCK.match(line) else _ORDERED.sub(r"\1\\", line)


def _pipes(table: Table) -> str:
    rule = "| " + " | ".join(["---"] * table.width) + " |"
    header, *body = (
        "| " + " | ".join(map(_pipe_cell, row)) + " |" for row in (table.header, *table.rows)
    )
    return "\n".join([header, rule, *body])


def _pipe_cell(cell: Cell) -> str:
    text = escape(cell.text)
    return "\\" + text if _DELIMITER.fullmatch(text) else text
