"""Where two texts differ, for the eye."""

from __future__ import annotations

from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of what was read.

    Attributes:
        text: the piece; of a `lost` one what should stand there.
        kind: `same`, `other` (stands for something else), `more` (should not be there), `lost`.
    """

    text: str
    kind: str


def differences(truth: str, read: str) -> tuple[Span, ...]:
    """What was read, cut where it departs from the truth by the fewest edits."""
    spans = []
    for edit in Levenshtein.opcodes(truth, read):
        there, here = (
            truth[edit.src_start : edit.src_end],
            read[edit.dest_start : edit.dest_end],
        )
        match edit.tag:
            case "equal":
                spans.append(Span(here, "same"))
            case "replace":
                spans.append(Span(here, "other"))
            case "insert":
                spans.append(Span(here, "more"))
            case _:
                spans.append(Span(there, "lost"))
    return tuple(spans)
