"""What a model's reply is worth before anybody parses it: whole, cut, in a loop, or nothing at all.

Code fences, explanations and careless tables are no matter of status: the tolerant parser
(`tables.markdown`) takes them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ocr_pipeline.engines.base import ReadingStatus

FEWEST_REPEATS = 6
"""A piece of a line that stands there this often in a row, up to the end of the reply, …"""
LONGEST_ECHO = 48
"""… over at least this many characters, is a loop. ％％％ and 株式会社株式会社 are not."""
LONGEST_RULE = 400
"""The same for dots and dashes: people do draw rules and leaders with them."""
MOST_LINES = 48
"""Equal lines that can end a whole reply: a page of A4 holds about so many rows. Forms do have
twenty equal rows, mostly empty ones."""
MOST_LINES_CUT = 24
"""The same when the budget ran out among them."""
FEWEST_BLOCKS = 3
"""Copies of a block of lines that make a loop; two copies (正, 控) are a form."""

_FENCE = re.compile(r"^[ \t]*`{3,}\w*", re.M)
_FRAME = frozenset("|｜:- \t\r\n\u3000")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A status, and the reason when it is not `ok` or `blank`."""

    status: ReadingStatus
    reason: str = ""


def judge(text: str, *, finished: bool, inked: bool = True) -> Verdict:
    """Judge one reply.

    Args:
        text: without special tokens.
        finished: the model said itself that it is done.
        inked: there is surely something to read on the picture.

    Returns:
        `failed` when nothing was said about a picture with ink; `looping`; `incomplete` when the
        budget ended before the reply; else `ok` or, for nothing about nothing, `blank`.
    """
    bare = _FENCE.sub("", text).strip().strip("\u200b\ufeff")
    framed = "|" in bare and set(bare) <= _FRAME
    if framed or not bare:
        if not inked:
            return Verdict(ReadingStatus.BLANK)
        written = "only the frame of a table" if framed else "nothing"
        how = "" if finished else ", and did not end"
        return Verdict(
            ReadingStatus.FAILED, f"the model wrote {written} about a page with ink{how}"
        )
    if loop := repeated(text, finished=finished):
        return Verdict(ReadingStatus.LOOPING, f"the reply ends in a loop: {loop!r} again and again")
    if not finished:
        return Verdict(
            ReadingStatus.INCOMPLETE, "the reply used its whole budget of tokens without an end"
        )
    return Verdict(ReadingStatus.OK)


def combined(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a page from those on its tiles.

    A loop or a cut in one tile is one of the page. A tile that failed among others that did not
    leaves the page incomplete: some of it was not read.
    """
    for worst in (ReadingStatus.LOOPING, ReadingStatus.INCOMPLETE, ReadingStatus.FAILED):
        at = [i for i, v in enumerate(verdicts) if v.status is worst]
        if not at:
            continue
        reason = verdicts[at[0]].reason
        if len(verdicts) == 1 or len(at) == len(verdicts):
            return Verdict(worst, reason)
        status = ReadingStatus.INCOMPLETE if worst is ReadingStatus.FAILED else worst
        tiles = ", ".join(str(i + 1) for i in at)
        return Verdict(status, f"tile {tiles} of {len(verdicts)}: {reason}")
    if all(v.status is ReadingStatus.BLANK for v in verdicts):
        return Verdict(ReadingStatus.BLANK)
    return Verdict(ReadingStatus.OK)


def repeated(text: str, *, finished: bool) -> str:
    """The block that a reply repeats up to its end; empty when it is no loop.

    A loop within a line is one at any length that nobody writes. Equal lines are rows of a table
    until there are more than a page holds. In a reply that was cut, lines that differ in nothing
    but numbers count as equal, for a model in a loop may go on counting.
    """
    body = text.rstrip().rstrip("`").rstrip().removesuffix("|").rstrip()
    return _loop(body, finished) or (
        "" if finished else _loop(_DIGITS.sub("0", body), finished, echoes=False)
    )


def _loop(text: str, finished: bool, *, echoes: bool = True) -> str:
    most = MOST_LINES if finished else MOST_LINES_CUT
    for period, again in enumerate(_overlaps(text[::-1])):
        covered = period + again
        if period == 0 or covered < 2 * period:
            continue
        block = text[-period:]
        if "\n" not in block:
            needed = LONGEST_ECHO if any(c.isalnum() for c in block) else LONGEST_RULE
            if echoes and covered >= max(needed, FEWEST_REPEATS * period):
                return block
        elif covered >= FEWEST_BLOCKS * period:
            lines = sum(1 for line in text[-covered:].split("\n") if line.strip())
            if lines > most:
                return block.strip("\n")
    return ""


def _overlaps(text: str) -> list[int]:
    """Z-function: for every i > 0, how far `text[i:]` agrees with `text`; 0 for i = 0.

    On a reversed reply it says, for every period, for how long the end repeats with it (Gusfield,
    Algorithms on Strings, Trees and Sequences, 1997, § 1.3); linear time.
    """
    z = [0] * len(text)
    left = right = 0
    for i in range(1, len(text)):
        length = min(right - i, z[i - left]) if i < right else 0
        while i + length < len(text) and text[length] == text[i + length]:
            length += 1
        z[i] = length
        if i + length > right:
            left, right = i, i + length
    return z
