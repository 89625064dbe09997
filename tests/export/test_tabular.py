import ast
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from ocr_pipeline.export.record import DocumentStatus, PageFlag, PageRecord, Record, flag_count
from ocr_pipeline.export.tabular import (
    PAGE_FLAGS,
    line_table,
    order_table,
    plain_text,
    review_table,
    tables,
)
from ocr_pipeline.orders.model import FieldValue, Order


def dicts(table):
    names = [c.name for c in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def test_an_order_is_one_row_of_typed_cells(record, form):
    table = order_table([record], form)
    (row,) = dicts(table)
    assert row == {
        "source": "受注/ファクス 1.tif",
        "order": 1,
        "pages": "1,2",
        "status": DocumentStatus.OK,
        "review": 5,
        "order_no": "0012-A",
        "order_date": date(2024, 3, 5),
        "buyer": "=HYPERLINK(1)",
        "tel": "03-1234-5678",
        "total": None,
        "taxes": "10% 対象 15000 税 1500",
    }
    assert [c.label for c in table.columns[:2]] == ["ファイル", "注文"]
    noted = {table.columns[j].name: note for (_, j), note in table.notes.items()}
    assert noted == {
        "review": "合計が二か所で違います",
        "total": "数量×単価が金額と合いません",
        "taxes": "数量×単価が金額と合いません",
    }


def test_lines_carry_their_order_and_flags(record, form):
    table = line_table([record], form)
    first, second = dicts(table)
    assert (first["source"], first["order_no"], first["row"]) == (record.source, "0012-A", 1)
    assert (first["unit_price"], second["unit_price"]) == (Decimal("12.50"), Decimal(-500))
    assert second["quantity"] is None
    assert [(i, table.columns[j].name) for i, j in table.notes] == [(0, "unit_price")]


def test_everything_to_check_is_one_row(record, form):
    rows = dicts(review_table([record], form))
    assert len(rows) == flag_count(record)
    page, order, total, echo, price, tax = rows
    assert (page["label"], page["page"]) == ("ページ全体", 2)
    assert (order["label"], order["order_no"]) == ("注文全体", "0012-A")
    assert (total["field"], total["label"], total["row"]) == ("total", "合計", None)
    assert (total["raw"], total["value"], total["state"]) == ("¥?", None, "unreadable")
    assert (echo["field"], echo["label"], echo["value"]) == ("total", "合計（別の箇所）", 16500)
    assert (price["field"], price["label"], price["row"]) == ("unit_price", "単価", 1)
    assert price["page"] == 2
    assert price["candidates"] == "12.50 (2) / 12.8 (1)"
    assert price["value"] == Decimal("12.50")
    assert price["reason_en"] == "quantity times price is not the amount"
    assert (tax["field"], tax["label"], tax["row"]) == ("taxes.amount", "税額", 1)
    assert all(row["correction"] is None for row in rows)


def test_no_document_vanishes(record, others, form):
    rows = dicts(review_table([record, *others], form))
    found = {row["source"]: row for row in rows if row["label"] == "文書全体"}
    assert list(found) == [r.source for r in others]
    assert [row["status"] for row in found.values()] == [r.status for r in others]
    assert found["broken.pdf"]["reason"] == "読み取りに失敗しました: the file is truncated"
    assert {r.source for r in [record, *others]} == {row["source"] for row in rows}


def test_flags_of_pages_are_told_in_japanese(form):
    flag = PageFlag("line_errors", "7 lines of the page arrived damaged")
    page = PageRecord(3, flags=(flag, PageFlag("other", "見てください")))
    known, unknown = dicts(review_table([Record("a.tif", DocumentStatus.OK, pages=(page,))], form))
    assert known["reason"] == PAGE_FLAGS["line_errors"]
    assert known["reason_en"] == "7 lines of the page arrived damaged"
    assert (unknown["reason"], unknown["reason_en"]) == ("見てください", "見てください")


def test_every_flag_of_a_page_has_a_japanese_sentence_and_its_row_in_the_docs():
    root = Path(__file__).parents[2]
    codes = {
        node.elts[0].value
        for path in (root / "ocr_pipeline" / "pages").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Tuple)
        and len(node.elts) == 2
        and isinstance(node.elts[0], ast.Constant)
        and re.fullmatch(r"[a-z]+(_[a-z]+)+", str(node.elts[0].value))
    }
    assert codes == set(PAGE_FLAGS)
    explained = (root / "docs" / "orders.md").read_text(encoding="utf-8")
    for code, ja in PAGE_FLAGS.items():
        assert re.search("[ぁ-ん]", ja)
        assert f"| `{code}` | {ja} |" in explained


@pytest.mark.parametrize("status", [s for s in DocumentStatus if s is not DocumentStatus.OK])
def test_what_became_of_a_document_is_told_in_japanese_first(form, status):
    (row,) = dicts(review_table([Record("a.tif", status, "what happened")], form))
    assert re.match("[ぁ-んァ-ヶ一-龠]", row["reason"])
    assert row["reason"].endswith(": what happened")
    assert row["reason_en"].isascii()


def test_two_orders_of_one_file_are_told_apart(record, order, form):
    both = replace(record, orders=(order, replace(order, rows=())))
    assert [row["order"] for row in dicts(order_table([both], form))] == [1, 2]
    assert [row["order"] for row in dicts(line_table([both], form))] == [1, 1]


def test_fields_that_the_schema_does_not_name_get_columns_too(form):
    order = Order({"project": FieldValue(value="新棟")}, ({"lot": FieldValue(value="7")},))
    old = Record("old.tif", DocumentStatus.OK, orders=(order,))
    assert dicts(order_table([old], form))[0]["project"] == "新棟"
    assert dicts(order_table([old], form))[0]["order_no"] is None
    assert dicts(line_table([old], form))[0]["lot"] == "7"


def test_no_records_are_empty_tables(form):
    for table in tables([], form):
        assert table.rows == ()
        assert table.columns[0].name == "source"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (Decimal("1E+3"), "1000"),
        (Decimal("12.50"), "12.50"),
        (Decimal("-0.00001"), "-0.00001"),
        (date(2024, 1, 2), "2024-01-02"),
        ("0012", "0012"),
        (0, "0"),
    ],
)
def test_values_as_plain_text(value, text):
    assert plain_text(value) == text
