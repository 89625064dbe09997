"""Orders as values: fields, rows, taxes, and what a person must look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum

from ocr_pipeline.geometry import Quad

Value = str | Decimal | date | None
"""Money and quantities are `Decimal`, dates are `date`, everything else is text."""


class FieldState(StrEnum):
    """Four things that must not be mixed up."""

    READ = "read"  # there was text, and it became a value
    BLANK = "blank"  # the place for it is there and empty
    UNREADABLE = "unreadable"  # there is ink, but no value could be made of it
    ABSENT = "absent"  # the form has no such place


@dataclass(frozen=True, slots=True)
class Flag:
    """A reason why a person must look.

    Attributes:
        code: stable machine name, e.g. `line_amount`.
        ja: the reason for the clerk, in Japanese.
        en: the same in English.
    """

    code: str
    ja: str
    en: str


@dataclass(frozen=True, slots=True)
class Repair:
    """A change made to what was read, and why it is safe. A repair alone is no reason to review.

    Attributes:
        code: which rule, e.g. `long_vowel`.
        before: the text before.
        after: the text after.
    """

    code: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One value that some run read, and how many runs read it."""

    value: Value
    votes: int


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One field of an order.

    Attributes:
        state: read, blank, unreadable or absent.
        raw: the text as the engine read it, before any repair; empty when blank or absent.
        value: the typed value; None unless `state` is read.
        confidence: 0..1.
        candidates: every value some run read, most votes first.
        repairs: what was changed between `raw` and `value`.
        flags: why a person must look; empty means the field may be trusted.
        page: 1-based page, None when absent.
        quad: in stored pixels, None when unknown.
    """

    state: FieldState = FieldState.ABSENT
    raw: str = ""
    value: Value = None
    confidence: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    repairs: tuple[Repair, ...] = ()
    flags: tuple[Flag, ...] = ()
    page: int | None = None
    quad: Quad | None = None

    def flagged(self, *flags: Flag) -> FieldValue:
        """The same value with more flags; a flag that is there already is not added twice."""
        new = tuple(f for f in flags if f not in self.flags)
        return replace(self, flags=self.flags + new) if new else self


ABSENT = FieldValue()

Row = Mapping[str, FieldValue]
"""Row field name → value; every name of the schema is present."""


@dataclass(frozen=True, slots=True)
class Tax:
    """The tax of one rate as printed on the sheet.

    Attributes:
        rate: percent.
        base: the taxed amount.
        amount: the tax.
    """

    rate: FieldValue
    base: FieldValue
    amount: FieldValue


@dataclass(frozen=True, slots=True)
class Order:
    """One purchase order.

    Attributes:
        fields: header field name → value; every name of the schema is present.
        rows: the item lines, top to bottom.
        taxes: per printed rate, empty when the sheet names none.
        echoes: further places where the sheet prints a field, e.g. the total above the table.
        flags: reasons that concern the order as a whole.
        pages: 1-based numbers of the pages it came from.
    """

    fields: Mapping[str, FieldValue]
    rows: tuple[Row, ...] = ()
    taxes: tuple[Tax, ...] = ()
    echoes: Mapping[str, tuple[FieldValue, ...]] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()
    pages: tuple[int, ...] = field(default=())
