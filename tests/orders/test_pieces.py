from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.geometry import quad_of_box
from ocr_pipeline.orders.pieces import side_by_side
from ocr_pipeline.orders.schema import load_schema
from ocr_pipeline.tables.transcript import Cell

SCHEMA = load_schema("purchase_order")


def pieces(*lines: str) -> list[list[str]]:
    """The pieces of some lines without places."""
    parted, tables = side_by_side([Cell(line) for line in lines], SCHEMA)
    assert not tables
    return [[p.text for p in line] for line in parted]


@pytest.mark.parametrize(
    "line",
    [
        "有限会社ミドリ　御中|納期：R8.3.24",
        "注文書|注文書No.：973464",
        "H416140|〒144-8133",
        "発注番号 H416140|〒144-8133",
        "発注番号　HC2509886|有限会社ニピャョニャ産業",
        "発注番号　HC2509886|至急",
        "納期：2027年11月2日(火)|ニ二ー二ロポ製作所有限会社",
        "納期：2027年11月2日|時間厳守",
        "ジユ二パワテ商事有限会社　御中|株式会社永興テクノ",
        "ヒボギイ㈱　様|大阪支店",
        "担当：小林|株式会社カナガワ",
        "発注書|株式会社カナガワ",
        "株式会社カナガワ|発注書",
        "御注文書（続き）|注文書No.：HC２６０１８０５|2/2頁",
        "注文書No.：77|(2/2)",
        "合計金額　572,841円－ (税込)|納入場所　本社 1階資材受入口|ＦＡＸ 072-024-8728",
        "承認　検印|担当",
        "合計　1,000　円|消費税　100円",
    ],
)
def test_pieces_side_by_side(line: str) -> None:
    assert pieces(line.replace("|", "　")) == [line.split("|")]
    assert pieces(line.replace("|", "  ")) == [line.split("|")]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "　",
        "資材部　伊藤",
        "担当：資材部　伊藤",
        "有限会社　山田",
        "株式会社　山田製作所　御中",
        "山田製作所　株式会社　御中",
        "日本　山田株式会社　御中",
        "発注先：日本　山田株式会社",
        "発　注　書",
        "支払条件：月末締め　翌月末払い",
        "納入場所：本社工場　2階",
        "納入場所：本社工場　大阪府堺市堺区海山町8-24-22",
        "合計　1,000　円",
        "納期：令和8年　3月4日",
        "発注番号 H416140 〒144-8133",  # one space is no gap
    ],
)
def test_what_a_wide_gap_does_not_part(line: str) -> None:
    assert pieces(line) == [[line]]


@pytest.mark.parametrize("value", ["納期 2026/3/1　2026/3/5", "合計 1　200"])
def test_two_values_in_one_place_are_left_to_a_person(value: str) -> None:
    assert pieces(value) == [[value]]


def test_an_address_goes_with_the_company_above_it() -> None:
    place, address = "納入場所：弊社工場", "大阪府堺市堺区海山町8-24-22"
    line = f"{place}　{address}"
    assert pieces("ミドリ㈱　御中　株式会社モガヘ", line)[1] == [place, address]
    assert pieces("発注日：R8.3.4　〒590-0001", line)[1] == [place, address]
    assert pieces("株式会社モガヘ", line)[1] == [line]
    assert pieces("発注日：R8.3.4　ミドリ㈱　御中", line)[1] == [line]


def test_labels_side_by_side_above_their_values_are_a_table() -> None:
    lines = [Cell("発注番号　発注日　納期"), Cell("77　2026/3/1　2026/3/9"), Cell("以上")]
    parted, (table,) = side_by_side(lines, SCHEMA)
    assert [c.text for c in table.header] == ["発注番号", "発注日", "納期"]
    assert [c.text for c in table.rows[0]] == ["77", "2026/3/1", "2026/3/9"]
    assert [[p.text for p in line] for line in parted] == [["以上"]]


@pytest.mark.parametrize("below", ["発注書", "発注日　担当：山田", "77　2026/3/1　2026/3/9", ""])
def test_labels_side_by_side_without_as_many_values_are_none(below: str) -> None:
    assert pieces("発注番号　発注日", below)[0] == ["発注番号", "発注日"]


def test_a_line_with_a_place_is_left_whole() -> None:
    line = Cell("発注番号 H416140　〒144-8133", quad=quad_of_box((0, 0, 400, 30)))
    assert side_by_side([line, line], SCHEMA) == ([(line,), (line,)], ())


WORDS = (
    *("発注番号", "納期：", "R8.3.4", "株式会社カナガワ", "御中", "〒100-0001", "1/2頁"),
    *("1,000", "小計", "消費税(10%)", "10%対象 500", "大阪府堺市堺区1-2-3", "山田", ""),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=4))
def test_nothing_is_lost(lines: list[list[str]]) -> None:
    cells = [Cell("　".join(line)) for line in lines]
    parted, tables = side_by_side(cells, SCHEMA)
    kept = [p.text for line in parted for p in line]
    kept += [c.text for t in tables for row in (t.header, *t.rows) for c in row]
    assert sorted("".join("".join(kept).split())) == sorted(
        "".join("".join(c.text for c in cells).split())
    )
