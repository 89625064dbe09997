"""HTML tables inside a reply, cut out by position so that every cell keeps its place in it.

Not `html.parser`: it reports no end positions, and in the Pythons we support it takes quadratic
time on unclosed tags (26 s for 100 kB of `<td <td …`), which is just what a looping model writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ocr_pipeline.tables.inline import Span

MAX_COLUMNS = 64
"""No form has so many; more is a model in a loop, and the rest stays together in the last cell."""

_TAG = re.compile(
    r"<(/?)(table|thead|tbody|tfoot|tr|td|th|caption|colgroup|col)(?=[\s/>])([^<>]*)>", re.I
)
_SPAN = re.compile(r"\b(col|row)span\s{0,9}=\s{0,9}[\"']?(\d{1,5})", re.I)


@dataclass(slots=True)
class HtmlTable:
    """A table as written, with its spans laid out.

    Attributes:
        rows: the cells of each row; None where a row or column span of another cell covers it.
        titled: false when the first row mixes `th` and `td`: row labels, not column titles.
        spanned: some cell covers more than one place.
        closed: there was a `</table>`.
    """

    rows: list[list[Span | None]] = field(default_factory=list)
    titled: bool = True
    spanned: bool = False
    closed: bool = False
    _kinds: set[str] = field(default_factory=set, init=False)  # tags of the first row
    _covered: dict[int, int] = field(default_factory=dict, init=False)  # column → last covered row
    _row: list[Span | None] | None = field(default=None, init=False)

    def start_row(self) -> None:
        """Begin a row; without cells it leaves no trace."""
        self._row = None

    def add(self, kind: str, attributes: str, span: Span) -> None:
        """Put a cell into the first free place of the row."""
        if self._row is None:
            self._row = []
            self.rows.append(self._row)
        row, number = self._row, len(self.rows) - 1
        while self._covered.get(len(row), -1) >= number:
            row.append(None)
        if number == 0:
            self._kinds.add(kind)
            self.titled = self._kinds != {"td", "th"}
        if len(row) >= MAX_COLUMNS:
            last = row[-1] or span
            row[-1] = (last[0], span[1])
            return
        spans = {m[1].lower(): max(1, int(m[2])) for m in _SPAN.finditer(attributes)}
        columns = min(spans.get("col", 1), MAX_COLUMNS - len(row))
        down = spans.get("row", 1)
        self.spanned |= columns > 1 or down > 1
        if down > 1:
            for column in range(len(row), len(row) + columns):
                self._covered[column] = number + down - 1
        row += [span, *[None] * (columns - 1)]


def split(text: str) -> Iterator[Span | HtmlTable]:
    """Cut a reply into stretches of Markdown and HTML tables, in order.

    Rows and cells without a `<table>` around them make one too; text inside a table but in no cell
    (a caption) comes out as Markdown. A table inside a cell ends the outer one: its rows follow.
    """
    table: HtmlTable | None = None
    cell: tuple[str, str, int] | None = None  # kind, attributes, where its text starts
    position = 0
    for tag in _TAG.finditer(text):
        closing, name = bool(tag[1]), tag[2].lower()
        if cell is None:
            yield position, tag.start()
        elif table is not None:
            table.add(cell[0], cell[1], (cell[2], tag.start()))
            cell = None
        position = tag.end()
        if name == "table":
            if table is not None and table.rows:
                table.closed = closing
                yield table
            table = None if closing else HtmlTable()
        elif name == "tr":
            table = table or HtmlTable()
            table.start_row()
        elif name in {"td", "th"} and not closing:
            table = table or HtmlTable()
            cell = (name, tag[3], tag.end())
    if cell is not None and table is not None:
        table.add(cell[0], cell[1], (cell[2], len(text)))
    else:
        yield position, len(text)
    if table is not None and table.rows:
        yield table
