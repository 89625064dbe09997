"""Which marks an order gets, and where: decided from the order and its drawing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

import numpy as np

from ocr_pipeline.geometry import Box
from synth import lexicon
from synth.content import Content
from synth.drawing import Drawing, Ref
from synth.marks import Mark
from synth.seeds import chance, pick


def _seal_columns(name: str) -> str:
    """A company's name broken into two or three columns, closed by 之印."""
    text = name + "之印"
    columns = 2 if len(text) <= 8 else 3
    size = -(-len(text) // columns)
    return "\n".join(text[i : i + size] for i in range(0, len(text), size))


def _square(box: Box, side: float) -> Box:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return x - side / 2, y - side / 2, x + side / 2, y + side / 2


def plan_marks(
    content: Content, pages: Sequence[Drawing], rng: np.random.Generator
) -> tuple[Mark, ...]:
    """Decide what is stamped and written on an order, and where."""
    marks: list[Mark] = []
    first = pages[0]

    def density() -> float:
        return float(rng.uniform(0.6, 0.95))

    def turn() -> float:
        return float(np.clip(rng.normal(0, 4), -12, 12))

    if chance(rng, 0.6) and "company_seal" in first.anchors:
        box = _square(first.anchors["company_seal"], float(rng.uniform(18, 22)))
        marks.append(
            Mark("company_seal", 1, box, _seal_columns(content.buyer.short), density(), turn())
        )
    persons = [a for a in first.anchors if a == "personal_seal" or a.startswith("approval")]
    for i, anchor in enumerate(sorted(persons)):
        surname = (
            content.person.split()[0]
            if i == len(persons) - 1
            else pick(rng, lexicon.phrases("surname"))
        )
        if chance(rng, 0.65):
            box = _square(first.anchors[anchor], float(rng.uniform(9.5, 11)))
            marks.append(Mark("personal_seal", 1, box, surname, density(), turn()))
    if chance(rng, 0.3):
        when = content.order_date + timedelta(days=int(rng.integers(0, 3)))
        office = pick(rng, lexicon.phrases("department"))[:5]
        purpose = pick(rng, ("受付", "受領", "検収", "済"))
        text = f"{office}\n{when:%y}.{when.month}.{when.day}\n{purpose}"
        box = _square(pages[-1].anchors["stamp"], float(rng.uniform(24, 28)))
        marks.append(Mark("stamp", len(pages), box, text, density(), turn()))
    if chance(rng, 0.25):
        marks += _ticks(pages, rng)
    if chance(rng, 0.2):
        marks += _correction(content, pages, rng)
    return tuple(marks)


def _ticks(pages: Sequence[Drawing], rng: np.random.Generator) -> list[Mark]:
    """A check mark at the left end of most lines, as somebody does who counts the goods."""
    marks = []
    for number, page in enumerate(pages, start=1):
        for name, row in page.anchors.items():
            if name.startswith("row.") and chance(rng, 0.8):
                x = row[0] + float(rng.uniform(-6.5, -4.5))
                y = (row[1] + row[3]) / 2 + float(rng.uniform(-3.2, -2.2))
                marks.append(Mark("tick", number, (x, y, x + 6, y + 5), density=0.85))
    return marks


def _correction(content: Content, pages: Sequence[Drawing], rng: np.random.Generator) -> list[Mark]:
    """The due date or one quantity struck out and written anew above."""
    if chance(rng, 0.6):
        ref = Ref("due_date")
        when = content.due_date + timedelta(days=int(rng.integers(1, 10)))
        text, value = f"{when.year}/{when.month}/{when.day}", when.isoformat()
    else:
        rows = [i for i, x in enumerate(content.lines) if x.quantity and x.unit != "式"]
        if not rows:
            return []
        row = pick(rng, rows)
        ref = Ref("quantity", row)
        value = text = str(
            int(content.lines[row].quantity or Decimal(0)) + int(rng.integers(1, 20))
        )
    for number, page in enumerate(pages, start=1):
        for run in page.runs:
            if run.ref == ref:
                left, top, right, bottom = run.box
                box = (left - 0.5, top - 0.3, right + 0.5, bottom + 0.3)
                beside = _free(page, box, text)
                return [Mark("strike", number, box, text, 0.85, 0.0, ref, value, beside)]
    return []


def _free(page: Drawing, box: Box, text: str) -> Box:
    """Where there is the least print: to the right of a value, above it or below it."""
    left, top, right, bottom = box
    height = max(3.2, 1.25 * (bottom - top))
    width = height * (0.62 * len(text) + 0.5)
    middle = (top + bottom) / 2
    places = [
        (right + 0.5, middle - height / 2, right + 0.5 + width, middle + height / 2),
        (left, top - height + 0.4, left + width, top + 0.4),
        (left, bottom - 0.4, left + width, bottom - 0.4 + height),
    ]

    def print_in(place: Box) -> float:
        x0, y0, x1, y1 = (round(v * page.scale) for v in place)
        outside = 1e9 if place[2] > page.width - 3 else 0.0
        return float(page.ink[y0:y1, x0:x1].sum(dtype=np.int64)) + outside

    return min(places, key=print_in)
