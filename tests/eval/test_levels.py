from __future__ import annotations

import math

import pytest

from eval.levels import character_error_rate, same, same_folded, same_raw
from ocr_pipeline.orders.kinds import Kind


@pytest.mark.parametrize(
    ("kind", "truth", "read", "equal"),
    [
        (Kind.MONEY, "12.5", "12.50", True),
        (Kind.MONEY, "1200", "￥1,200", True),
        (Kind.NUMBER, "10", "１０", True),
        (Kind.MONEY, "4311109", "4311109", True),
        (Kind.MONEY, "0", "", False),
        (Kind.MONEY, "", "0", False),
        (Kind.MONEY, "", "", True),
        (Kind.MONEY, "100", "700", False),
        (Kind.MONEY, "-1200", "▲1,200", True),
        (Kind.DATE, "2026-02-09", "2026-02-09", True),
        (Kind.DATE, "2026-02-09", "令和8年2月9日", True),
        (Kind.DATE, "2026-02-09", "2026-02-19", False),
        (Kind.PHONE, "03-1234-5678", "0312345678", True),
        (Kind.CODE, "LGR25-640", "ＬＧＲ２５‐640", True),
        (Kind.CODE, "LGR25-640", "1GR25-640", False),
        (Kind.NAME, "㈱大塚", "株式会社大塚", True),
        (Kind.NAME, "CG-M20 黒", "CG-M20黒", True),
        (Kind.NAME, "パッキン", "バッキン", False),
        (Kind.NAME, "カバー", "力バー", False),
    ],
)
def test_equal_at_the_typed_level(kind: Kind, truth: str, read: str, equal: bool) -> None:
    assert same(kind, truth, read) is equal
    assert same_folded(kind, truth, read) or not equal


@pytest.mark.parametrize(
    ("truth", "read", "equal"),
    [
        ("カバー", "力バー", True),
        ("カバー", "カバ一", True),
        ("ロール", "口ール", True),
        ("生産", "生產", True),
        ("パッキン", "バッキン", False),
        ("パッキン", "パツキン", False),
        ("ガード", "カード", False),
        ("大塚", "永田", False),
    ],
)
def test_equal_at_the_folded_level(truth: str, read: str, equal: bool) -> None:
    assert not same(Kind.NAME, truth, read)
    assert same_folded(Kind.NAME, truth, read) is equal


@pytest.mark.parametrize(
    ("prints", "raw", "equal"),
    [
        ((), "1200", True),
        ((), "1,200", False),
        (("￥1,200",), "￥1,200", True),
        (("￥1,200",), " ￥1,200\n", True),
        (("￥1,200",), "¥1,200", False),
        (("￥1,200",), "1200", True),
        (("￥1,200", "1,200"), "1,200", True),
        (("12", "00"), "12\n00", True),
        ((), "", False),
    ],
)
def test_equal_to_the_letter(prints: tuple[str, ...], raw: str, equal: bool) -> None:
    assert same_raw("1200", prints, raw) is equal


def test_composed_and_separate_marks_are_the_same_letter() -> None:
    assert same_raw("ガ", (), "カ\u3099")


@pytest.mark.parametrize(
    ("kind", "truth", "read", "rate"),
    [
        (Kind.NAME, "パッキン", "パッキン", 0.0),
        (Kind.NAME, "パッキン", "バッキン", 0.25),
        (Kind.NAME, "パッキン", "", 1.0),
        (Kind.NAME, "パッキン", "パッキンパッキンパッキン", 2.0),
        (Kind.NAME, "㈱大塚", "株式会社大塚", 0.0),
        (Kind.TEXT, "本社倉庫", "本社倉", 0.25),
        (Kind.NAME, "", "何か", math.nan),
        (Kind.MONEY, "100", "700", math.nan),
        (Kind.CODE, "A-1", "A-7", math.nan),
    ],
)
def test_character_error_rate(kind: Kind, truth: str, read: str, rate: float) -> None:
    assert character_error_rate(kind, truth, read) == pytest.approx(rate, nan_ok=True)
