"""The transcription of a page: text lines and tables, all made of `Cell`s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ocr_pipeline.engines.base import Char
from ocr_pipeline.geometry import Quad, union


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of text and everything known about how well it was read.

    Attributes:
        text: what was read; lines of a wrapped cell are joined by a newline.
        confidence: 0..1, of the least certain character; 1 when the engine cannot tell.
        quad: in stored pixels; None when the engine has no boxes.
        alternatives: other readings of the whole text, with their probabilities.
        page: 1-based page number.
        chars: one `Char` per character of `text`; empty when the engine has none.
    """

    text: str = ""
    confidence: float = 1.0
    quad: Quad | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    page: int = 1
    chars: tuple[Char, ...] = ()

    @property
    def blank(self) -> bool:
        """Nothing but white space."""
        return not self.text.strip()

    def slice(self, start: int, end: int) -> Cell:
        """The part of the cell from character `start` to `end`, its quad cut to those characters.

        Surrounding white space is left out. Without `chars` the quad stays that of the whole cell.
        """
        start, end, _ = slice(start, end).indices(len(self.text))
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        if (start, end) == (0, len(self.text)):
            return self
        chars = self.chars[start:end] if len(self.chars) == len(self.text) else ()
        quad = union([c.quad for c in chars if c.quad is not None]) if chars else self.quad
        return replace(
            self,
            text=self.text[start:end],
            confidence=min((c.confidence for c in chars), default=self.confidence),
            quad=quad,
            alternatives=(),
            chars=chars,
        )


EMPTY = Cell()


def joined(cells: Sequence[Cell], between: str = "") -> Cell:
    """One cell of several, with `between` between their texts.

    Raises:
        ValueError: there are no cells.
    """
    if not cells:
        raise ValueError("nothing to join")
    gap = tuple(Char(c) for c in between)
    known = all(len(c.chars) == len(c.text) for c in cells)
    chars = tuple(c for i, cell in enumerate(cells) for c in ((*gap,) if i else ()) + cell.chars)
    return replace(
        cells[0],
        text=between.join(c.text for c in cells),
        confidence=min(c.confidence for c in cells),
        quad=union([c.quad for c in cells if c.quad is not None]),
        alternatives=(),
        chars=chars if known else (),
    )


@dataclass(frozen=True, slots=True)
class Table:
    """A rectangular table: every row has as many cells as the header.

    Attributes:
        header: the column titles; cells of empty text when the table has none.
        rows: the body, top to bottom.
    """

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...] = ()

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.header)


@dataclass(frozen=True, slots=True)
class TableRepair:
    """Something the parser had to change to make sense of what was written.

    Attributes:
        code: which repair, e.g. `missing_separator`.
        detail: where and what, for a person.
    """

    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """All text of one page in reading order.

    Attributes:
        lines: text outside tables, top to bottom, pieces of one line left to right.
        tables: the tables, top to bottom.
        page: 1-based page number.
        repairs: what the Markdown parser had to mend.
    """

    lines: tuple[Cell, ...] = ()
    tables: tuple[Table, ...] = ()
    page: int = 1
    repairs: tuple[TableRepair, ...] = field(default=())

    @property
    def strict(self) -> bool:
        """True when the engine's reply was well formed as it stood."""
        return not self.repairs
