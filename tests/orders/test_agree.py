from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.agree import agree, align_rows, vote
from ocr_pipeline.orders.model import (
    ABSENT,
    Candidate,
    FieldState,
    FieldValue,
    Flag,
    Order,
    Row,
    Tax,
    Value,
)

BLANK = FieldValue(FieldState.BLANK, confidence=1.0, page=1)
UNREADABLE = FieldValue(FieldState.UNREADABLE, "?", confidence=0.5, flags=(Flag("x", "x", "x"),))


def read(value: Value, confidence: float = 0.9, raw: str | None = None) -> FieldValue:
    return FieldValue(
        FieldState.READ,
        str(value) if raw is None else raw,
        value,
        confidence,
        (Candidate(value, 1),),
        page=1,
    )


def row(item: str, amount: int | None = None) -> Row:
    return {
        "item": read(item),
        "amount": BLANK if amount is None else read(Decimal(amount)),
    }


def order(
    number: Value = "A-1", rows: tuple[Row, ...] = (), pages: tuple[int, ...] = (1,)
) -> Order:
    return Order({"order_no": read(number)}, rows, pages=pages)


def codes(value: FieldValue) -> list[str]:
    return [f.code for f in value.flags]


def items(merged: Order) -> list[Value]:
    return [r["item"].value for r in merged.rows]


VALUES = st.one_of(
    st.sampled_from([Decimal("12.50"), Decimal("12.5"), Decimal(0), date(2026, 2, 9), "株式会社A"]),
    st.text("ABC 12", max_size=4),
)
READ = st.builds(read, VALUES, st.floats(0, 1))
FIELDS = st.one_of(READ, st.just(BLANK), st.just(ABSENT), st.just(UNREADABLE))


# --- one field ---


def test_all_runs_agree() -> None:
    won = vote([read("A-1", 0.9), read("A-1", 0.6), read("A-1", 0.6)])
    assert won.value == "A-1"
    assert won.candidates == (Candidate("A-1", 3),)
    assert won.confidence == pytest.approx(0.7)
    assert won.flags == ()


def test_the_majority_wins_and_the_field_is_flagged() -> None:
    won = vote([read(Decimal(100), 0.9), read(Decimal(700), 1.0), read(Decimal(100), 0.9)])
    assert won.value == Decimal(100)
    assert won.candidates == (Candidate(Decimal(100), 2), Candidate(Decimal(700), 1))
    assert codes(won) == ["runs_disagree"]
    assert "100×2" in won.flags[0].ja
    assert "700×1" in won.flags[0].en
    assert won.confidence == pytest.approx(0.6)


def test_between_equal_votes_the_more_confident() -> None:
    sure, unsure = read("A-1", 0.95), read("A-7", 0.4)
    assert vote([unsure, sure]).value == vote([sure, unsure]).value == "A-1"
    assert codes(vote([unsure, sure])) == ["runs_disagree"]


@pytest.mark.parametrize("nothing", [BLANK, ABSENT, UNREADABLE])
def test_a_readable_value_wins_over_nothing_at_equal_votes(nothing: FieldValue) -> None:
    for fields in ([nothing, read("A-1", 0.1)], [read("A-1", 0.1), nothing]):
        won = vote(fields)
        assert (won.state, won.value) == (FieldState.READ, "A-1")
        assert won.candidates == (Candidate("A-1", 1),)
        assert codes(won) == ["runs_disagree"]
        assert "A-1×1 / (空)×1" in won.flags[0].ja


@pytest.mark.parametrize("nothing", [BLANK, ABSENT, UNREADABLE])
def test_a_majority_of_nothing_wins_and_shows_what_one_run_read(nothing: FieldValue) -> None:
    won = vote([nothing, read("A-1"), nothing])
    assert (won.state, won.value) == (nothing.state, None)
    assert won.candidates == (Candidate("A-1", 1),)
    assert "runs_disagree" in codes(won)


def test_two_sorts_of_nothing_are_no_disagreement() -> None:
    assert "runs_disagree" not in codes(vote([BLANK, ABSENT]))
    assert "runs_disagree" not in codes(vote([UNREADABLE, BLANK, BLANK]))


def test_zero_is_no_blank() -> None:
    won = vote([read(Decimal(0)), BLANK, read(Decimal(0))])
    assert (won.state, won.value) == (FieldState.READ, Decimal(0))
    assert codes(won) == ["runs_disagree"]


def test_values_are_counted_by_what_they_mean() -> None:
    assert vote([read(Decimal("12.50")), read(Decimal("12.5"))]).flags == ()
    assert vote([read("ボルト M6"), read("ボルトM6")]).flags == ()
    assert codes(vote([read("パッキン"), read("バッキン")])) == ["runs_disagree"]


def test_what_the_winner_carries_is_kept() -> None:
    flag = Flag("label_unread", "x", "x")
    won = vote([read("A-1", 0.9).flagged(flag), read("A-1", 0.5)])
    assert codes(won) == ["label_unread"]
    assert won.raw == "A-1"
    assert won.page == 1


@settings(deadline=None, max_examples=80)
@given(FIELDS, st.integers(1, 5))
def test_the_same_reading_many_times_is_itself(field: FieldValue, runs: int) -> None:
    won = vote([field] * runs)
    assert (won.state, won.value, won.raw) == (field.state, field.value, field.raw)
    assert won.confidence == pytest.approx(field.confidence)
    assert won.flags == field.flags
    if field.state is FieldState.READ:
        assert won.candidates == (Candidate(field.value, runs),)


@settings(deadline=None, max_examples=120)
@given(st.lists(FIELDS, min_size=1, max_size=6))
def test_a_vote_is_one_of_the_readings(fields: list[FieldValue]) -> None:
    won = vote(fields)
    assert any((f.state, f.value, f.raw) == (won.state, won.value, won.raw) for f in fields)
    reads = [f for f in fields if f.state is FieldState.READ]
    assert sum(c.votes for c in won.candidates) == len(reads)
    assert 0 <= won.confidence <= 1
    votes = [c.votes for c in won.candidates]
    if won.state is FieldState.READ:
        assert votes == sorted(votes, reverse=True)
    if len(won.candidates) > 1:
        assert "runs_disagree" in codes(won)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.sampled_from(["A", "B", "C"]), min_size=1, max_size=5).flatmap(
        lambda vs: st.tuples(
            st.just([read(v, 0.5 + 0.25 / 2**i) for i, v in enumerate(vs)]),
            # No two sums of these are equal, so there is never a tie to break.
            st.permutations([read(v, 0.5 + 0.25 / 2**i) for i, v in enumerate(vs)]),
        )
    )
)
def test_the_order_of_the_runs_does_not_matter(runs: tuple) -> None:
    first, second = (vote(fields) for fields in runs)
    assert first.value == second.value
    assert first.confidence == pytest.approx(second.confidence)
    assert set(first.candidates) == set(second.candidates)


# --- rows ---


def total(pairs: list[int | None], similarity: list[list[float]]) -> float:
    return sum(similarity[i][j] for i, j in enumerate(pairs) if j is not None)


def brute_force(similarity: list[list[float]], n: int, m: int) -> float:
    """Greatest total similarity of all monotone pairings."""
    best = 0.0
    for k in range(1, min(n, m) + 1):
        for left in combinations(range(n), k):
            for right in combinations(range(m), k):
                best = max(best, sum(similarity[i][j] for i, j in zip(left, right, strict=True)))
    return best


SMALL_ROWS = st.lists(st.tuples(st.sampled_from("あいう"), st.sampled_from("xyz")), max_size=5)


@settings(deadline=None, max_examples=150)
@given(SMALL_ROWS, SMALL_ROWS)
def test_rows_are_aligned_as_well_as_can_be(
    left: list[tuple[str, str]], right: list[tuple[str, str]]
) -> None:
    # Texts of one character are alike or not at all, so a row's similarity is 0, 1/2 or 1.
    similarity = [[((a == c) + (b == d)) / 2 for c, d in right] for a, b in left]
    rows = [[{"item": read(a), "spec": read(b)} for a, b in side] for side in (left, right)]
    pairs = align_rows(rows[0], rows[1])
    assert len(pairs) == len(left)
    paired = [j for j in pairs if j is not None]
    assert paired == sorted(set(paired))
    assert total(pairs, similarity) == pytest.approx(brute_force(similarity, len(left), len(right)))
    # Rows that have nothing in common are not the same row.
    assert all(similarity[i][j] > 0 for i, j in enumerate(pairs) if j is not None)


@given(st.lists(st.sampled_from(["ボルト", "ナット", "座金", "軸受"]), max_size=6))
@settings(deadline=None, max_examples=40)
def test_the_same_rows_are_aligned_one_to_one(names: list[str]) -> None:
    rows = [row(n, i) for i, n in enumerate(names)]
    assert align_rows(rows, rows) == list(range(len(rows)))


def test_missing_and_extra_rows() -> None:
    full = [row("ボルト", 1), row("電磁弁", 2), row("切削油", 3)]
    assert align_rows(full, [full[0], full[2]]) == [0, None, 1]
    assert align_rows([full[0], full[2]], full) == [0, 2]
    assert align_rows(full, []) == [None, None, None]
    assert align_rows([], full) == []


def test_a_misread_row_is_still_the_same_row() -> None:
    assert align_rows([row("樹脂カバー", 100)], [row("樹脂力バー", 100)]) == [0]
    assert align_rows([row("樹脂カバー", 100)], [row("電磁弁", 7)]) == [None]


def test_a_unit_in_common_makes_no_two_rows_the_same() -> None:
    def line(item: str, spec: str, amount: int) -> Row:
        figures = {"amount": read(Decimal(amount)), "unit_price": read(Decimal(amount))}
        return {"item": read(item), "spec": read(spec), "unit": read("個"), **figures}

    assert align_rows([line("軸受", "M6", 111)], [line("切削油", "18L", 222)]) == [None]
    assert align_rows([line("軸受", "M6", 111)], [line("軸受", "18L", 111)]) == [0]


# --- whole orders ---


def test_no_runs_and_one_run() -> None:
    assert agree([]) == ()
    assert agree([[], []]) == ()
    one = order(rows=(row("ボルト", 1),))
    assert agree([[one]]) == (one,)


def test_identical_runs_are_the_run_with_votes() -> None:
    one = order(rows=(row("ボルト", 1), row("ナット")))
    (merged,) = agree([[one]] * 3)
    assert merged.fields["order_no"].candidates == (Candidate("A-1", 3),)
    assert [r["item"].candidates for r in merged.rows] == [
        (Candidate("ボルト", 3),),
        (Candidate("ナット", 3),),
    ]
    assert merged.rows[1]["amount"].state is FieldState.BLANK
    assert not any(v.flags for v in (*merged.fields.values(), *merged.rows[0].values()))


def test_disagreement_within_a_row() -> None:
    runs = [[order(rows=(row("ボルト", amount),))] for amount in (100, 700, 100)]
    (merged,) = agree(runs)
    amount = merged.rows[0]["amount"]
    assert amount.value == Decimal(100)
    assert codes(amount) == ["runs_disagree"]
    assert codes(merged.rows[0]["item"]) == []


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_row_that_one_run_missed(at: int) -> None:
    full = (row("ボルト", 1), row("電磁弁", 2), row("切削油", 3))
    runs = [[order(rows=full)] for _ in range(3)]
    runs[at] = [order(rows=(full[0], full[2]))]
    (merged,) = agree(runs)
    assert items(merged) == ["ボルト", "電磁弁", "切削油"]
    assert codes(merged.rows[1]["item"]) == ["runs_disagree"]
    assert merged.rows[1]["item"].candidates == (Candidate("電磁弁", 2),)
    assert codes(merged.rows[0]["item"]) == codes(merged.rows[2]["item"]) == []


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_row_that_only_one_run_saw_is_left_out(at: int) -> None:
    rows = (row("ボルト", 1), row("切削油", 3))
    runs = [[order(rows=rows)] for _ in range(3)]
    runs[at] = [order(rows=(rows[0], row("見本", 9), rows[1]))]
    (merged,) = agree(runs)
    assert items(merged) == ["ボルト", "切削油"]


def test_a_row_that_only_one_run_saw_is_told_of() -> None:
    rows = (row("ボルト", 1), row("切削油", 3))
    extra = order(rows=(rows[0], row("見本", 9), rows[1]))
    (merged,) = agree([[order(rows=rows)], [order(rows=rows)], [extra]])
    assert [f.code for f in merged.flags] == ["row_count"]
    assert "2 / 3" in merged.flags[0].ja
    assert agree([[order(rows=rows)]] * 2)[0].flags == ()


@settings(deadline=None, max_examples=40)
@given(st.permutations(range(3)))
def test_the_order_of_runs_does_not_matter_where_rows_agree(places: list[int]) -> None:
    runs = [
        [order("A-1", (row("ボルト", 100), row("ナット", 5)))],
        [order("A-7", (row("ボルト", 700), row("ナット", 5)))],
        [order("A-1", (row("ボルト", 100), row("ナット", 6)))],
    ]
    (merged,) = agree([runs[i] for i in places])
    assert merged.fields["order_no"].value == "A-1"
    assert [r["amount"].value for r in merged.rows] == [Decimal(100), Decimal(5)]
    assert codes(merged.rows[1]["amount"]) == ["runs_disagree"]


def test_several_orders_are_matched_by_their_pages() -> None:
    first, second = order("A-1", pages=(1,)), order("B-2", pages=(2, 3))
    merged = agree([[first, second], [first, second], [second]])
    assert [o.fields["order_no"].value for o in merged] == ["A-1", "B-2"]
    assert merged[0].fields["order_no"].candidates == (Candidate("A-1", 2),)
    assert merged[1].fields["order_no"].candidates == (Candidate("B-2", 3),)


def test_two_orders_on_one_page_are_matched_by_their_place() -> None:
    runs = [[order("A-1"), order("B-2")]] * 2
    merged = agree(runs)
    assert [o.fields["order_no"].value for o in merged] == ["A-1", "B-2"]
    assert not any(o.fields["order_no"].flags for o in merged)


def test_the_usual_number_of_orders_decides() -> None:
    found = [order("A-1")]
    assert agree([[], found, found]) == agree([found, found])
    assert agree([[], [], found]) == ()


def test_an_order_that_half_of_the_runs_found_is_not_lost() -> None:
    assert len(agree([[order("A-1")], []])) == 1
    assert len(agree([[], [order("A-1")]])) == 1


def test_taxes_are_voted_on_where_all_runs_found_them() -> None:
    def taxed(*amounts: int) -> Order:
        taxes = tuple(Tax(read(Decimal(10)), ABSENT, read(Decimal(a))) for a in amounts)
        return replace(order(), taxes=taxes)

    (merged,) = agree([[taxed(20)], [taxed(70)], [taxed(20)]])
    assert merged.taxes[0].amount.value == Decimal(20)
    assert codes(merged.taxes[0].amount) == ["runs_disagree"]
    (merged,) = agree([[taxed(20, 8)], [taxed(20)]])
    assert merged.taxes == taxed(20, 8).taxes
