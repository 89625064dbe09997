r"""Inline Markdown: the text of a cell or line, and which characters of the reply it is made of.

One rule for lines, pipe cells and HTML cells: a backslash escapes the ASCII punctuation after it
(GFM § 2.4; so `\41,300`, a yen sign on many a Japanese keyboard, keeps its backslash), entities
that end in a semicolon are decoded (§ 2.5), `<br>` and block tags end a line, `**` goes where it
stands as a pair around text. A single `*` or `_` stays: it is a footnote mark or part of a number
more often than emphasis.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.entities import html5

from ocr_pipeline.engines.base import Char
from ocr_pipeline.tables.transcript import Cell

Span = tuple[int, int]
"""Start and end of a stretch of the reply, in characters."""

# Every alternative is bounded by the next `<`, `>` or by a count, so a scan is linear. The
# formatting tags are taken in lower case only: `<B>` on an order is more likely a size or a grade.
_TOKEN = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<stars>\*+)"
    r"|(?P<end></?(?i:br|p|div|li|hr|table|tr|td|th)(?=[\s/>])[^<>]*>)"
    r"|(?P<tag></?(?:b|strong|i|em|u|span|font|sup|sub|small|center|ul|ol)(?=[\s/>])[^<>]*>)"
    r"|(?P<wrap>[\r\n][ \t\r\n]*)"
)
_SPECIAL = re.compile(r"[\\&*<\r\n]")
_LINE_END = re.compile(r"\r\n?|\n")

# What an inline parser, ours or a GFM one, would take for markup. `_` inside a word is plain.
_MARKUP = re.compile(
    r"[\\|*`~\[]|(?<![^\W_])_|_(?![^\W_])|(?P<entity>&(?=\#?\w{1,32};)|<(?=[A-Za-z/!?]))"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A reply, with what the engine knows about its characters.

    Attributes:
        text: the reply.
        chars: one `Char` per character of `text`, or empty.
        page: 1-based page number of the cells made from it.
    """

    text: str
    chars: Sequence[Char] = ()
    page: int = 1

    def cell(self, span: Span) -> Cell:
        """The text of a stretch without its markup; every line of it trimmed."""
        start, end = span
        if _SPECIAL.search(self.text, start, end) is None:
            return self._plain(start, end)
        text, starts, ends = _unmark(self.text, start, end)
        keep: list[int] = []
        offset = 0
        for line in text.split("\n"):
            left = offset + len(line) - len(line.lstrip())
            # The newline before a line stays when there is text above it.
            keep += [offset - 1] if keep else []
            keep += range(left, left + len(line.strip()))
            offset += len(line) + 1
        while keep and text[keep[-1]] == "\n":
            keep.pop()
        chars = self._chars(text, starts, ends, keep) if self.chars else ()
        return self._cell("".join(text[i] for i in keep), chars)

    def lines(self, span: Span) -> list[Cell]:
        """The same, one cell for each line that is not blank."""
        cell = self.cell(span)
        pieces, offset = [], 0
        for line in cell.text.split("\n"):
            if line:
                pieces.append(cell.slice(offset, offset + len(line)))
            offset += len(line) + 1
        return pieces

    def _plain(self, start: int, end: int) -> Cell:
        part = self.text[start:end]
        text = part.strip()
        start += len(part) - len(part.lstrip())
        return self._cell(text, tuple(self.chars[start : start + len(text)]))

    def _cell(self, text: str, chars: tuple[Char, ...]) -> Cell:
        confidence = min((c.confidence for c in chars), default=1.0)
        return Cell(text, confidence, page=self.page, chars=chars)

    def _chars(
        self, text: str, starts: list[int], ends: list[int], keep: list[int]
    ) -> tuple[Char, ...]:
        """What is known about each character; one made from several is as sure as the worst."""
        found = []
        for i in keep:
            span = self.chars[starts[i] : ends[i]]
            same = len(span) == 1 and span[0].text == text[i]
            found.append(span[0] if same else Char(text[i], min(c.confidence for c in span)))
        return tuple(found)


def _unmark(text: str, start: int, end: int) -> tuple[str, list[int], list[int]]:
    """Text without markup, and where each of its characters starts and ends in the reply."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    opened: int | None = None  # where in `out` the two stars stand that may open a bold text
    dropped: set[int] = set()

    def put(piece: str, a: int, b: int) -> None:
        out.extend(piece)
        starts.extend([a] * len(piece))
        ends.extend([b] * len(piece))

    def copy(a: int, b: int) -> None:
        out.extend(text[a:b])
        starts.extend(range(a, b))
        ends.extend(range(a + 1, b + 1))

    position = start
    for token in _TOKEN.finditer(text, start, end):
        a, b = token.span()
        copy(position, a)
        position = b
        match token.lastgroup:
            case "escaped":
                put(token["escaped"], a, b)
            case "entity":
                put(_decode(token["entity"]), a, b)
            case "stars":
                closes = a > start and not text[a - 1].isspace()
                opens = b < end and not text[b].isspace()
                if b - a == 2 and closes and opened is not None:
                    dropped.update((opened, opened + 1, len(out), len(out) + 1))
                    opened = None
                elif b - a == 2 and opens:
                    opened = len(out)
                copy(a, b)
            case "end":
                put("\n", a, b)
            case "wrap":
                put(" ", a, b)
    copy(position, end)
    if dropped:
        kept = [i for i in range(len(out)) if i not in dropped]
        out, starts, ends = (
            [out[i] for i in kept],
            [starts[i] for i in kept],
            [ends[i] for i in kept],
        )
    return "".join(out), starts, ends


def _decode(entity: str) -> str:
    """The characters of an entity; the entity itself when there are none."""
    # html.unescape alone would also decode the `&not` in `&notit;`.
    text = html.unescape(entity) if entity[1] == "#" else html5.get(entity[1:], "")
    return text.replace("\r", "\n") or entity


def escape(text: str) -> str:
    """Write text so that `Source.cell`, and a GFM reader, give it back."""
    marked = _MARKUP.sub(
        lambda m: ("&amp;" if m[0] == "&" else "&lt;") if m["entity"] else "\\" + m[0], text.strip()
    )
    return _LINE_END.sub("<br>", marked)
