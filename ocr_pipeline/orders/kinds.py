"""The kinds of values a schema can ask for, and what parsing a text gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ocr_pipeline.orders.model import FieldState, Flag, Repair, Value


class Kind(StrEnum):
    """The type of a field, as a schema file names it."""

    MONEY = "money"
    NUMBER = "number"
    PERCENT = "percent"
    DATE = "date"
    CODE = "code"
    PHONE = "phone"
    NAME = "name"
    UNIT = "unit"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What could be made of a text.

    Attributes:
        state: `read`, `blank` or `unreadable`; never `absent`.
        value: the typed value, None unless `state` is read.
        repairs: what was changed on the way, in order.
        reason: why there is no value; None unless `state` is unreadable.
        candidates: the values it might be, when it is unreadable; none of them is safe.
        rest: printed text that is no part of the value: the unit of a number, `税込` of an amount,
            `必着` of a date, the extension of a phone number.
        weekday: the weekday printed beside a date, one of `月火水木金土日`, or empty.
    """

    state: FieldState
    value: Value = None
    repairs: tuple[Repair, ...] = ()
    reason: Flag | None = None
    candidates: tuple[Value, ...] = ()
    rest: str = ""
    weekday: str = ""


BLANK = Parsed(FieldState.BLANK)


def unreadable(reason: Flag, *candidates: Value, rest: str = "", weekday: str = "") -> Parsed:
    """There is ink, but no value that is safe; candidates without repetition."""
    return Parsed(
        FieldState.UNREADABLE,
        reason=reason,
        candidates=tuple(dict.fromkeys(candidates)),
        rest=rest,
        weekday=weekday,
    )
