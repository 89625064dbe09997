from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.text import (
    folded,
    is_hiragana,
    is_kanji,
    is_katakana,
    label,
    normal,
    plain,
    raw,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("カ゛イト゛", "ガイド"),
        ("ハ゜イプ", "パイプ"),
        ("１２，３４５", "12,345"),
        ("㈱山田", "(株)山田"),
        ("㋿８年", "令和8年"),
        ("￥100", "¥100"),
        ("10㎜", "10mm"),
        ("10ℓ", "10L"),
        ("№ 5", "No. 5"),
        ("FU−35FA", "FU-35FA"),
        ("2602―305", "2602-305"),
        ("M20 ー 30", "M20-30"),
        ("  a \n b　c ", "a b c"),
        ("メーカー", "メーカー"),
        ("丸和ー製作所", "丸和ー製作所"),
        ("10〜20", "10〜20"),
        ("▲△", "▲△"),
        ("", ""),
    ],
)
def test_normal(text: str, expected: str) -> None:
    assert normal(text) == expected


def test_raw_composes_and_trims_and_does_nothing_else() -> None:
    assert raw(" カ\u3099 １ ") == "ガ １"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("K型 φ3.2 L150", "K型φ3.2L150".replace("L150", " L150")),
        ("株式会社 大塚", "株式会社大塚"),
        ("SUS303 Φ12x1000", "SUS303 φ12×1000"),
        ("型番·仕様", "型番・仕様"),
    ],
)
def test_plain_merges_notations(one: str, other: str) -> None:
    assert plain(one) == plain(other)


@pytest.mark.parametrize(
    ("one", "other"), [("HS60 3t", "HS603t"), ("m1.5", "M1.5"), ("4X25", "4×25"), ("カ", "力")]
)
def test_plain_keeps_differences(one: str, other: str) -> None:
    assert plain(one) != plain(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("センサー", "センサ一"),
        ("カバー", "力バ―"),
        ("ヘッド", "へッド"),
        ("アルミ", "アル三"),
        ("ロッド", "口ッド"),
        ("ニップル", "二ップル"),
        ("エア", "工ア"),
        ("タンク", "夕ンク"),
        ("トルク", "卜ルク"),
        ("ハンドル", "八ンドル"),
        ("PO-1", "P0-1"),
        ("I1l", "111"),
        ("4×25", "4X25"),
        ("Φ3", "φ3"),
        ("HS60 3t", "HS603t"),
        ("山善堂產業", "山善堂産業"),
        ("单价", "単価"),
        ("黑", "黒"),
    ],
)
def test_folded_merges_lookalikes(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("パ", "ハ"),
        ("パ", "バ"),
        ("ガ", "カ"),
        ("ッ", "ツ"),
        ("ソ", "ン"),
        ("1", "7"),
        ("齋", "斉"),
    ],
)
def test_folded_keeps_real_differences(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("注 文 番 号：", "注文番号"),
        ("【注文番号】", "注文番号"),
        ("単価（円）", "単価"),
        ("单价(1J)", "単価"),
        ("单位", "単位"),
        ("注文Ｎｏ．", "注文No"),
        ("消费税(10%)", "消費税"),
        ("型番·仕様", "型番・仕様"),
        ("ＴＥＬ:", "Tel"),
        ("メーカ一", "メーカー"),
        ("*納期", "納期"),
    ],
)
def test_label_finds_its_alias(text: str, alias: str) -> None:
    assert label(text) == label(alias)


def test_label_reads_as_expected() -> None:
    assert label("注 文 番 号：") == "注文番号"
    assert label("(円)") == "円"
    assert label("：") == ""
    assert label("小計") != label("合計")


def test_scripts() -> None:
    assert all(map(is_katakana, "アヴー"))
    assert not any(map(is_katakana, "あ・漢aｱ"))
    assert all(map(is_hiragana, "あん"))
    assert not any(map(is_hiragana, "アー"))
    assert all(map(is_kanji, "漢々〇髙﨑𠮷"))
    assert not any(map(is_kanji, "アあa1ー"))
    assert not any(test("") for test in (is_katakana, is_hiragana, is_kanji))


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=30))
def test_levels_are_stable_and_ordered(text: str) -> None:
    for level in (raw, normal, plain, folded):
        once = level(text)
        assert level(once) == once
    assert folded(plain(text)) == folded(text)
    assert plain(normal(text)) == plain(text)
