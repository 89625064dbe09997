import csv
import io
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.errors import UsageError
from ocr_pipeline.export.delimited import write_csv
from ocr_pipeline.export.tabular import Column, Table, tables


def table(*rows):
    width = max((len(row) for row in rows), default=2)
    names = ["source", *(f"c{i}" for i in range(1, width))]
    return Table("orders", "発注", tuple(Column(n, n) for n in names), rows)


def read(path, encoding="utf-8-sig"):
    return list(csv.reader(io.StringIO(path.read_bytes().decode(encoding), newline="")))


def test_a_file_for_a_windows_excel(record, others, form, tmp_path):
    for made in tables([record, *others], form):
        path = tmp_path / f"{made.name}.csv"
        assert write_csv(made, path) == []
        data = path.read_bytes()
        assert data.startswith(b"\xef\xbb\xbf")
        assert data.count(b"\r\n") == data.count(b"\n") == len(made.rows) + 1
        assert read(path)[0] == [c.name for c in made.columns]
    frame = pd.read_csv(tmp_path / "lines.csv", dtype={"order_no": str})
    assert list(frame["unit_price"]) == [12.5, -500]
    assert list(frame["order_no"]) == ["0012-A"] * 2
    rows = read(tmp_path / "lines.csv")
    assert [row[-2] for row in rows[1:]] == ["12.50", "-500"]
    assert rows[2][4] == "'-値引"
    assert read(tmp_path / "orders.csv")[1][7] == "'=HYPERLINK(1)"


def test_an_empty_table_has_its_header(form, tmp_path):
    write_csv(tables([], form)[0], tmp_path / "o.csv")
    assert len(read(tmp_path / "o.csv")) == 1


def test_cp932_tells_what_it_lacks(tmp_path):
    path = tmp_path / "o.csv"
    warnings = write_csv(table(("ファクス.tif", "𠮷野 髙橋")), path, encoding="cp932")
    assert read(path, "cp932")[1] == ["ファクス.tif", "〓野 髙橋"]
    assert len(warnings) == 1
    assert all(part in warnings[0] for part in ("o.csv", "ファクス.tif", "c1", "𠮷"))


def test_control_characters_are_told(tmp_path):
    path = tmp_path / "o.csv"
    warnings = write_csv(table(("a.tif", "x\x00\x07y")), path)
    assert read(path)[1] == ["a.tif", "xy"]
    assert "\\x00\\x07" in warnings[0]


def test_another_encoding_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="utf-8-sig"):
        write_csv(table(("a", "b")), tmp_path / "o.csv", encoding="latin-1")
    assert not (tmp_path / "o.csv").exists()


CELL = st.text() | st.sampled_from(["=1", "+81", "-", "@x", "\tx", "\rx", '"', ",", "a\r\nb"])


@given(st.lists(st.tuples(CELL, CELL), max_size=4), st.sampled_from(["utf-8-sig", "cp932"]))
@settings(deadline=None, max_examples=60)
def test_no_text_becomes_a_formula_and_no_cell_is_lost(tmp_path_factory, rows, encoding):
    path = tmp_path_factory.mktemp("csv") / "o.csv"
    write_csv(table(("s", "s"), *rows), path, encoding=encoding)
    back = read(path, encoding)[2:]
    assert len(back) == len(rows)
    for cells, texts in zip(back, rows, strict=True):
        assert len(cells) == 2
        for cell, text in zip(cells, texts, strict=True):
            assert cell.lstrip()[:1] not in tuple("=+-@＝＋－＠")
            assert cell[:1] not in tuple("\t\r\n")
            assert bool(cell) <= bool(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12))
@settings(deadline=None, max_examples=50)
def test_numbers_stay_numbers(tmp_path_factory, number):
    path = tmp_path_factory.mktemp("csv") / "o.csv"
    write_csv(table(("s", number)), path)
    assert Decimal(read(path)[1][1]) == number
