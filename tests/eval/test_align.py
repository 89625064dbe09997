from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from eval.align import ERRORS, Alignment, Line, align, error_of, holds
from eval.outcomes import Form
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import ABSENT, FieldState, FieldValue, Row
from ocr_pipeline.orders.schema import load_schema

FORM = Form(load_schema("purchase_order"))
NUMBERS = ("quantity", "unit_price", "amount")


def row(**texts: str | int) -> Row:
    made: dict[str, FieldValue] = dict.fromkeys(FORM.rows, ABSENT)
    for name, text in texts.items():
        value = Decimal(text) if name in NUMBERS else str(text)
        made[name] = FieldValue(FieldState.READ, str(text), value, 0.9, page=1)
    return made


BOLT = {"item": "六角ボルト", "unit": "個", "quantity": 10, "amount": 420}
RING = {"item": "止め輪", "unit": "個", "quantity": 5, "amount": 75}
OIL = {"item": "切削油", "unit": "個", "quantity": 1, "amount": 5970}


def aligned(rows: list[dict], truth: list[dict]) -> Alignment:
    return align([row(**r) for r in rows], truth, FORM.rows)


def test_lines_are_found_by_what_they_say() -> None:
    found = aligned([BOLT, RING], [RING, BOLT])
    assert found.read == (1, 0)
    assert not found.in_order
    assert aligned([BOLT, RING], [BOLT, RING]).in_order


def test_a_missing_line_is_none_and_the_others_keep_theirs() -> None:
    found = aligned([BOLT, OIL], [BOLT, RING, OIL])
    assert found == Alignment((0, None, 1))
    assert aligned([], [BOLT]) == Alignment((None,))


def test_a_unit_that_all_lines_share_makes_no_two_of_them_alike() -> None:
    """A line that was missed and one that was invented are two errors, not one bad reading."""
    other = {"item": "光ファイバセンサ", "unit": "個", "quantity": 88, "amount": 199}
    found = aligned([BOLT, other], [BOLT, OIL])
    assert found.read == (0, None)
    assert found.extra == (1,)
    assert not found.duplicated


def test_a_line_too_many() -> None:
    assert aligned([BOLT], []).extra == (0,)
    twice = aligned([BOLT, RING, BOLT], [BOLT, RING])
    assert (twice.read, twice.extra, twice.duplicated) == ((0, 1), (2,), frozenset({2}))


def test_a_line_twice_on_the_sheet_is_none_too_many() -> None:
    found = aligned([BOLT, BOLT], [BOLT, BOLT])
    assert found == Alignment((0, 1))


def test_a_line_that_is_swallowed_by_another() -> None:
    both = row(item="六角ボルト\n止め輪", unit="個", quantity=10, amount=420)
    both |= {
        "quantity": FieldValue(FieldState.UNREADABLE, "10\n5"),
        "amount": FieldValue(raw="420\n75"),
    }
    found = align([both, row(**OIL)], [BOLT, RING, OIL], FORM.rows)
    assert found.read[2] == 1
    assert found.merged in ({1: 0}, {0: 0})


def test_values_in_the_wrong_columns_still_find_their_line() -> None:
    moved = {"spec": "六角ボルト", "quantity": 420, "amount": 10, "unit": "個"}
    assert aligned([moved, OIL], [OIL, BOLT]).read == (1, 0)


def test_a_badly_read_line_is_still_that_line() -> None:
    bad = {"item": "六角ボノレト", "unit": "個", "quantity": 16, "amount": 420}
    assert aligned([bad], [BOLT]).read == (0,)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.sampled_from([BOLT, RING, OIL]), max_size=5),
    st.lists(st.sampled_from([BOLT, RING, OIL]), max_size=5),
)
def test_every_read_line_stands_for_one_or_is_extra(rows: list[dict], truth: list[dict]) -> None:
    found = aligned(rows, truth)
    taken = [j for j in found.read if j is not None]
    assert len(found.read) == len(truth)
    assert sorted([*taken, *found.extra]) == list(range(len(rows)))
    assert found.duplicated <= set(found.extra)
    for i, j in enumerate(found.read):
        assert j is None or rows[j] == truth[i]


def test_the_same_value_in_two_columns_is_no_shift() -> None:
    """One piece at one yen: a wrong price beside a right quantity is simply wrong."""
    true = {"item": "x", "quantity": 1, "unit_price": 1, "amount": 1}
    read = row(item="x", quantity=1, unit_price=7, amount=1)
    line = Line(read, true)
    assert error_of(FORM.rows["unit_price"], "1", read["unit_price"], line) == "wrong"


def test_kinds_of_error() -> None:
    spec = FORM.fields["total"]
    kinds = {
        error_of(spec, "5", ABSENT, None): "not_read",
        error_of(spec, "5", FieldValue(FieldState.BLANK), None): "not_read",
        error_of(spec, "5", FieldValue(FieldState.UNREADABLE, "合"), None): "unreadable",
        error_of(spec, "5", FieldValue(FieldState.READ, "6", Decimal(6)), None): "wrong",
        error_of(spec, "", FieldValue(FieldState.READ, "6", Decimal(6)), None): "invented",
    }
    assert all(found == wanted for found, wanted in kinds.items())
    assert set(kinds) <= set(ERRORS)


def test_a_cell_holds_a_value_among_others() -> None:
    assert holds(Kind.NAME, "止め輪", "六角ボルト\n止め輪")
    assert holds(Kind.MONEY, "75", "420\n￥75")
    assert not holds(Kind.MONEY, "75", "4275")
    assert not holds(Kind.NAME, "止め輪", "六角ボルト")
