"""Words and ruling lines → Transcript, for engines that answer with boxes.

A table is found by its header: a line of words most of which are known column titles. Its columns
come from the vertical rules that cross the header, or, on sheets without them, from how the words
below line up with the titles. Its rows come from the horizontal rules where they are whole, and
from the text lines where they are not: a fax breaks rules more often than it breaks text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import fuzz

from ocr_pipeline.engines.base import Reading
from ocr_pipeline.pages.page import Page
from ocr_pipeline.pages.rules import Rules, find_rules
from ocr_pipeline.tables.layout import FEWEST_BORDERS, Layout
from ocr_pipeline.tables.transcript import Table, Transcript
from ocr_pipeline.tables.words import (
    TITLE_GAP,
    Token,
    cell_of,
    level_of,
    lines_of,
    merged,
    pieces_of,
    tokens_of,
)

TITLE_LIKENESS = 74.0
"""rapidfuzz ratio from which a word counts as a known column title."""
KNOWN_SHARE = 0.4
"""Of the words in a header at least this share is known."""
FEWEST_TITLES = 3
"""A header has at least this many known titles."""


Fold = Callable[[str], str]
"""Turns a printed title into the form the known titles are kept in."""


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
    tokens = join_titles(tokens_of(reading.words, to_upright), titles, fold)
    rules = find_rules(page.image, max(page.dpi))
    tables: list[Table] = []
    rest = tokens
    for header in find_headers(tokens, titles, fold, rules):
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


def join_titles(tokens: Sequence[Token], titles: frozenset[str], fold: Fold) -> list[Token]:
    """Join single characters that together are a column title (品　名).

    Only a title that comes out whole is joined, so that no two columns become one.
    """
    joined: list[Token] = []
    for line in lines_of(tokens):
        start = 0
        while start < len(line):
            end = start + 1
            while (
                end < len(line)
                and len(line[end - 1].text) == len(line[end].text) == 1
                and line[end].box[0] - line[end - 1].box[2] < TITLE_GAP * line[end].height
            ):
                end += 1
            while end > start + 1 and fold("".join(t.text for t in line[start:end])) not in titles:
                end -= 1
            joined.append(merged(line[start:end]))
            start = end
    return joined


def find_headers(
    tokens: Sequence[Token], titles: frozenset[str], fold: Fold, rules: Rules
) -> list[list[Token]]:
    """Lines of words that are a table's header, top to bottom.

    Where no line has enough known titles, the fax has spoilt them: then the line with most ruling
    below it is the header.
    """

    def known(token: Token) -> bool:
        text = fold(token.text)
        return bool(text) and any(fuzz.ratio(text, title) >= TITLE_LIKENESS for title in titles)

    lines = lines_of(tokens)
    headers = []
    for line in lines:
        hits = sum(known(t) for t in line)
        if hits >= FEWEST_TITLES and hits >= KNOWN_SHARE * len(line):
            headers.append(line)
    if headers:
        return headers
    best = max(lines, key=lambda line: _grid_below(line, rules), default=[])
    return [best] if _grid_below(best, rules) > 0 else []


def _grid_below(line: Sequence[Token], rules: Rules) -> float:
    """Total length of the vertical rules that start together right above a text line.

    0 when there are too few of them for a grid, or when most of the line stands beside it.
    """
    if not line:
        return 0.0
    y, em = level_of(line)
    starting = [r for r in rules.vertical if y - 2 * em < r.start < y and r.length > 4 * em]
    inside = [t for t in line if any(r.across(y) < t.center[0] for r in starting)]
    if len(starting) < FEWEST_BORDERS or len(inside) < 0.5 * len(line):
        return 0.0
    return sum(r.length for r in starting)
