from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from ocr_pipeline.engines.base import Char
from ocr_pipeline.geometry import quad_of_box
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import ABSENT, Candidate, FieldState
from ocr_pipeline.orders.schema import FieldSpec
from ocr_pipeline.orders.typed import WEEKDAYS, typed
from ocr_pipeline.tables.transcript import Cell


def spec(kind: Kind) -> FieldSpec:
    return FieldSpec(name="x", label="欄", kind=kind)


def test_no_place_blank_zero_and_unreadable_are_four_things() -> None:
    money = spec(Kind.MONEY)
    assert typed(money, None) == (ABSENT, None)
    blank, _ = typed(money, Cell("  ", 0.2, page=2))
    zero, _ = typed(money, Cell("0", 0.9))
    unreadable, _ = typed(money, Cell("見本", 0.9))
    assert (blank.state, blank.value, blank.flags) == (FieldState.BLANK, None, ())
    assert (blank.confidence, blank.page, blank.candidates) == (1.0, 2, ())
    assert (zero.state, zero.value, zero.confidence) == (FieldState.READ, Decimal(0), 0.9)
    assert (unreadable.state, unreadable.value) == (FieldState.UNREADABLE, None)
    assert [f.code for f in unreadable.flags] == ["not_a_number"]


def test_everything_known_about_the_text_is_kept() -> None:
    quad = quad_of_box((1, 2, 3, 4))
    value, parsed = typed(spec(Kind.MONEY), Cell("¥41.300", 0.7, quad, page=3))
    assert (value.raw, value.value) == ("¥41.300", Decimal(41300))
    assert [(r.code, r.after) for r in value.repairs] == [("thousands_mark", "41,300")]
    assert value.candidates == (Candidate(Decimal(41300), 1),)
    assert (value.page, value.quad, value.confidence) == (3, quad, 0.7)
    assert value.flags == ()
    assert parsed is not None
    assert parsed.value == value.value


def test_what_an_unreadable_text_might_mean_has_no_votes() -> None:
    value, _ = typed(spec(Kind.NUMBER), Cell("12.500"))
    assert value.state is FieldState.UNREADABLE
    assert value.candidates == (Candidate(Decimal("12.500"), 0), Candidate(Decimal(12500), 0))
    assert value.flags


@pytest.mark.parametrize("day", range(7))
def test_the_printed_weekday(day: int) -> None:
    when = date(2026, 2, 9 + day)
    for printed in WEEKDAYS:
        value, _ = typed(spec(Kind.DATE), Cell(f"{when:%Y/%m/%d}({printed})"))
        assert value.value == when
        fits = printed == WEEKDAYS[when.weekday()]
        assert [f.code for f in value.flags] == ([] if fits else ["weekday"])
    assert f"({WEEKDAYS[6]})" in typed(spec(Kind.DATE), Cell("2026/2/9(日)"))[0].flags[0].ja


def test_a_weekday_without_a_date_is_no_weekday_flag() -> None:
    value, _ = typed(spec(Kind.DATE), Cell("2026/2/31(火)"))
    assert value.value is None
    assert "weekday" not in {f.code for f in value.flags}


def unsure(text: str, confidence: float, *alternatives: tuple[str, float]) -> Cell:
    """A cell of which the engine was not sure in its first character."""
    first = Char(text[0], confidence, alternatives)
    return Cell(text, confidence, chars=(first, *(Char(c, 0.99) for c in text[1:])))


def test_a_voicing_mark_that_may_be_lost() -> None:
    value, _ = typed(spec(Kind.NAME), unsure("ハクト工業", 0.9, ("バ", 0.08)))
    assert value.value == "ハクト工業"
    assert [f.code for f in value.flags] == ["mark_unsure"]
    assert "バクト工業" in value.flags[0].ja
    assert value.candidates == (Candidate("ハクト工業", 1), Candidate("バクト工業", 0))
    assert typed(spec(Kind.NAME), unsure("ハクト工業", 0.9, ("八", 0.08)))[0].flags == ()
    # A code has no voicing marks.
    assert typed(spec(Kind.CODE), unsure("A-1", 0.9, ("バ", 0.08)))[0].flags == ()


def test_a_word_that_is_known_with_another_mark() -> None:
    value, _ = typed(spec(Kind.NAME), Cell("ケープル"))
    assert (value.value, [f.code for f in value.flags]) == ("ケープル", ["mark_unsure"])
    assert typed(spec(Kind.NAME), Cell("ケーブル"))[0].flags == ()


UNIT = FieldSpec(name="unit", label="単位", kind=Kind.UNIT, known=("個", "本"))


def test_a_known_value_among_the_runners_up() -> None:
    value, _ = typed(UNIT, unsure("佪", 0.5, ("回", 0.3), ("個", 0.2)))
    assert (value.value, value.raw, value.confidence) == ("個", "佪", 0.2)
    assert [(r.code, r.before, r.after) for r in value.repairs] == [("known_value", "佪", "個")]


@pytest.mark.parametrize(
    "cell",
    [
        Cell("佪"),
        unsure("佪", 0.5, ("回", 0.3)),
        unsure("個数", 0.5, ("個", 0.2)),
    ],
    ids=["nothing known", "none is known", "more than a character"],
)
def test_no_known_value_among_the_runners_up(cell: Cell) -> None:
    value, _ = typed(UNIT, cell)
    assert (value.value, value.repairs) == (cell.text, ())


def test_a_known_value_stays() -> None:
    value, _ = typed(UNIT, unsure("本", 0.5, ("個", 0.4)))
    assert (value.value, value.repairs) == ("本", ())


def test_what_is_printed_with_a_value_and_is_no_part_of_it() -> None:
    person = FieldSpec(name="person", label="担当", kind=Kind.NAME, drop="^.{2,12}?部 *")
    value, _ = typed(person, Cell("購買部 山田太郎"))
    assert (value.raw, value.value) == ("購買部 山田太郎", "山田太郎")
    assert typed(person, Cell("山田太郎"))[0].value == "山田太郎"


def test_prices_below_a_yen() -> None:
    assert str(typed(spec(Kind.MONEY), Cell("12.50"))[0].value) == "12.50"
    assert typed(spec(Kind.MONEY), Cell("▲1,200"))[0].value == Decimal(-1200)


def test_the_runner_up_of_a_doubtful_character_is_a_candidate_without_votes() -> None:
    chars = (
        Char("1", 0.99, (("7", 0.01),)),
        Char("8", 0.5, (("3", 0.4), ("6", 0.1))),
        Char("0", 0.9),
    )
    value, _ = typed(spec(Kind.MONEY), Cell("180", 0.5, chars=chars))
    assert [(c.value, c.votes) for c in value.candidates] == [(Decimal(180), 1), (Decimal(130), 0)]
    sure, _ = typed(
        spec(Kind.MONEY), Cell("180", 0.9, chars=(*chars[:1], Char("8", 0.9), chars[2]))
    )
    assert [c.value for c in sure.candidates] == [Decimal(180)]
