from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.columns import map_columns
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.tables.transcript import Cell, Table

ROWS = load_schema("purchase_order").rows


def table(header: list[str], *rows: list[str]) -> Table:
    return Table(tuple(map(Cell, header)), tuple(tuple(map(Cell, r)) for r in rows))


def columns(header: list[str], *rows: list[str]) -> dict[str, int]:
    return map_columns(table(header, *rows), ROWS)


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("No 品名 規格 数量 単位 単価 金額", "no item spec quantity unit unit_price amount"),
        ("品名 数量 金額 備考", "item quantity amount remarks"),
        ("品名 数量 単価 金額", "item quantity unit_price amount"),
        ("項番 商品名 型番 数量 単価(円) 金額(円)", "no item spec quantity unit_price amount"),
        ("品名・規格 数量 単位 単価 金額", "item quantity unit unit_price amount"),
        ("金額 単価 数量 品名", "amount unit_price quantity item"),
        ("品 名|数 量|単 価|金 額", "item quantity unit_price amount"),
        ("品名 数量 単価 税率 金額", "item quantity unit_price tax_rate amount"),
        ("No. ITEM QTY Unit Price Amount", "no - quantity unit unit_price amount"),
    ],
)  # fmt: skip
def test_known_titles(header: str, names: str) -> None:
    titles = header.split("|") if "|" in header else header.split(" ")
    got = columns(titles)
    expected = {n: i for i, n in enumerate(names.split()) if n != "-"}
    assert {n: i for n, i in got.items() if n in expected} == expected
    assert set(got) - set(expected) <= {"item"}


def test_titles_that_were_misread() -> None:
    header = ["No", "品名", "規恪", "数星", "単位", "単価", "金領"]
    rows = [["1", "ボルト", "M6×20 SCM435", "10", "本", "12", "120"]]
    got = columns(header, *rows)
    assert " ".join(sorted(got, key=got.__getitem__)) == (
        "no item spec quantity unit unit_price amount"
    )


def test_titles_that_are_gone_by_habit_and_content() -> None:
    header = ["", "品名", "", "", "", "単価", ""]
    rows = [
        ["1", "六角ボルト", "M6×20 SCM", "10", "本", "12", "120"],
        ["2", "ナット", "M6 SUS304", "3", "個", "40", "120"],
    ]
    got = columns(header, *rows)
    assert got["item"] == 1
    assert (got["quantity"], got["unit"], got["unit_price"], got["amount"]) == (3, 4, 5, 6)


def test_a_wide_table_whose_titles_are_nearly_all_spoilt() -> None:
    row = ["1", "六角ボルト", "M6×20 SCM", "10", "本", "12", "120"]
    got = columns(["", "", "", "", "", "単佃", "■"], row)
    assert (got.get("item"), got.get("quantity"), got.get("unit")) == (1, 3, 4)
    assert (got.get("unit_price"), got.get("amount")) == (5, 6)
    # Nothing at all is left of the titles, or the table is narrow.
    assert columns([""] * 7, row) == {}
    assert len(columns(["", "単佃", "■"], row[4:])) < 2


def test_no_two_columns_become_one_field() -> None:
    got = columns(["品名", "金額", "金額", "金額"], ["ボルト", "1", "2", "3"])
    assert len(set(got.values())) == len(got)


def test_other_tables_have_few_known_columns() -> None:
    assert len(columns(["議題", "担当", "期限"], ["予算", "佐藤", "4/1"])) < 2
    assert columns([]) == {}
    assert columns([""]) == {}
    assert columns(["", "", ""], ["", "", ""]) == {}


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from([*"品数単金", "品名", "数量", "単価", "金額", "", "No"]), max_size=8),
    st.lists(st.text("0123個ボルト ,", max_size=5), max_size=8),
)  # fmt: skip
def test_the_mapping_is_one_to_one_and_inside_the_table(header: list[str], row: list[str]) -> None:
    filled = (row + [""] * len(header))[: len(header)]
    got = columns(header, filled)
    assert set(got) <= {s.name for s in ROWS}
    assert len(set(got.values())) == len(got)
    assert all(0 <= i < len(header) for i in got.values())
