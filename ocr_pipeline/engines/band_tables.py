"""The replies to the bands of a page, joined: a table that was cut in two is one table again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ocr_pipeline.engines.base import Char
from ocr_pipeline.tables.pipes import Row, row_of

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*\w*\s*")
_NUMBER = re.compile(r"[¥￥▲△\-−]?\s*\d[\d,.，．]*\s*\D{0,2}")
"""A quantity or an amount, with its unit; titles are none."""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    chars: Sequence[Char]
    row: Row | None = None

    @property
    def cells(self) -> list[str]:
        return [self.text[a:b].strip() for a, b in self.row.cells] if self.row else []


@dataclass(slots=True)
class _Block:
    """Lines that stand together: rows of a table, or text."""

    lines: list[_Line] = field(default_factory=list)

    @property
    def is_table(self) -> bool:
        return bool(self.lines) and self.lines[0].row is not None

    @property
    def separators(self) -> list[int]:
        return [i for i, line in enumerate(self.lines) if line.row and line.row.rule]

    @property
    def is_frame(self) -> bool:
        """A header and nothing else; a row that stands above it is something."""
        return self.is_table and len(self.lines) <= 2 and self.separators == [len(self.lines) - 1]

    @property
    def header(self) -> list[str]:
        """Titles of the last table in the block."""
        at = self.separators
        return self.lines[max(0, at[-1] - 1) if at else 0].cells


def join_bands(replies: Sequence[Sequence[Char]], continues: Sequence[bool]) -> tuple[Char, ...]:
    """One reply of several.

    The first table of a band goes on with the last one above when it has no titles, or the same, or
    when what Markdown made its titles is a row of numbers, or the cut went through a ruled table;
    and when its columns are as many. Anything else stays a table of its own: which columns would
    belong together is not known.

    Args:
        replies: top to bottom.
        continues: whether the upper edge of each band goes through a ruled table.
    """
    if len(replies) == 1:
        return tuple(replies[0])
    blocks: list[_Block] = []
    for reply, through in zip(replies, continues, strict=True):
        found = list(_blocks(reply))
        tables = [b for b in blocks if b.is_table]
        blocks += _continued(tables, found, through) if tables else found
    out: list[_Line] = []
    for block in blocks:
        out += [_Line("", ())] if out else []
        out += block.lines
    chars: list[Char] = []
    for i, line in enumerate(out):
        chars += [Char("\n")] if i else []
        chars += line.chars
    return tuple(chars)


def _blocks(chars: Sequence[Char]) -> Iterator[_Block]:
    """The blocks of a reply; fences and blank lines are left out."""
    lines: list[_Line] = []
    offset = 0
    for number, line in enumerate("".join(c.text for c in chars).split("\n"), 1):
        bare = line.rstrip("\r")
        start = len(bare) - len(bare.lstrip())
        below = bool(lines) and lines[-1].row is not None
        row = row_of(
            bare,
            (start, len(bare.rstrip())),
            number=number,
            gap=False,
            below=below,
            indented=False,
        )
        # A fence that opens within the reply parts nothing: it is skipped, a blank line is not.
        if not _FENCE.fullmatch(bare):
            lines.append(_Line(bare, chars[offset : offset + len(bare)], row))
        offset += len(line) + 1
    for kind, group in groupby(lines, key=lambda x: "row" if x.row else bool(x.text.strip())):
        if kind:
            yield _Block(list(group))


def _continued(tables: list[_Block], found: list[_Block], through: bool) -> list[_Block]:
    """Give the last of some tables the rows with which a reply goes on with it.

    Returns:
        The rest of the reply. An empty table goes when its titles have been there before: a model
        that is asked for two tables writes both.
    """
    for i, block in enumerate(found):
        if not block.is_table:
            if not through:
                break
        elif not block.is_frame:
            rows = _rows(tables[-1], block, through)
            if rows is not None:
                tables[-1].lines += rows
                titles = [t.header for t in tables]
                before = [b for b in found[:i] if not (b.is_frame and b.header in titles)]
                return before + found[i + 1 :]
    return found


def _rows(above: _Block, below: _Block, through: bool) -> list[_Line] | None:
    """The rows with which a table goes on; None when it is another table."""
    header = above.header
    at = below.separators
    titled = bool(at) and at[0] == 1
    rows = below.lines[at[0] + 1 :] if at and at[0] <= 1 else below.lines
    if titled:
        first = below.lines[0]
        if first.cells == header and above.separators:
            return rows
        if any(first.cells):
            numbers = any(_NUMBER.fullmatch(c) for c in first.cells)
            if not through and (not numbers or any(_NUMBER.fullmatch(c) for c in header)):
                return None
            rows = [first, *rows]
        elif len(first.cells) != len(header):
            return None
    fits = all(
        len(line.cells) == len(header) or not any(line.cells[len(header) :] or ["?"])
        for line in rows
        if not (line.row and line.row.rule)
    )
    return rows if fits else None
