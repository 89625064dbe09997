from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.agree import agree
from ocr_pipeline.orders.check import check
from ocr_pipeline.orders.extract import extract
from ocr_pipeline.orders.model import FieldState, Order
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.tables.markdown import parse
from ocr_pipeline.tables.transcript import Cell, Table, Transcript

TABLE = """
| 品名 | 数量 | 単位 | 単価 | 金額 |
|---|---|---|---|---|
| ボルト | 10 | 本 | 12.50 | 125 |
| ナット | 3 | 個 | 40 | 120 |
| 値引 | 1 | 式 | ▲45 | ▲45 |
| 以下余白 | | | | |
| | | | 小計 | 200 |
| | | | 消費税 | 20 |
| | | | 合計 | 220 |
"""


def values(order: Order) -> dict[str, str]:
    return {n: str(v.value) for n, v in order.fields.items() if v.state is FieldState.READ}


def states(order: Order, *names: str) -> list[FieldState]:
    return [order.fields[n].state for n in names]


def column(order: Order, name: str) -> list[str]:
    return [str(r[name].value) for r in order.rows]


def meaning(order: Order) -> object:
    """Everything an order says, without where it stands."""

    def bare(value):
        return (value.state, value.raw, value.value, value.flags)

    return (
        {n: bare(v) for n, v in order.fields.items()},
        [{n: bare(v) for n, v in r.items()} for r in order.rows],
        {n: [bare(v) for v in vs] for n, vs in order.echoes.items()},
    )


# --- what a vision-language model writes ---


def test_a_whole_order(forms, schema) -> None:
    order = forms.one(forms.order_text)
    assert values(order) == {
        "order_no": "2602-305",
        "order_date": "2026-02-09",
        "due_date": "2026-03-03",
        "buyer": "大塚製作所株式会社",
        "supplier": "株式会社クケタ",
        "tel": "03-1234-5678",
        "fax": "03-1234-5679",
        "subtotal": "2000",
        "tax": "200",
        "total": "2200",
        "remarks": "分納不可",
    }
    assert list(order.fields) == [s.name for s in schema.fields]
    assert states(order, "person", "delivery_place") == [FieldState.ABSENT] * 2
    assert column(order, "item") == ["樹脂カバー", "電磁弁"]
    assert column(order, "quantity") == ["10", "2"]
    assert order.pages == (1,)
    # The amount above the table is the total once more.
    assert [str(e.value) for e in order.echoes["total"]] == ["2200"]
    checked = check(order, schema)
    assert not any(v.flags for v in (*checked.fields.values(), *checked.rows[0].values()))


def test_negative_amounts_and_prices_below_a_yen(forms, schema) -> None:
    order = check(forms.one("発注書\n" + TABLE), schema)
    assert column(order, "unit_price") == ["12.50", "40", "-45"]
    assert column(order, "amount") == ["125", "120", "-45"]
    assert order.fields["subtotal"].value == Decimal(200)
    assert not any(v.flags for r in order.rows for v in r.values())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("納入場所:第二工場2F", {"delivery_place": "第二工場2F"}),
        ("支払条件 月末締め翌月末払い", {"payment_terms": "月末締め翌月末払い"}),
        (
            "発注番号 2602-305 発注日 令和8年4月1日 担当 山田",
            {"order_no": "2602-305", "order_date": "2026-04-01", "person": "山田"},
        ),
        ("合計金額 ¥220", {}),
        ("希望納期:R8.5.1(金)", {"due_date": "2026-05-01"}),
        ("（注文番号：4500012）", {"order_no": "4500012"}),
    ],
)
def test_labels_in_a_line(forms, line: str, expected: dict[str, str]) -> None:
    order = forms.one(f"発注書\n\n{line}\n{TABLE}")
    sums = {"subtotal": "200", "tax": "20", "total": "220"}
    assert values(order) == sums | expected


@pytest.mark.parametrize(
    "name",
    ["大塚商事\n\n御中", "大塚商事 様", "大塚商事御中", "大塚商事 御 中", "発注先: 大塚商事"],
)
def test_who_is_addressed(forms, name: str) -> None:
    order = forms.one(f"発注書\n\n{name}\n{TABLE}")
    assert order.fields["supplier"].value == "大塚商事"
    assert order.fields["buyer"].state is FieldState.ABSENT


def test_a_company_form_is_spelled_out(forms) -> None:
    order = forms.one(f"発注書\n\n㈱大塚商事 御中\n{TABLE}")
    assert order.fields["supplier"].value == "株式会社大塚商事"
    assert order.fields["supplier"].raw == "㈱大塚商事"


def test_labels_in_a_table_of_their_own(forms) -> None:
    heads = "| 発注番号: 2602-305 | 発注日: 2026/4/1 |\n|---|---|\n| 納期: R8.5.1 | 担当: 山田 |\n"
    order = forms.one(f"発注書\n\n{heads}\n{TABLE}")
    assert (
        values(order).items()
        >= {
            "order_no": "2602-305",
            "order_date": "2026-04-01",
            "due_date": "2026-05-01",
            "person": "山田",
        }.items()
    )


def test_labels_in_the_row_above_their_values(forms) -> None:
    heads = "| 発注番号 | 発注日 | 納期 |\n|---|---|---|\n| A-100 | 2026/4/1 | 2026/5/1 |\n"
    order = forms.one(f"発注書\n\n{heads}\n{TABLE}")
    assert [str(order.fields[n].value) for n in ("order_no", "order_date", "due_date")] == [
        "A-100",
        "2026-04-01",
        "2026-05-01",
    ]


def test_remarks_run_over_several_lines(forms) -> None:
    order = forms.one(f"発注書\n\n納期: 2026/5/1\n\n備考: 分納不可。\n\n納品書を2部同封。\n{TABLE}")
    assert "納品書を2部同封" in str(order.fields["remarks"].value)


@pytest.mark.parametrize(
    "text",
    [
        "発注番号\n\n2602-305\n\n納期\n\n2026/5/1\n",
        "| 発注番号 | 2602-305 |\n|---|---|\n| 納期 | 2026/5/1 |\n",
    ],
    ids=["lines", "cells"],
)
def test_a_label_and_its_value_in_pieces_of_their_own(forms, text: str) -> None:
    order = forms.one(f"発注書\n\n{text}\n{TABLE}")
    assert values(order)["order_no"] == "2602-305"
    assert values(order)["due_date"] == "2026-05-01"
    assert not order.fields["due_date"].flags


def test_a_label_with_nothing_behind_it_is_blank_and_not_absent(forms) -> None:
    order = forms.one(f"発注書\n\n発注番号:\n\n発注日: 2026/4/1\n{TABLE}")
    assert states(order, "order_no", "due_date") == [FieldState.BLANK, FieldState.ABSENT]


def test_what_stands_in_the_place_but_is_no_value_is_unreadable(forms) -> None:
    order = forms.one(f"発注書\n\n納期: 2026/13/45\n\nTEL: 12345\n{TABLE}")
    for name in ("due_date", "tel"):
        assert order.fields[name].state is FieldState.UNREADABLE
        assert order.fields[name].value is None
        assert order.fields[name].flags
        assert order.fields[name].raw


def test_a_misread_label_is_guessed_and_flagged(forms) -> None:
    order = forms.one(f"発注書\n\n発1日: 2026/4/1\n\n納期: 2026/5/1\n{TABLE}")
    assert str(order.fields["order_date"].value) == "2026-04-01"
    assert [f.code for f in order.fields["order_date"].flags] == ["label_unread"]
    assert order.fields["due_date"].flags == ()


def test_loose_dates_fill_what_is_missing_in_order_and_are_flagged(forms) -> None:
    order = forms.one(f"発注書\n\n2026/4/1\n\n大塚商事 御中\n\n2026/5/1\n{TABLE}")
    assert values(order)["order_date"] == "2026-04-01"
    assert values(order)["due_date"] == "2026-05-01"
    assert all(order.fields[n].flags for n in ("order_date", "due_date"))


def test_several_loose_dates_for_one_place_are_left_alone(forms) -> None:
    order = forms.one(f"発注書\n\n発注日: 2026/4/1\n\n2026/5/1\n\n2026/6/1\n{TABLE}")
    assert order.fields["due_date"].state is FieldState.ABSENT


def test_a_guessed_date_is_no_echo_of_itself(forms) -> None:
    order = forms.one(f"発注書\n\n発1日: 2026/4/1\n{TABLE}")
    assert "order_date" not in order.echoes


def test_loose_telephones_fill_what_is_missing_in_order_and_are_flagged(forms) -> None:
    order = forms.one(f"発注書\n\n03-1234-5678\n\n03-1234-5679\n{TABLE}")
    assert values(order)["tel"] == "03-1234-5678"
    assert values(order)["fax"] == "03-1234-5679"
    assert [f.code for f in order.fields["tel"].flags] == ["label_unread"]
    assert states(forms.one(f"発注書\n\n伝票 12345678\n{TABLE}"), "tel") == [FieldState.ABSENT]


def test_a_rate_behind_a_label_is_no_amount(forms) -> None:
    order = forms.one(f"発注書\n\n消費税(10%)\n\n¥20\n{TABLE}")
    assert order.fields["tax"].value == Decimal(20)
    assert [e.value for e in order.echoes["tax"]] == [Decimal(20)]


def test_a_name_that_other_print_touches_is_flagged(forms, schema) -> None:
    page = placed(forms)
    beside = forms.cell("様式3", 1380, 300)
    (order,), _ = extract([replace(page, lines=(*page.lines, beside))], schema)
    assert order.fields["buyer"].value == "大塚製作所株式会社"
    assert "crowded" in {f.code for f in order.fields["buyer"].flags}


def test_a_well_read_label_goes_before_a_guess(forms) -> None:
    order = forms.one(f"発注書\n\n納期: 見本\n\n納期: 2026/5/1\n{TABLE}")
    assert values(order)["due_date"] == "2026-05-01"


def test_a_readable_value_goes_before_an_unreadable_one(forms) -> None:
    text = TABLE.replace("合計 | 220", "合計 | 2 2 0")
    order = forms.one(f"発注書\n\n合計金額 ¥220\n{text}")
    assert order.fields["total"].value == Decimal(220)


def test_the_total_printed_twice_with_different_values(forms, schema) -> None:
    order = forms.one(f"発注書\n\nご発注金額 ¥999\n{TABLE}")
    assert order.fields["total"].value == Decimal(220)
    assert [e.value for e in order.echoes["total"]] == [Decimal(999)]


# --- two rates of tax ---

RATES = TABLE.replace(
    "| | | | 消費税 | 20 |", "| | | | 消費税(8%) | 8 |\n| | | | 消費税(10%) | 10 |"
).replace("220", "218")


def test_the_tax_of_a_sheet_that_prints_it_per_rate_is_their_sum(forms) -> None:
    tax = forms.one("発注書\n" + RATES).fields["tax"]
    assert (tax.value, tax.raw) == (Decimal(18), "8 + 10")
    assert [r.code for r in tax.repairs] == ["sum_of_rates"]


def test_the_sum_of_rates_is_as_sure_as_the_least_sure_of_them(forms, schema) -> None:
    page = parse("発注書\n" + RATES)
    unsure = Table(
        page.tables[0].header,
        tuple(
            tuple(replace(c, confidence=0.5 if c.text == "8" else 0.9) for c in row)
            for row in page.tables[0].rows
        ),
    )
    (order,), _ = extract([replace(page, tables=(unsure,))], schema)
    assert order.fields["tax"].confidence == 0.5


def test_two_tax_rates(forms) -> None:
    order = forms.one("発注書\n" + RATES)
    assert [(str(t.rate.value), str(t.amount.value)) for t in order.taxes] == [
        ("8", "8"),
        ("10", "10"),
    ]
    assert order.fields["total"].value == Decimal(218)


def test_two_tax_rates_and_their_sum(forms, schema) -> None:
    text = RATES.replace("| | | | 合計", "| | | | 消費税計 | 18 |\n| | | | 合計")
    order = check(forms.one("発注書\n" + text), schema)
    assert [str(t.amount.value) for t in order.taxes] == ["8", "10"]
    assert [str(order.fields[n].value) for n in ("subtotal", "tax", "total")] == [
        "200",
        "18",
        "218",
    ]
    assert not any(order.fields[n].flags for n in ("subtotal", "tax", "total"))


def test_a_correct_sheet_with_two_tax_rates_is_not_flagged(forms, schema) -> None:
    order = check(forms.one("発注書\n" + RATES), schema)
    assert not any(order.fields[n].flags for n in ("subtotal", "tax", "total"))


# --- several pages ---

FIRST = """\
# 発注書

大塚商事 御中

発注番号: 2602-305

ご発注金額: ¥3,300

| 品名 | 数量 | 単価 | 金額 |
|---|---|---|---|
| 樹脂カバー | 10 | 100 | 1,000 |
| 電磁弁 | 2 | 500 | 1,000 |
| | | 頁計 | 2,000 |
| 次頁へ続く | | | |
"""
SECOND = """\
| 品名 | 数量 | 単価 | 金額 |
|---|---|---|---|
| 切削油 | 1 | 1,000 | 1,000 |
| | | 小計 | 3,000 |
| | | 消費税 | 300 |
| | | 合計 | 3,300 |
"""


def test_a_continuation_page(forms, schema) -> None:
    order = check(forms.one(FIRST, SECOND), schema)
    assert order.pages == (1, 2)
    assert column(order, "item") == ["樹脂カバー", "電磁弁", "切削油"]
    assert [r["item"].page for r in order.rows] == [1, 1, 2]
    assert [str(order.fields[n].value) for n in ("subtotal", "tax", "total")] == [
        "3000",
        "300",
        "3300",
    ]
    assert not any(v.flags for r in order.rows for v in r.values())
    assert not any(order.fields[n].flags for n in ("subtotal", "tax", "total"))


@pytest.mark.parametrize("head", ["# 発注書\n\n発注番号: 2602-305\n\n", "# 発注書 (続き)\n\n", ""])
def test_the_same_number_or_none_continues(forms, head: str) -> None:
    assert forms.one(FIRST, head + SECOND).pages == (1, 2)


def test_the_sum_that_counts_is_the_last_one_printed(forms) -> None:
    order = forms.one(FIRST.replace("頁計", "小計"), SECOND)
    assert order.fields["subtotal"].value == Decimal(3000)


def test_a_titled_page_with_a_number_begins_another_order(forms) -> None:
    orders, _ = forms.read(FIRST.replace("発注番号: 2602-305\n\n", ""), forms.order_text)
    assert [(o.fields["order_no"].value, o.pages) for o in orders] == [
        (None, (1,)),
        ("2602-305", (2,)),
    ]


def test_two_orders_in_one_file(forms) -> None:
    other = forms.order_text.replace("2602-305", "2602-306")
    orders, _ = forms.read(forms.order_text, other)
    assert [(o.fields["order_no"].value, o.pages) for o in orders] == [
        ("2602-305", (1,)),
        ("2602-306", (2,)),
    ]
    assert [len(o.rows) for o in orders] == [2, 2]


def test_an_order_of_two_pages_and_another(forms) -> None:
    orders, _ = forms.read(FIRST, SECOND, forms.order_text.replace("2602-305", "A-9"))
    assert [(o.fields["order_no"].value, o.pages) for o in orders] == [
        ("2602-305", (1, 2)),
        ("A-9", (3,)),
    ]


def test_a_cover_letter_is_no_order(forms) -> None:
    cover = "# FAX送付状\n\n大塚商事 御中\n\n送信枚数: 2枚\n\nいつもお世話になっております。\n"
    orders, _ = forms.read(cover, forms.order_text)
    assert [o.pages for o in orders] == [(2,)]


def test_a_blank_page_in_between_belongs_to_the_order(forms) -> None:
    assert column(forms.one(FIRST, "", SECOND), "item")[-1] == "切削油"


# --- what is no order ---


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# 議事録\n\n日時 2026年1月1日\n\n| 議題 | 担当 |\n|---|---|\n| 予算 | 佐藤 |\n",
        "# 請求書\n\n請求番号: 33\n",
        "発注書",
        "いつもお世話になっております。発注書を別途お送りします。",
    ],
)
def test_other_documents(forms, text: str) -> None:
    assert forms.read(text) == ((), ())


@pytest.mark.parametrize("title", ["請求書", "納品書", "御見積書"])
def test_another_form_with_an_item_table(forms, title: str) -> None:
    assert forms.read(f"# {title}\n\n番号: 33\n{TABLE}")[0] == ()


def test_an_order_that_names_another_form_is_an_order(forms) -> None:
    assert forms.one(f"# 発注書\n\n番号: 33\n\n納品書\n{TABLE}").rows


def test_a_title_and_some_fields_are_an_order_without_rows(forms, schema) -> None:
    order = forms.one("# 注文書\n\n注文番号: 33\n\n納期: 2026/4/1\n\n別紙の通り\n")
    assert order.rows == ()
    assert [f.code for f in check(order, schema).flags] == ["no_rows"]


def test_no_pages(schema) -> None:
    assert extract([], schema) == ((), ())


# --- what a box engine reads ---


def placed(forms) -> Transcript:
    """A form with labels beside, above and inside their values."""
    c = forms.cell
    lines = (
        c("2026/02/09 10:15", 100, 20),
        c("FROM: 大塚製作所", 600, 20),
        c("P.1/1", 1500, 20),
        c("注 文 書", 750, 100, height=60),
        c("株式会社クケタ", 100, 220),
        c("御中", 500, 220),
        c("注文番号", 1100, 220),
        c("2602-305", 1300, 220),
        c("注文日", 100, 300),
        c("納期", 400, 300),
        c("令和8年2月9日", 100, 336),
        c("2026/3/3", 400, 336),
        c("大塚製作所株式会社", 1100, 300),
        c("東京都大田区蒲田5-11-13", 1100, 340),
        c("TEL:03-1234-5678 FAX:03-1234-5679", 1100, 380),
        c("担当者", 1100, 420),
        c("山田太郎", 1250, 420),
        c("ご注文金額", 100, 500),
        c("¥2,200", 300, 500),
        c("倉庫 TEL:06-9999-8888", 100, 2200),
    )
    table = forms.table(
        [
            ["No", "品名", "数量", "単位", "単価", "金額"],
            ["1", "樹脂カバー PC-0981-B", "10", "個", "100", "1,000"],
            ["2", "電磁弁 VF3130-5G1", "2", "台", "500", "1,000"],
            ["", "", "", "", "小計", "2,000"],
            ["", "", "", "", "消費税", "200"],
            ["", "", "", "", "合計", "2,200"],
        ]
    )
    return Transcript(lines, (table,))


def test_labels_beside_above_and_inside(forms, schema) -> None:
    (order,), (transmission,) = extract([placed(forms)], schema)
    assert values(order) == {
        "order_no": "2602-305",
        "order_date": "2026-02-09",
        "due_date": "2026-03-03",
        "buyer": "大塚製作所株式会社",
        "supplier": "株式会社クケタ",
        "tel": "03-1234-5678",
        "fax": "03-1234-5679",
        "person": "山田太郎",
        "subtotal": "2000",
        "tax": "200",
        "total": "2200",
    }
    assert column(order, "spec") == ["PC-0981-B", "VF3130-5G1"]
    assert not any(v.flags for v in order.fields.values())
    assert transmission.time.startswith("2026/02/09")


def test_fields_carry_the_place_of_their_value(forms, schema) -> None:
    page = placed(forms)
    (order,), _ = extract([page], schema)
    cells = {c.text: c.quad for c in page.lines}
    assert order.fields["order_no"].quad == cells["2602-305"]
    assert order.fields["due_date"].quad == cells["2026/3/3"]
    assert order.rows[1]["amount"].quad == page.tables[0].rows[1][5].quad
    assert order.fields["order_no"].confidence == 0.99


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_page_that_lies_in_another_direction_gives_the_same_order(
    forms, schema, degrees: int
) -> None:
    upright, _ = extract([placed(forms)], schema)
    turned, _ = extract([forms.turn(placed(forms), degrees)], schema)
    assert [meaning(o) for o in turned] == [meaning(o) for o in upright]
    assert turned[0].fields["order_no"].quad != upright[0].fields["order_no"].quad


def test_of_several_telephones_the_sender_s_own(forms, schema) -> None:
    (order,), _ = extract([placed(forms)], schema)
    assert order.fields["tel"].value == "03-1234-5678"
    assert "tel" not in order.echoes


def test_two_pages_with_places(forms, schema) -> None:
    first = placed(forms)
    second = replace(
        first,
        lines=(),
        tables=(forms.table([["品名", "数量", "単価", "金額"], ["切削油", "1", "5", "5"]]),),
        page=2,
    )
    (order,), _ = extract([first, second], schema)
    assert column(order, "item") == ["樹脂カバー", "電磁弁", "切削油"]
    assert order.pages == (1, 2)


PIECES = [
    *("発注書", "発注番号:", "A-1", "御中", "様", "納期", "2026/3/3", "TEL", "03-1234-5678"),
    *("FAX:", "株式会社", "大塚", "小計", "消費税(8%)", "合計", "1,000", "▲5", "〃", "以下余白"),
    *("2026/2/9 10:15", "P.1/2", "品名", "数量", "単価", "金額", "単位", "10個", "0", "%", "¥"),
    *("請求書", "(", ":", " "),
]
CELLS = st.lists(st.sampled_from(["", *PIECES]), min_size=1, max_size=3).map(" ".join)
PAGES = st.builds(
    lambda lines, width, cells: (
        "\n\n".join(lines)
        + "\n\n"
        + "\n".join(
            "|" + "|".join(cells[i : i + width]) + "|" + ("\n" + "|---" * width + "|") * (i == 0)
            for i in range(0, len(cells), width)
        )
    ),
    st.lists(CELLS, max_size=6),
    st.integers(1, 6),
    st.lists(CELLS, max_size=24),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(PAGES, min_size=1, max_size=3))
def test_whatever_is_written_becomes_whole_orders_or_none(pages: list[str]) -> None:
    schema = load_schema("purchase_order")
    orders, _ = extract([parse(t, page=i) for i, t in enumerate(pages, 1)], schema)
    for order in (check(o, schema) for o in agree([orders, orders])):
        assert list(order.fields) == [s.name for s in schema.fields]
        assert all(list(r) == [s.name for s in schema.rows] for r in order.rows)
        assert order.pages
        for value in (*order.fields.values(), *(v for r in order.rows for v in r.values())):
            assert (value.value is not None) == (value.state is FieldState.READ)
            assert 0 <= value.confidence <= 1
            if value.state is FieldState.UNREADABLE:
                assert value.flags
            if value.state is FieldState.ABSENT:
                assert value.raw == ""


def test_cells_without_text_say_nothing(schema) -> None:
    assert extract([Transcript((Cell(""), Cell("  ")))], schema) == ((), ())


# --- several orders in one ---


def test_two_order_numbers_on_one_page_are_told_of(forms) -> None:
    order = forms.one(f"発注書\n\n発注番号: A-1\n\n発注番号: B-2\n{TABLE}")
    assert [f.code for f in order.flags] == ["several_orders"]
    assert forms.one(f"発注書\n\n発注番号: A-1\n\n発注番号: A-1\n{TABLE}").flags == ()


@pytest.mark.parametrize(("other", "told"), [("田中工業", True), ("大塚商事", False)])
def test_a_page_to_somebody_else_is_told_of(forms, other: str, told: bool) -> None:
    first = f"発注書\n\n大塚商事 御中\n\n発注番号: A-1\n{TABLE}"
    order = forms.one(first, f"発注書\n\n{other} 御中\n{TABLE}")
    assert order.pages == (1, 2)
    assert bool(order.flags) == told


def test_a_sum_far_from_its_label(forms) -> None:
    """Half a page may lie between a label and its sum, when nothing else stands there."""
    lines = (
        forms.cell("発注書", 700, 100),
        forms.cell("合計", 300, 1500),
        forms.cell("¥99,999", 1400, 1500),
        forms.cell("担当", 300, 1600),
        forms.cell("山田", 1400, 1600),
    )
    table = forms.table([("品名", "数量", "単価", "金額"), ("ボルト", "1", "100", "100")])
    ((order,), _) = extract([Transcript(lines, (table,))], forms.schema)
    assert order.fields["total"].value == Decimal(99999)
    assert order.fields["person"].state is not FieldState.READ


# --- what stands side by side on the sheet, in one line of a reply ---

COLUMNS = """\
承認　検印　担当

発注書兼注文請書

ペーカユマテック有限会社　御中　株式会社トポゲホワ製作所

オーダーNo.　S-270612-51　〒422-1342

納入場所　貴社御指定場所　静岡県静岡市駿河区国吉田1-28-1

発注日　R9.6.12　至急　電話 054-076-3050

納期限　2027年6月28日(月)　FAX番号 054-076-8340

担当者:調達グループ　山田 直子

| 品名 | 数量 | 単位 | 単価 | 金額 |
|---|---|---|---|---|
| ボルト | 10 | 本 | 100 | 1,000 |
| ナット | 2 | 個 | 500 | 1,000 |

"""
STACKED = "小計　2,000\n\n税額(10%)　200\n\n総合計　2,200"
STRIP = "小計　税額(10%)　総合計\n\n2,000　200　2,200"


@pytest.mark.parametrize("closing", [STACKED, STRIP, STACKED.replace("　", "  ")])
def test_two_columns_in_lines(forms, schema, closing: str) -> None:
    order = check(forms.one(COLUMNS + closing), schema)
    assert values(order) == {
        "order_no": "S-270612-51",
        "order_date": "2027-06-12",
        "due_date": "2027-06-28",
        "buyer": "株式会社トポゲホワ製作所",
        "supplier": "ペーカユマテック有限会社",
        "tel": "054-076-3050",
        "fax": "054-076-8340",
        "person": "山田 直子",
        "delivery_place": "貴社御指定場所",
        "subtotal": "2000",
        "tax": "200",
        "total": "2200",
    }
    assert not any(v.flags for v in order.fields.values())


def test_the_taxes_of_two_rates_in_lines(forms, schema) -> None:
    closing = "小計　2,000\n\n10%対象 1,000　100\n\n8%対象 1,000　80\n\n消費税　180\n\n合計　2,180"
    order = check(forms.one(COLUMNS + closing), schema)
    assert [(str(t.rate.value), str(t.amount.value)) for t in order.taxes] == [
        ("10", "100"),
        ("8", "80"),
    ]
    assert values(order)["tax"] == "180"
    assert not any(v.flags for v in order.fields.values())


def test_an_order_that_goes_on_with_its_number_beside_the_page_count(forms, schema) -> None:
    rows = "| 品名 | 数量 | 単価 | 金額 |\n|---|---|---|---|\n"
    first = COLUMNS + "頁計　２，０００\n\n1/2頁"
    second = (
        "発注書（続き）　オーダーNo.　S-270612-51　2/2頁\n\n"
        f"{rows}| 〃 | 1 | 5 | 5 |\n"
        "| | | 小計 | 2,005 |\n| | | 消費税 | 200 |\n| | | 合計 | 2,205 |"
    )
    order = check(forms.one(first, second), schema)
    assert order.pages == (1, 2)
    assert column(order, "item") == ["ボルト", "ナット", "ナット"]
    assert [str(order.fields[n].value) for n in ("subtotal", "tax", "total")] == [
        "2005",
        "200",
        "2205",
    ]
    assert not any(v.flags for v in order.fields.values())


def test_approvals_in_a_table_have_no_values(forms) -> None:
    order = forms.one("| 承認 | 担当 |\n|---|---|\n\n発注書\n" + TABLE)
    assert order.fields["person"].state is FieldState.BLANK


def test_a_label_on_a_line_of_its_own_does_not_take_the_title(forms) -> None:
    order = forms.one("担当\n\n発注書\n" + TABLE)
    assert order.fields["person"].state is FieldState.BLANK


def test_what_the_prompt_asks_for(forms, schema) -> None:
    header = {
        "発注番号": "H416140",
        "発注日": "令和8年3月4日",
        "納期": "2026/3/9",
        "発注者": "株式会社永興テクノ",
        "発注先": "日本　山田商事(有)",
        "電話": "045-012-3456",
        "担当者": "資材部　伊藤",
        "小計": "2,000",
        "消費税(10%)": "200",
        "合計": "2,200円",
        "備考": "",
    }
    lines = "".join(f"| {name} | {value} |\n" for name, value in header.items())
    goods = COLUMNS[COLUMNS.index("| 品名") :]
    order = check(forms.one(f"| 項目 | 値 |\n|---|---|\n{lines}\n{goods}"), schema)
    assert values(order) == {
        "order_no": "H416140",
        "order_date": "2026-03-04",
        "due_date": "2026-03-09",
        "buyer": "株式会社永興テクノ",
        "supplier": "日本 山田商事有限会社",
        "tel": "045-012-3456",
        "person": "伊藤",
        "subtotal": "2000",
        "tax": "200",
        "total": "2200",
    }
    assert column(order, "item") == ["ボルト", "ナット"]
    assert not any(v.flags for v in order.fields.values())
