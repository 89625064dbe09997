from __future__ import annotations

from decimal import Decimal

import pytest

from ocr_pipeline.orders.items import (
    MOST_SUMS,
    Items,
    is_item_table,
    is_table_of_sums,
    read_items,
    read_sums,
    split_joined,
    with_below,
)
from ocr_pipeline.orders.model import FieldState
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.tables.markdown import parse
from ocr_pipeline.tables.transcript import Cell, Table

SCHEMA = load_schema("purchase_order")
HEAD = "| 品名 | 規格 | 数量 | 単位 | 単価 | 金額 |\n|---|---|---|---|---|---|\n"
ITEMS = "| ボルト | M6 | 10 | 本 | 100 | 1,000 |\n| ナット | M6 | 2 | 個 | 500 | 1,000 |\n"


def items(text: str) -> Items:
    (table,) = parse(text).tables
    return read_items(table, SCHEMA)


def column(got: Items, name: str) -> list[str]:
    return [str(r[name].value) for r in got.rows]


def sums(got: Items) -> dict[str, list[str]]:
    return {name: [c.text for c in cells] for name, cells in got.sums.items()}


def test_a_plain_table() -> None:
    got = items(HEAD + ITEMS)
    assert column(got, "item") == ["ボルト", "ナット"]
    assert column(got, "amount") == ["1000", "1000"]
    assert all(set(r) == {s.name for s in SCHEMA.rows} for r in got.rows)
    assert {r["remarks"].state for r in got.rows} == {FieldState.ABSENT}
    assert (got.sums, got.taxes) == ({}, [])


@pytest.mark.parametrize("remark", ["以下余白", "以 下 余 白", "以上", "― 以下余白 ―"[2:-2]])
def test_rows_that_are_no_items(remark: str) -> None:
    blank = "| | | | | | |\n"
    got = items(HEAD + blank + ITEMS + blank + f"| {remark} | | | | | |\n" + blank)
    assert column(got, "item") == ["ボルト", "ナット"]


def test_a_blank_row_between_items_ends_nothing() -> None:
    first, second = ITEMS.splitlines(keepends=True)
    got = items(HEAD + first + "| | | | | | |\n" + second)
    assert column(got, "item") == ["ボルト", "ナット"]


def test_a_row_with_nothing_but_its_number_is_blank() -> None:
    head = "| No | 品名 | 数量 | 単価 | 金額 |\n|---|---|---|---|---|\n"
    got = items(head + "| 1 | ボルト | 10 | 100 | 1,000 |\n| 2 | | | | |\n| 3 | | | | |\n")
    assert column(got, "no") == ["1"]


@pytest.mark.parametrize(
    "labels",
    [
        ("小計", "消費税", "合計"),
        ("小 計", "消費税(10%)", "合 計"),
        ("税抜合計", "消費税額", "税込合計"),
        ("小汁", "消貴税", "台計"),
        ("小計", "泊費税", "含計"),
        ("", "", ""),
        ("■", "消費税", "〓"),
    ],
)
def test_closing_sums_however_they_are_labelled(labels: tuple[str, str, str]) -> None:
    amounts = ("2,000", "200", "2,200")
    rows = "".join(f"| | | | | {t} | {a} |\n" for t, a in zip(labels, amounts, strict=True))
    got = items(HEAD + ITEMS + rows)
    assert len(got.rows) == 2
    assert sums(got) == {"subtotal": ["2,000"], "tax": ["200"], "total": ["2,200"]}


def test_a_label_and_its_sum_in_one_cell() -> None:
    got = items(HEAD + ITEMS + "| | | | | | 小計 ¥2,000 |\n| | | | | | 消費税(10%) 200 |\n")
    assert len(got.rows) == 2
    assert sums(got) == {"subtotal": ["¥2,000"], "tax": ["200"]}
    assert [(r.text, a.text) for r, a in got.taxes] == [("10%", "200")]


def test_a_long_label_and_its_sum_in_one_cell() -> None:
    got = items(HEAD + ITEMS + "| | | | | | 税込合計金額 ¥2,200 |\n")
    assert sums(got) == {"total": ["¥2,200"]}


def test_the_label_may_stand_anywhere_in_the_row() -> None:
    got = items(HEAD + ITEMS + "| 合計 | | | | | 2,200 |\n")
    assert sums(got) == {"total": ["2,200"]}


def test_two_tax_rates() -> None:
    closing = "| | | | | 小計 | 2,000 |\n| | | | | 消費税(8%) | 80 |\n"
    closing += "| | | | | 消費税(10%) | 100 |\n| | | | | 合計 | 2,180 |\n"
    got = items(HEAD + ITEMS + closing)
    assert [(rate.text, amount.text) for rate, amount in got.taxes] == [
        ("8%", "80"),
        ("10%", "100"),
    ]
    assert sums(got)["tax"] == ["80", "100"]
    assert sums(got)["total"] == ["2,180"]


def test_a_tax_line_without_a_rate_is_no_tax_of_a_rate() -> None:
    assert items(HEAD + ITEMS + "| | | | | 消費税 | 200 |\n").taxes == []


def test_a_negative_line_is_an_item() -> None:
    got = items(HEAD + ITEMS + "| 値引 | | 1 | 式 | ▲500 | ▲500 |\n| | | | | 小計 | 1,500 |\n")
    assert column(got, "amount") == ["1000", "1000", "-500"]
    assert sums(got) == {"subtotal": ["1,500"]}


def test_a_discount_line_without_a_quantity_is_not_lost() -> None:
    got = items(HEAD + ITEMS + "| 出精値引 | | | | | ▲500 |\n| | | | | 小計 | 1,500 |\n")
    assert column(got, "amount") == ["1000", "1000", "-500"]


def test_a_text_row_between_items_is_kept() -> None:
    first, second = ITEMS.splitlines(keepends=True)
    got = items(HEAD + first + "| 送料込み | | | | | |\n" + second)
    assert column(got, "item") == ["ボルト", "送料込み", "ナット"]
    assert got.rows[1]["amount"].state is FieldState.BLANK


def test_prices_below_a_yen_and_zero_and_blank() -> None:
    got = items(HEAD + "| ボルト | | 1000 | 本 | 12.50 | 12,500 |\n| 見本 | | 1 | 個 | 0 | 0 |\n")
    assert column(got, "unit_price") == ["12.50", "0"]
    assert got.rows[1]["amount"].value == Decimal(0)
    assert got.rows[0]["spec"].state is FieldState.BLANK
    assert got.rows[0]["spec"].confidence == 1.0


@pytest.mark.parametrize(
    ("text", "item", "spec"),
    [
        ("樹脂カバー PC-0981-B", "樹脂カバー", "PC-0981-B"),
        ("樹脂カバー　PC-0981-B", "樹脂カバー", "PC-0981-B"),
        ("電磁弁VF3130-5G1", "電磁弁", "VF3130-5G1"),
        ("丸棒\nSUS303 φ12", "丸棒", "SUS303 φ12"),
        ("丸棒φ12", "丸棒", "φ12"),
        ("電磁弁.VF3130", "電磁弁", "VF3130"),
        ("樹脂カバー", "樹脂カバー", ""),
        ("FU-35FA", "FU-35FA", ""),
        ("ケーブルグランド CG-M20 黒", "ケーブルグランド", "CG-M20 黒"),
        ("", "", ""),
    ],
)
def test_item_and_specification_in_one_cell(text: str, item: str, spec: str) -> None:
    first, second = split_joined(Cell(text))
    assert (first.text, second.text) == (item, spec)


def test_a_joined_column_is_only_cut_where_there_is_no_other() -> None:
    got = items(
        "| 品名・規格 | 数量 | 単価 | 金額 |\n|---|---|---|---|\n| 電磁弁 VF31 | 2 | 5 | 10 |\n"
    )
    assert (column(got, "item"), column(got, "spec")) == (["電磁弁"], ["VF31"])
    kept = items(HEAD + "| 電磁弁 VF31 | A | 2 | 台 | 5 | 10 |\n")
    assert (column(kept, "item"), column(kept, "spec")) == (["電磁弁 VF31"], ["A"])


def test_a_number_and_its_unit_in_one_cell() -> None:
    got = items("| 品名 | 数量 | 単価 | 金額 |\n|---|---|---|---|\n| ボルト | 10本 | 5 | 50 |\n")
    assert (column(got, "quantity"), column(got, "unit")) == (["10"], ["本"])
    assert got.rows[0]["unit"].state is FieldState.READ


def test_a_number_that_slipped_into_the_column_of_its_unit() -> None:
    got = items(HEAD + "| ボルト | M6 | | 11枚 | 5 | 55 |\n")
    assert (column(got, "quantity"), column(got, "unit")) == (["11"], ["枚"])


def test_a_printed_unit_goes_before_one_beside_the_number() -> None:
    got = items(HEAD + "| ボルト | M6 | 10本 | 袋 | 5 | 50 |\n")
    assert (column(got, "quantity"), column(got, "unit")) == (["10"], ["袋"])


def test_which_tables_hold_items() -> None:
    assert is_item_table(parse(HEAD + ITEMS).tables[0], SCHEMA)
    assert not is_item_table(parse("| 担当 | 印 |\n|---|---|\n| 山田 | |\n").tables[0], SCHEMA)
    assert not is_item_table(Table(()), SCHEMA)


def test_more_than_a_few_closing_rows_are_none() -> None:
    rows = "".join(f"| | | | | {name}計 | 100 |\n" for name in "甲乙丙丁戊己庚辛")
    got = items(HEAD + ITEMS + rows)
    assert len(got.rows) == 2 + 8 - MOST_SUMS


def test_the_page_of_the_cells_is_kept() -> None:
    (table,) = parse(HEAD + ITEMS, page=4).tables
    assert {v.page for r in read_items(table, SCHEMA).rows for v in r.values()} <= {4, None}


@pytest.mark.parametrize("mark", ["〃", "同上", "々", "仝"])
def test_ditto_marks_say_what_the_line_above_says(mark: str) -> None:
    got = items(
        HEAD + f"| ボルト | M6 | 10 | 本 | 5 | 50 |\n| {mark} | M8 | 2 | {mark} | 5 | 10 |\n"
    )
    assert (column(got, "item"), column(got, "unit")) == (["ボルト"] * 2, ["本"] * 2)
    second = got.rows[1]["item"]
    assert (second.raw, [r.code for r in second.repairs], second.flags) == (mark, ["ditto"], ())


def test_a_ditto_mark_that_was_read_as_strokes_is_a_guess() -> None:
    got = items(HEAD + "| ボルト | M6 | 10 | 本 | 5 | 50 |\n| 11 | M8 | 2 | 本 | 5 | 10 |\n")
    assert column(got, "item") == ["ボルト", "ボルト"]
    assert [f.code for f in got.rows[1]["item"].flags] == ["ditto_guess"]


def test_a_ditto_mark_for_a_number_is_no_number() -> None:
    got = items(HEAD + "| ボルト | M6 | 10 | 本 | 5 | 50 |\n| ナット | M6 | 〃 | 個 | 5 | 10 |\n")
    assert got.rows[1]["quantity"].state is FieldState.UNREADABLE
    assert got.rows[1]["quantity"].value is None


def test_two_strokes_as_a_quantity_are_eleven() -> None:
    got = items(HEAD + "| ボルト | M6 | 10 | 本 | 5 | 50 |\n| ナット | M6 | 11 | 個 | 5 | 55 |\n")
    assert column(got, "quantity") == ["10", "11"]


def test_a_ditto_mark_in_the_first_line_has_nothing_above() -> None:
    got = items(HEAD + "| 〃 | M6 | 10 | 本 | 5 | 50 |\n")
    assert got.rows[0]["item"].repairs == ()


def test_sums_side_by_side_above_their_amounts() -> None:
    got = items(HEAD + ITEMS + "| | | | 小計 | 消費税 | 合計 |\n| | | | 2,000 | 200 | 2,200 |\n")
    assert len(got.rows) == 2
    assert sums(got) == {"subtotal": ["2,000"], "tax": ["200"], "total": ["2,200"]}


@pytest.mark.parametrize("text", ["値引", "出精値引", "端数調整", "送料"])
def test_what_stands_under_the_articles_and_is_no_sum_is_a_line(text: str) -> None:
    got = items(HEAD + ITEMS + f"| {text} | | | | | 300 |\n| | | | | 小計 | 2,300 |\n")
    assert column(got, "item") == ["ボルト", "ナット", text]
    assert sums(got) == {"subtotal": ["2,300"]}


def test_a_lonely_quantity_is_no_sum() -> None:
    got = items(HEAD + ITEMS + "| | 予備 | 5 | | | |\n")
    assert column(got, "quantity") == ["10", "2", "5"]
    assert got.sums == {}


def test_a_quantity_that_is_there_is_not_replaced_by_what_its_unit_says() -> None:
    got = items(HEAD + "| 塗料 | 白 | 10 | 18缶 | 5 | 50 |\n")
    assert column(got, "quantity") == ["10"]


def test_remarks_below_the_sums_are_no_item() -> None:
    closing = "| | | | | 小計 | 2,000 |\n| | | | | 消費税 | 200 |\n| | | | | 合計 | 2,200 |\n"
    got = items(HEAD + ITEMS + closing + "| 備考：納品書を2部同封してく | ださい。 | | | | |\n")
    assert column(got, "item") == ["ボルト", "ナット"]


def test_a_lump_sum_in_two_columns() -> None:
    got = items(HEAD + "| 金型補修 | PL面 | 一 | 式 | 55,000 | 55,000 |\n")
    value = got.rows[0]["quantity"]
    assert (value.value, value.raw, value.flags) == (Decimal(1), "一", ())
    assert [r.code for r in value.repairs] == ["numeral"]


@pytest.mark.parametrize("unit", ["個", ""])
def test_elsewhere_the_numeral_may_be_a_dash(unit: str) -> None:
    got = items(HEAD + f"| 値引 | | 一 | {unit} | | ▲500 |\n")
    assert got.rows[0]["quantity"].state is FieldState.UNREADABLE


SUMS = "| 小計 | 10%対象 10,280 | 8%対象 1,177,660 | 消費税等 | 合計金額 |\n"
AMOUNTS = "| 1,187,940 | 1,028 | 94,213 | 95,241 | 1,283,181 |\n"


@pytest.mark.parametrize(
    "first", [SUMS + "|---|---|---|---|---|\n", "|---|---|---|---|---|\n" + SUMS]
)
def test_a_table_of_sums_side_by_side(first: str) -> None:
    (table,) = parse(first + AMOUNTS).tables
    assert is_table_of_sums(table, SCHEMA)
    got = read_sums(table, SCHEMA)
    assert sums(got) == {"subtotal": ["1,187,940"], "tax": ["95,241"], "total": ["1,283,181"]}
    assert [(r.text, t.text) for r, t in got.taxes] == [("10%", "1,028"), ("8%", "94,213")]
    assert got.rows == []


def test_items_above_sums_side_by_side_are_no_table_of_sums() -> None:
    closing = "| | | | 小計 | 消費税 | 合計 |\n| | | | 2,000 | 200 | 2,200 |\n"
    (table,) = parse(HEAD + ITEMS + closing).tables
    assert not is_table_of_sums(table, SCHEMA)
    assert sums(read_items(table, SCHEMA)) == {
        "subtotal": ["2,000"],
        "tax": ["200"],
        "total": ["2,200"],
    }
    assert not is_table_of_sums(Table(()), SCHEMA)


def test_a_ditto_mark_at_the_top_of_a_table_means_the_last_row_of_the_one_before() -> None:
    first = items(HEAD + ITEMS)
    more = items(HEAD + "| 〃 | M8 | 1 | 個 | 9 | 9 |\n| 〃 | M9 | 1 | 個 | 9 | 9 |\n")
    assert column(more, "item") == ["〃", "〃"]
    rows = with_below(first.rows, more.rows, SCHEMA)
    assert [str(r["item"].value) for r in rows] == ["ボルト", "ナット", "ナット", "ナット"]
    assert [[x.code for x in r["item"].repairs] for r in rows[2:]] == [["ditto"], ["ditto"]]
    assert with_below((), more.rows, SCHEMA) == more.rows
