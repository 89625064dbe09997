"""Mistakes of the sender: planted on purpose, so that a checker can be seen to find them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import numpy as np

from synth.content import Content, SenderError
from synth.seeds import chance, pick


def _slip(value: Decimal, rng: np.random.Generator) -> Decimal:
    """A clerk's slip: two neighbouring digits swapped, or one digit off by one."""
    digits = list(str(abs(value)))
    swaps = [i for i in range(len(digits) - 1) if digits[i] != digits[i + 1] and "." not in digits]
    if swaps and chance(rng, 0.6):
        i = pick(rng, swaps)
        digits[i], digits[i + 1] = digits[i + 1], digits[i]
    else:
        digits[-1] = str((int(digits[-1]) + 1) % 10)
    slipped = Decimal("".join(digits))
    return -slipped if value < 0 else slipped


def plant_error(content: Content, rng: np.random.Generator) -> Content:
    """The same order with one mistake of its sender, marked in `errors`."""
    kind = pick(rng, ("line_amount", "total", "tax", "due_before_order", "weekday"))
    if kind == "line_amount":
        rows = [i for i, x in enumerate(content.lines) if x.amount and x.unit_price]
        if rows:
            row = pick(rng, rows)
            line = content.lines[row]
            assert line.amount is not None
            wrong = replace(line, amount=_slip(line.amount, rng))
            lines = (*content.lines[:row], wrong, *content.lines[row + 1 :])
            error = SenderError(kind, "amount", row, str(line.amount))
            return replace(content, lines=lines, errors=(*content.errors, error))
        kind = "total"
    if kind == "due_before_order":
        early = content.order_date - timedelta(days=int(rng.integers(1, 40)))
        error = SenderError(kind, "due_date", None, content.due_date.isoformat())
        return replace(content, due_date=early, errors=(*content.errors, error))
    if kind == "weekday":
        error = SenderError(kind, "due_date", None, content.due_date.isoformat())
        return replace(content, errors=(*content.errors, error))
    right: Decimal = getattr(content, kind)
    errors = (*content.errors, SenderError(kind, kind, None, str(right)))
    if kind == "tax":
        return replace(content, tax=_slip(right, rng), errors=errors)
    return replace(content, total=_slip(right, rng), errors=errors)
