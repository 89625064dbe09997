from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import Char
from ocr_pipeline.geometry import quad_of_box
from ocr_pipeline.orders.labels import (
    aliases,
    find_labels,
    neighbour,
    value_beside,
    without_remark,
)
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.tables.transcript import Cell, Transcript

FIELDS = load_schema("purchase_order").fields


def found(text: str) -> list[tuple[str, str]]:
    """(field, value beside it) of each label in a text."""
    hits = find_labels(Cell(text), FIELDS)
    ends = [*(h.start for h in hits[1:]), None][: len(hits)]
    return [(h.field, value_beside(h, end).text) for h, end in zip(hits, ends, strict=True)]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("発注番号: 2602-305", [("order_no", "2602-305")]),
        ("発注番号：2602-305", [("order_no", "2602-305")]),
        ("発注番号 2602-305", [("order_no", "2602-305")]),
        ("発注番号2602-305", [("order_no", "2602-305")]),
        ("発 注 番 号 : A-1", [("order_no", "A-1")]),
        ("【発注番号】A-1", [("order_no", "A-1")]),
        ("御発注日:2026/3/1", [("order_date", "2026/3/1")]),
        ("注文No. 77", [("order_no", "77")]),
        ("ＴＥＬ：０３－１２３４－５６７８", [("tel", "０３－１２３４－５６７８")]),
        ("TEL 03-1234-5678 FAX 03-1234-5679", [("tel", "03-1234-5678"), ("fax", "03-1234-5679")]),
        ("TEL:03-1234-5678 FAX:03-1234-5679", [("tel", "03-1234-5678"), ("fax", "03-1234-5679")]),
        ("TEL03-1234-5678　FAX03-1234-5679", [("tel", "03-1234-5678"), ("fax", "03-1234-5679")]),
        (
            "発注日: 2026/3/1 納期: 2026/4/1 担当: 山田",
            [("order_date", "2026/3/1"), ("due_date", "2026/4/1"), ("person", "山田")],
        ),
        ("合計金額(税込) ¥2,200", [("total", "¥2,200")]),
        ("ご発注金額 ¥2,200-", [("total", "¥2,200-")]),
        ("希望納期:4月末", [("due_date", "4月末")]),
        ("納期", [("due_date", "")]),
        ("納期:", [("due_date", "")]),
        ("備考: 納期厳守", [("remarks", "納期厳守")]),
        ("支払条件 月末締め翌月末払い", [("payment_terms", "月末締め翌月末払い")]),
    ],
)
def test_labels_and_what_stands_beside_them(text: str, labels: list[tuple[str, str]]) -> None:
    assert found(text) == labels


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        ":",
        "発注致します",
        "電話機",
        "下記の通り発注致します。",
        "担当者様",
        "納期厳守のこと",
    ],
)
def test_words_that_only_begin_like_a_label(text: str) -> None:
    assert found(text) == []


def test_the_longest_label_wins() -> None:
    assert found("納期限: 2026/4/1") == [("due_date", "2026/4/1")]
    assert found("担当者名: 山田") == [("person", "山田")]
    assert found("電話番号 03-1234-5678") == [("tel", "03-1234-5678")]


@pytest.mark.parametrize("text", ["税抜合計: 2,000", "小計(税抜) 2,000", "合計(税抜) 2,000"])
def test_a_sum_without_tax_is_the_subtotal(text: str) -> None:
    assert found(text) == [("subtotal", "2,000")]


def test_two_lines_printed_into_one_another() -> None:
    assert found("株式会社大塚製作所発注日:2026/3/1") == [("order_date", "2026/3/1")]
    assert found("株式会社大塚製作所発注日") == []


def test_look_alikes_do_not_hide_a_label() -> None:
    assert found("オ一ダ一No: 4500") == [("order_no", "4500")]
    assert found("P0 No: 4500") == [("order_no", "4500")]
    assert found("フアックス: 03-1234-5679")[0][1] == "03-1234-5679"


def test_a_misread_label_with_a_value_that_fits() -> None:
    (hit,) = find_labels(Cell("発注1: 2026/3/1"), FIELDS)
    assert hit.field == "order_date"
    assert hit.likeness < 100
    (hit,) = find_labels(Cell("発汪番号: 2602-305"), FIELDS)
    assert (hit.field, value_beside(hit, None).text) == ("order_no", "2602-305")
    assert hit.likeness < 100


def test_a_misread_label_without_a_colon() -> None:
    (hit,) = find_labels(Cell("発汪日2026/3/1"), FIELDS)
    assert (hit.field, value_beside(hit, None).text) == ("order_date", "2026/3/1")
    # The letters before the figures may be the code's own.
    assert find_labels(Cell("PO-2025-2542"), FIELDS) == []


@pytest.mark.parametrize(
    "text", ["月目: 至急", "こちらへご連絡をお願いいたします: 2026/3/1", "時間:", "写真: 2026/3/1"]
)
def test_what_is_no_misread_label(text: str) -> None:
    assert find_labels(Cell(text), FIELDS) == []


def test_a_bracket_around_label_and_value_is_no_part_of_it() -> None:
    assert found("（注文番号：4500012）") == [("order_no", "4500012")]
    assert found("[TEL 03-1234-5678]") == [("tel", "03-1234-5678")]
    assert found("納期: 4月1日(水)") == [("due_date", "4月1日(水)")]


def test_the_value_has_the_place_of_its_own_characters() -> None:
    text = "納期: 2026/4/1"
    chars = tuple(
        Char(c, 0.9 if c != "4" else 0.3, quad=quad_of_box((10 * i, 0, 10 * i + 10, 20)))
        for i, c in enumerate(text)
    )
    (hit,) = find_labels(
        Cell(text, 0.3, quad_of_box((0, 0, 10 * len(text), 20)), chars=chars), FIELDS
    )
    value = value_beside(hit, None)
    assert value.text == "2026/4/1"
    assert value.quad == quad_of_box((40, 0, 120, 20))
    assert value.confidence == 0.3


def test_aliases_are_folded() -> None:
    spec = next(f for f in FIELDS if f.name == "remarks")
    assert "備考" in aliases(spec)
    assert not any(" " in a or not a for f in FIELDS for a in aliases(f))


@settings(deadline=None, max_examples=60)
@given(st.text("発注番号納期日TELFAX合計: 　0123/-()御", max_size=24))
def test_hits_are_in_order_and_inside_the_text(text: str) -> None:
    hits = find_labels(Cell(text), FIELDS)
    edges = [e for h in hits for e in (h.start, h.end)]
    assert edges == sorted(edges)
    assert all(0 <= h.start < h.end <= len(text) for h in hits)


# --- neighbours ---


def near(cell: Cell, pieces: Sequence[Cell]) -> Cell | None:
    """The neighbour of a label, where only 納期 and 発注日 are labels."""
    return neighbour(cell, pieces, lambda c: c.text in ("納期", "発注日"))


def test_beside_goes_before_below(forms) -> None:
    label = forms.cell("納期", 100, 300)
    beside, below = forms.cell("2026/4/1", 240, 302), forms.cell("2026/5/1", 100, 335)
    assert near(label, [below, label, beside]) is beside
    assert near(label, [below, label]) is below


def test_the_nearest_goes_first(forms) -> None:
    label = forms.cell("納期", 100, 300)
    close, far = forms.cell("close", 200, 300), forms.cell("far", 330, 300)
    assert near(label, [label, far, close]) is close


def test_what_is_no_neighbour(forms) -> None:
    label = forms.cell("納期", 500, 300)
    others = [
        forms.cell("left", 100, 300),
        forms.cell("above", 500, 250),
        forms.cell("far right", 1500, 300),
        forms.cell("far below", 500, 500),
        forms.cell("below, but not under it", 900, 340),
        forms.cell(" ", 600, 300),
        Cell("nowhere"),
    ]
    assert near(label, [label, *others]) is None
    assert near(label, []) is None


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_right_and_below_are_the_reader_s(forms, degrees: int) -> None:
    label = forms.cell("納期", 100, 300)
    beside, below = forms.cell("2026/4/1", 240, 302), forms.cell("2026/5/1", 100, 335)
    turned = forms.turn(Transcript((label, beside, below)), degrees).lines
    assert near(turned[0], turned) is turned[1]
    assert near(turned[0], (turned[0], turned[2])) is turned[2]


def test_another_page_is_no_neighbour(forms) -> None:
    label = forms.cell("納期", 100, 300)
    assert near(label, [label, replace(forms.cell("2026/4/1", 240, 300), page=2)]) is None


def test_without_places_the_next_piece_in_reading_order() -> None:
    before, label, blank, after = Cell("前"), Cell("納期"), Cell(" "), Cell("2026/4/1")
    assert near(label, [before, label, blank, after]) is after
    assert near(after, [before, label, blank, after]) is None


def test_another_label_is_no_value(forms) -> None:
    label, other = forms.cell("納期", 100, 300), forms.cell("発注日", 180, 300)
    value = forms.cell("2026/4/1", 100, 336)
    assert near(label, [label, other, value]) is value
    unplaced = Cell("納期")
    assert near(unplaced, [unplaced, Cell("発注日"), Cell("2026/4/1")]) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("税額(10%)　860", "860"),
        ("消費税(10%)　500", "500"),
        ("消費税（１０％）：５００", "５００"),
        ("消費税( 8 %) ¥500", "¥500"),
        ("消費税10%　500", "500"),
        ("消費税(10%)", ""),
        ("消費税 10%", ""),
        ("総計(税込) 1,200", "1,200"),
        ("合計(1,200)", "1,200)"),
        ("納期(希望) 2026/3/3", "2026/3/3"),
        ("TEL(代表) 03-1234-5678", "03-1234-5678"),
        ("TEL(03)1234-5678", "03)1234-5678"),
    ],
)
def test_a_remark_in_brackets_behind_a_label_is_part_of_it(text: str, value: str) -> None:
    (hit,) = find_labels(Cell(text), FIELDS)
    assert without_remark(hit, value_beside(hit, None)).text == value
