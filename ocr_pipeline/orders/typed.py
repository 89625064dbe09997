"""Cell → FieldValue: the typed value, and everything kept that led to it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from ocr_pipeline.orders.kinds import Kind, Parsed
from ocr_pipeline.orders.marks import UnsureMark, unknown_marks, unsure_marks
from ocr_pipeline.orders.model import ABSENT, Candidate, FieldState, FieldValue, Flag, Repair, Value
from ocr_pipeline.orders.schema import FieldSpec
from ocr_pipeline.orders.values import parse
from ocr_pipeline.tables.transcript import Cell

WEEKDAYS = "月火水木金土日"
DOUBTFUL = 0.7
"""A character read with less confidence has its runner-up told."""
MOST_RUNNERS_UP = 3


def typed(spec: FieldSpec, cell: Cell | None) -> tuple[FieldValue, Parsed | None]:
    """Make a field value of a cell.

    Args:
        spec: what kind of value is expected.
        cell: where it was read; None when the form has no place for it.

    Returns:
        The value, and what the parser made of the text (None without a cell).
    """
    if cell is None:
        return ABSENT, None
    whole = cell.text
    if spec.drop and (found := re.match(spec.drop, whole)):
        cell = cell.slice(found.end(), len(whole))
    parsed = parse(spec.kind, cell.text)
    if spec.known and parsed.state is FieldState.READ and parsed.value not in spec.known:
        cell, parsed = _known(spec, cell, parsed)
    field = FieldValue(
        state=parsed.state,
        raw=whole,
        value=parsed.value,
        confidence=cell.confidence if parsed.state is not FieldState.BLANK else 1.0,
        candidates=(*_candidates(parsed), *_runners_up(spec, cell, parsed)),
        repairs=parsed.repairs,
        page=cell.page,
        quad=cell.quad,
    )
    if parsed.reason is not None:
        field = field.flagged(parsed.reason)
    if isinstance(parsed.value, str) and spec.kind in (Kind.NAME, Kind.TEXT):
        unsure = [*unsure_marks(cell), *unknown_marks(parsed.value)]
        if unsure:
            field = _with_marks(field, spec, unsure)
    if parsed.weekday and isinstance(parsed.value, date):
        true = WEEKDAYS[parsed.value.weekday()]
        if parsed.weekday != true:
            field = field.flagged(_wrong_weekday(parsed.weekday, true))
    return field, parsed


def _with_marks(field: FieldValue, spec: FieldSpec, unsure: list[UnsureMark]) -> FieldValue:
    others = dict.fromkeys(parse(spec.kind, u.other).value for u in unsure)
    candidates = tuple(Candidate(v, 0) for v in others if v != field.value)
    if not candidates:
        return field
    shown = " / ".join(str(c.value) for c in candidates)
    flag = Flag(
        "mark_unsure",
        f"濁点・半濁点が不確かです: {shown} かもしれません",
        f"a voicing mark is unsure: it may be {shown}",
    )
    return replace(field, candidates=field.candidates + candidates).flagged(flag)


def _known(spec: FieldSpec, cell: Cell, parsed: Parsed) -> tuple[Cell, Parsed]:
    """Take a known value among the engine's own runners-up for a single character.

    It comes with the confidence of the runner-up, so that it is flagged as unsure; the repair says
    what the engine had read first.
    """
    if len(cell.chars) != 1:
        return cell, parsed
    for text, confidence in cell.chars[0].alternatives:
        other = parse(spec.kind, text)
        if other.value in spec.known:
            change = Repair("known_value", cell.text, text)
            repaired = replace(other, repairs=(change, *other.repairs))
            return replace(cell, confidence=confidence), repaired
    return cell, parsed


def _runners_up(spec: FieldSpec, cell: Cell, parsed: Parsed) -> tuple[Candidate, ...]:
    """What the value would be with the engine's second choice for one doubtful character."""
    if len(cell.chars) != len(cell.text):
        return ()
    found: dict[Value, None] = {}
    for i, char in enumerate(cell.chars):
        if char.confidence < DOUBTFUL and char.alternatives:
            text = cell.text[:i] + char.alternatives[0][0] + cell.text[i + 1 :]
            other = parse(spec.kind, text)
            if other.state is FieldState.READ and other.value != parsed.value:
                found[other.value] = None
    return tuple(Candidate(value, 0) for value in list(found)[:MOST_RUNNERS_UP])


def _wrong_weekday(printed: str, true: str) -> Flag:
    return Flag(
        "weekday",
        f"曜日が日付と合いません: 印字は({printed})、暦では({true})",
        f"the printed weekday {printed} does not fit the date ({true})",
    )


def _candidates(parsed: Parsed) -> tuple[Candidate, ...]:
    if parsed.state is FieldState.READ:
        return (Candidate(parsed.value, 1),)
    # No run read one of these: they are what the text might mean.
    return tuple(Candidate(v, 0) for v in parsed.candidates)
