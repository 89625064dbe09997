from __future__ import annotations

import pytest
from pydantic import ValidationError

from ocr_pipeline.errors import SchemaError
from ocr_pipeline.orders.check import check
from ocr_pipeline.orders.extract import extract
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import FieldState
from ocr_pipeline.orders.schema import load_schema, shipped_schemas
from ocr_pipeline.orders.text import label
from ocr_pipeline.tables.markdown import parse

QUOTATION = """\
name: quotation
title: 見積依頼書
titles: [見積依頼書, 御見積依頼書]
fields:
  request_no: {label: 依頼番号, kind: code, required: true, aliases: [依頼番号, 依頼No]}
  reply_by: {label: 回答期限, kind: date, aliases: [回答期限, 回答希望日]}
  asked: {label: 依頼先, kind: name, role: addressee}
  budget: {label: 予算, kind: money, aliases: [予算]}
rows:
  "no": {label: "No", kind: text, aliases: ["No"]}
  part: {label: 部品名, kind: name, required: true, aliases: [部品名]}
  pieces: {label: 予定数, kind: number, aliases: [予定数]}
  target: {label: 目標単価, kind: money, aliases: [目標単価]}
  value: {label: 目標金額, kind: money, aliases: [目標金額]}
checks:
  - {rule: product, of: [pieces, target], equals: value}
  - {rule: sum, of: value, equals: budget}
"""

FORM = """\
# 見積依頼書

東和精機株式会社 御中

依頼番号: Q-77  回答期限: 令和8年4月1日

予算: ¥650

| No | 部品名 | 予定数 | 目標単価 | 目標金額 |
|---|---|---|---|---|
| 1 | 軸受 | 10 | 50 | 500 |
| 2 | 止め輪 | 5 | 30 | 160 |
"""

MINIMAL = """\
name: tiny
title: 小
titles: [小]
fields:
  code: {label: 番号, kind: code}
  day: {label: 日, kind: date}
rows:
  item: {label: 品, kind: name}
  price: {label: 価, kind: money}
"""


@pytest.fixture
def written(tmp_path):
    """Writes a schema file and gives its path."""

    def write(text: str, *, encoding: str = "utf-8") -> str:
        path = tmp_path / "form.yaml"
        path.write_bytes(text.encode(encoding))
        return str(path)

    return write


def error(path: str) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        load_schema(path)
    assert caught.value.remedy
    return caught.value


def test_another_form_is_a_file(written) -> None:
    schema = load_schema(written(QUOTATION))
    orders, _ = extract([parse(FORM)], schema)
    assert len(orders) == 1
    order = check(orders[0], schema)
    values = {name: str(value.value) for name, value in order.fields.items()}
    assert values == {
        "request_no": "Q-77",
        "reply_by": "2026-04-01",
        "asked": "東和精機株式会社",
        "budget": "650",
    }
    assert [str(row["part"].value) for row in order.rows] == ["軸受", "止め輪"]
    assert [str(row["pieces"].value) for row in order.rows] == ["10", "5"]
    # 5 × 30 is not 160: its own rule is checked, and its own fields are named.
    assert [bool(row["value"].flags) for row in order.rows] == [False, True]
    assert {f.code for f in order.rows[1]["value"].flags} == {"line_amount", "sum"}
    assert {f.code for f in order.fields["budget"].flags} == {"sum"}


def test_the_shipped_schema() -> None:
    assert shipped_schemas() == ["purchase_order"]
    schema = load_schema("purchase_order")
    # The names are part of the contract of the records.
    assert " ".join(f.name for f in schema.fields) == (
        "order_no order_date due_date buyer supplier tel fax person delivery_place payment_terms "
        "subtotal tax total remarks"
    )
    assert " ".join(r.name for r in schema.rows) == (
        "no item spec quantity unit unit_price amount tax_rate remarks"
    )
    assert schema.field("total").kind is Kind.MONEY


def test_no_such_field(schema) -> None:
    with pytest.raises(KeyError):
        schema.field("price")


def test_column_titles_are_folded_as_they_are_looked_up(schema) -> None:
    for printed in ("品 名", "単価(円)", "数量:", "【金額】"):
        assert label(printed) in schema.column_titles
    assert "" not in schema.column_titles
    assert label("発注番号") not in schema.column_titles


def test_no_title_names_two_columns_or_fields_first(schema) -> None:
    for specs in (schema.fields, schema.rows):
        firsts = [label(s.aliases[0]) for s in specs if s.aliases]
        assert len(set(firsts)) == len(firsts)


def test_schemas_are_values(schema) -> None:
    assert load_schema("purchase_order") == schema
    with pytest.raises(ValidationError):
        schema.name = "other"


def test_no_such_schema() -> None:
    caught = error("invoice")
    assert "'invoice'" in caught.message
    assert "purchase_order" in caught.remedy
    assert caught.exit_code == 4


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (MINIMAL + "sheets: 3\n", "sheets"),
        (MINIMAL.replace("kind: code}", "kind: code, alias: [番]}"), "alias"),
        (MINIMAL.replace("kind: code", "kind: colour"), "colour"),
        (MINIMAL.replace("name: tiny\n", ""), "name"),
        (MINIMAL.replace("label: 番号, ", ""), "label"),
        (MINIMAL + "checks: [{rule: product, of: [item, pieces], equals: price}]\n", "pieces"),
        (MINIMAL + "checks: [{rule: sum, of: price, equals: total}]\n", "total"),
        (MINIMAL + "checks: [{rule: sum, of: code, equals: code}]\n", "code"),
        (MINIMAL + "checks: [{rule: tax, base: net, equals: code, rates: [10]}]\n", "net"),
        (MINIMAL + "checks: [{rule: total, of: [code, vat], equals: code}]\n", "vat"),
        (MINIMAL + "checks: [{rule: printed_twice, of: price}]\n", "price"),
        (MINIMAL + "checks: [{rule: date_order, of: [day, due]}]\n", "due"),
        (MINIMAL + "checks: [{rule: date_near, of: [due, day], days: 3}]\n", "due"),
        (MINIMAL + "checks: [{rule: product, of: [price], equals: price}]\n", "of"),
        (MINIMAL + "checks: [{rule: magic, of: price}]\n", "magic"),
        (MINIMAL.replace("kind: money}", "kind: money, joined: product}"), "product"),
        (MINIMAL.replace("  item:", "  no:"), "quote names"),
        ("- a list\n", "mapping"),
        ("", "mapping"),
        ("fields: [1]\nrows: {}\n", "fields"),
        (MINIMAL.replace("  code: {label: 番号, kind: code}", "  code: 番号"), "code"),
        (MINIMAL.replace("kind: code}", "kind: code, drop: '('}"), "drop"),
        ("name: [unclosed\n", "not valid YAML"),
    ],
)
def test_wrong_files_say_what_is_wrong(written, wrong: str, named: str) -> None:
    assert load_schema(written(MINIMAL)).name == "tiny"
    assert named in error(written(wrong)).message


def test_a_file_that_is_no_utf_8(written) -> None:
    assert "UTF-8" in error(written(MINIMAL, encoding="cp932")).remedy


def test_a_folder_is_no_schema(tmp_path) -> None:
    assert str(tmp_path) in error(str(tmp_path)).message


def test_a_field_needs_no_aliases_or_rows_a_check(written) -> None:
    schema = load_schema(written(MINIMAL))
    orders, _ = extract([parse("小\n\n番号: A-1\n\n|品|価|\n|---|---|\n|筆|100|\n")], schema)
    order = check(orders[0], schema)
    assert order.fields["code"].value == "A-1"
    assert order.fields["day"].state is FieldState.ABSENT
    assert [str(r["price"].value) for r in order.rows] == ["100"]
