from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth import lexicon
from synth.content import Line, close, draw_content, to_yen
from synth.seeds import stream
from synth.sender_errors import plant_error

seeds = st.integers(0, 2**31)


@settings(deadline=None, max_examples=60)
@given(seed=seeds, most=st.integers(3, 40))
def test_orders_close(seed, most):
    order = draw_content(stream(seed, "content"), lines=(3, most))
    assert 3 <= len(order.lines) <= most
    for line in order.lines:
        if line.unit_price is not None:
            assert line.amount == to_yen(line.quantity * line.unit_price, order.rounding)
    assert order.subtotal == sum(line.amount for line in order.lines)
    assert order.tax == sum(t for _, t in order.taxes.values())
    assert order.total == order.subtotal + order.tax
    for rate, (base, tax) in order.taxes.items():
        assert base == sum(x.amount for x in order.lines if x.tax_rate == rate)
        assert abs(tax - base * rate / 100) < 1
    assert order.due_date > order.order_date


@settings(deadline=None, max_examples=40)
@given(seed=seeds)
def test_a_planted_mistake_is_marked_and_nothing_else_changes(seed):
    right = draw_content(stream(seed, "content"))
    wrong = plant_error(right, stream(seed, "which"))
    (error,) = wrong.errors
    if error.row is not None:
        now, was = wrong.lines[error.row].amount, right.lines[error.row].amount
        assert now != was
        assert error.correct == str(was)
        assert wrong.total == right.total
    elif error.kind == "due_before_order":
        assert wrong.due_date < wrong.order_date
        assert date.fromisoformat(error.correct) == right.due_date
    elif error.kind in ("tax", "total"):
        assert getattr(wrong, error.kind) != getattr(right, error.kind)
        assert Decimal(error.correct) == getattr(right, error.kind)
    else:
        assert replace(wrong, errors=()) == right


@pytest.mark.parametrize(
    ("rounding", "tax"), [("floor", "10"), ("half_up", "11"), ("ceiling", "11")]
)
def test_tax_is_rounded_once(rounding, tax):
    lines = (Line("a", amount=Decimal(55)), Line("b", amount=Decimal(54)))
    taxes, subtotal, total_tax, total = close(lines, rounding)
    assert (subtotal, total_tax, total) == (109, Decimal(tax), 109 + Decimal(tax))
    assert taxes[10] == (109, Decimal(tax))


def test_tax_by_rate():
    lines = (Line("a", amount=Decimal(1000)), Line("b", amount=Decimal(-99), tax_rate=8))
    taxes, *_ = close(lines, "floor")
    assert list(taxes) == [10, 8]
    assert taxes[8] == (-99, -8)


def test_the_lexicon_is_large_and_well_formed():
    goods = lexicon.goods()
    assert len({g.item for g in goods}) >= 300
    assert len(lexicon.trades()) >= 10
    for g in goods:
        assert g.low < g.high
        assert g.tax in (8, 10)
        assert all(g.specs)
    with pytest.raises(KeyError):
        lexicon.phrases("nothing")


def test_everything_that_was_asked_for_occurs():
    orders = [draw_content(stream(s, "content"), lines=(3, 40)) for s in range(150)]
    lines = [x for o in orders for x in o.lines]
    assert any(len(o.taxes) == 2 for o in orders)
    assert {o.rounding for o in orders} == {"floor", "half_up", "ceiling"}
    assert any(x.amount < 0 for x in lines)
    assert any(x.unit_price is None for x in lines)
    assert any(x.unit_price is not None and x.unit_price % 1 for x in lines)
    assert any(x.quantity % 1 for x in lines)
    text = "".join(x.item for x in lines) + "".join(o.person for o in orders)
    assert all(c in text for c in "ｽｶﾞ髙﨑")
