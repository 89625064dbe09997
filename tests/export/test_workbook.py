import io
import os
import zipfile
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from ocr_pipeline.export.tabular import Column, Table, tables
from ocr_pipeline.export.text import without_control
from ocr_pipeline.export.workbook import keep_corrections, write_workbook


def one(path, *row, kinds=()):
    kinds = [*kinds, *["text"] * (len(row) - len(kinds))]
    columns = tuple(Column(f"c{i}", f"列{i}", kind) for i, kind in enumerate(kinds))
    warnings = write_workbook([Table("t", "表", columns, (row,))], path)
    return load_workbook(path).worksheets[0], warnings


@pytest.fixture
def book(record, others, form, tmp_path):
    path = tmp_path / "orders.xlsx"
    assert write_workbook(tables([record, *others], form), path) == []
    return load_workbook(path)


def test_the_sheets_the_headers_and_what_helps_to_look(book):
    assert book.sheetnames == ["発注", "明細", "要確認"]
    for sheet in book:
        assert sheet.freeze_panes == "B2"
        assert sheet.auto_filter.ref == sheet.dimensions
        assert all(6 <= d.width <= 60 for d in sheet.column_dimensions.values())
    assert [c.value for c in book["明細"][1]] == [
        *("ファイル", "注文", "発注番号", "行", "品名", "数量", "単価", "税率")
    ]
    assert book["要確認"].max_row == 1 + 6 + 5


def test_cells_have_the_types_that_excel_means(book):
    orders, lines = book["発注"], book["明細"]
    head = {c.value: c.column - 1 for c in orders[1]}
    row = orders[2]
    day = row[head["発注日"]]
    assert (day.value, day.is_date, day.number_format) == (datetime(2024, 3, 5), True, "yyyy/mm/dd")
    for name, text in (("発注番号", "0012-A"), ("電話番号", "03-1234-5678")):
        cell = row[head[name]]
        assert (cell.value, cell.data_type, cell.number_format) == (text, "s", "@")
    buyer = row[head["発注元"]]
    assert (buyer.value, buyer.data_type, buyer.quotePrefix) == ("=HYPERLINK(1)", "s", True)
    assert row[head["状態"]].value == "正常"
    quantity, price, rate = lines[2][5:]
    assert (quantity.value, quantity.number_format) == (1200, "#,##0")
    assert (price.value, price.number_format) == (12.5, "#,##0.00")
    assert (rate.value, rate.number_format) == (10, '#,##0"%"')
    assert lines[3][6].value == -500


def test_flagged_cells_are_coloured_and_say_why(book):
    flagged = [
        (sheet.title, c.coordinate, c.comment.text)
        for sheet in book
        for row in sheet.iter_rows(min_row=2)
        for c in row
        if c.comment
    ]
    assert flagged == [
        ("発注", "E2", "合計が二か所で違います"),
        ("発注", "J2", "数量×単価が金額と合いません"),
        ("発注", "K2", "数量×単価が金額と合いません"),
        ("明細", "G2", "数量×単価が金額と合いません"),
    ]
    coloured = [
        (sheet.title, c.coordinate)
        for sheet in book
        for row in sheet.iter_rows(min_row=2)
        for c in row
        if c.fill.fgColor.rgb == "FFFFE699"
    ]
    assert coloured == [f[:2] for f in flagged]


def test_the_correction_is_empty_and_takes_text(book):
    sheet = book["要確認"]
    assert sheet.cell(1, sheet.max_column).value == "訂正値"
    for row in range(2, sheet.max_row + 1):
        cell = sheet.cell(row, sheet.max_column)
        assert (cell.value, cell.number_format) == (None, "@")


@pytest.mark.parametrize(
    "text", ["=1+1", "#N/A", "TRUE", "0012", "1/2", "+81-3", "@x", "-5", "1E5"]
)
def test_text_stays_text(tmp_path, text):
    sheet, warnings = one(tmp_path / "x.xlsx", "a.tif", text)
    cell = sheet["B2"]
    assert (cell.value, cell.data_type, warnings) == (text, "s", [])


def test_no_formula_is_in_the_file(book, tmp_path):
    with zipfile.ZipFile(tmp_path / "orders.xlsx") as parts:
        sheets = [parts.read(n) for n in parts.namelist() if "worksheets/sheet" in n]
    assert len(sheets) == 3
    assert not any(b"<f>" in s or b"<f " in s for s in sheets)


def test_what_a_cell_cannot_hold_is_told(tmp_path):
    sheet, warnings = one(
        tmp_path / "x.xlsx",
        *("a\x00.tif", "あ" * 40000, Decimal("1234567890123456.5"), date(1868, 1, 25)),
        kinds=("text", "text", "money", "date"),
    )
    assert [c.value for c in sheet[2]] == [
        *("a.tif", "あ" * 32767, "1234567890123456.5", "1868-01-25")
    ]
    assert len(warnings) == 3
    assert all(w.startswith("x.xlsx: 表: a") for w in warnings)


@pytest.mark.parametrize("number", ["0", "1E+2", "-0.001", "123456789012345", "1234567890.12345"])
def test_numbers_are_numbers(tmp_path, number):
    sheet, _ = one(tmp_path / "x.xlsx", "a", Decimal(number), kinds=("text", "money"))
    assert sheet["B2"].value == float(number)
    assert sheet["B2"].data_type == "n"


@given(st.lists(st.text(max_size=8), min_size=1, max_size=6))
@settings(deadline=None, max_examples=40)
def test_any_text_comes_back(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("xlsx") / "x.xlsx"
    sheet, _ = one(path, "s", *texts)
    for cell, text in zip(sheet[2][1:], texts, strict=True):
        expected = without_control(text)[0].replace("\r\n", "\n").replace("\r", "\n")
        got = (cell.value or "").replace("\r\n", "\n").replace("\r", "\n")
        assert got == expected
        assert cell.data_type in ("s", "n")


def test_a_workbook_of_no_records_opens(form, tmp_path):
    write_workbook(tables([], form), tmp_path / "x.xlsx")
    data = io.BytesIO((tmp_path / "x.xlsx").read_bytes())
    assert [s.max_row for s in load_workbook(data)] == [1, 1, 1]


AT = datetime(2024, 3, 5, 10, 15)


def typed(path, value, column="訂正値"):
    """Type into 要確認 what a person would, and save it at `AT`."""
    book = load_workbook(path)
    sheet = book["要確認"]
    head = [c.value for c in sheet[1]]
    sheet.cell(3, head.index(column) + 1).value = value
    book.save(path)
    os.utime(path, (AT.timestamp(), AT.timestamp()))


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize("value", ["12,000", 0, "=1+1", AT])
def test_a_workbook_with_corrections_is_set_aside(tmp_path, value):
    path = tmp_path / "orders.xlsx"
    typed(path, value)
    before = path.read_bytes()
    warning = keep_corrections(path)
    kept = tmp_path / "orders.20240305-101500.xlsx"
    assert list(tmp_path.iterdir()) == [kept]
    assert kept.read_bytes() == before
    assert warning.startswith(
        f"orders.xlsx: the workbook of the run before was kept as {kept.name}"
    )
    assert "訂正値" in warning


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize(("value", "column"), [(None, "訂正値"), (" ", "訂正値"), ("x", "候補")])
def test_a_workbook_without_corrections_is_not(tmp_path, value, column):
    path = tmp_path / "orders.xlsx"
    typed(path, value, column)
    assert keep_corrections(path) == ""
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"no workbook", b"PK\x03\x04 cut off"])
def test_workbooks_that_cannot_be_opened_are_all_kept(tmp_path, content):
    path = tmp_path / "orders.xlsx"
    for _ in range(3):
        path.write_bytes(content)
        os.utime(path, (AT.timestamp(), AT.timestamp()))
        assert "cannot be opened" in keep_corrections(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f"orders.20240305-101500{again}.xlsx" for again in ("-2", "-3", "")
    ]


def test_no_workbook_no_corrections(tmp_path):
    assert keep_corrections(tmp_path / "orders.xlsx") == ""
