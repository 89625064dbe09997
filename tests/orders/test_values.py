from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.model import FieldState
from ocr_pipeline.orders.values import parse, read, typed

COMPANY = "株式会社"


@pytest.mark.parametrize(
    ("kind", "text", "value", "rest"),
    [
        (Kind.NAME, "㈱大塚商事", COMPANY + "大塚商事", ""),
        (Kind.NAME, "（株） 大塚商事", COMPANY + "大塚商事", ""),
        (Kind.NAME, "大塚商事（有）", "大塚商事有限会社", ""),
        (Kind.NAME, "株式会社　大塚商事", COMPANY + "大塚商事", ""),
        (Kind.NAME, "髙﨑　邊", "髙﨑 邊", ""),
        (Kind.NAME, "ｶﾊﾞｰ", "カバー", ""),
        (Kind.TEXT, "SP4x25", "SP4x25", ""),
        (Kind.TEXT, "A\n B", "A B", ""),
        (Kind.UNIT, "㎏", "kg", ""),
        (Kind.UNIT, "（本）", "本", ""),
        (Kind.CODE, "po-2026―9069", "PO-2026-9069", ""),
        (Kind.CODE, "No.2602-404", "2602-404", ""),
        (Kind.CODE, "№ 12", "12", ""),
        (Kind.CODE, "2602 - 305", "2602-305", ""),
        (Kind.CODE, "第１２３号", "第123号", ""),
        (Kind.CODE, "NOVA-1", "NOVA-1", ""),
        (Kind.PHONE, "067-9421-8009", "067-9421-8009", ""),
        (Kind.PHONE, "(03)1234-5678", "03-1234-5678", ""),
        (Kind.PHONE, "03（1234）5678", "03-1234-5678", ""),
        (Kind.PHONE, "TEL：03ー1234ー5678", "03-1234-5678", ""),
        (Kind.PHONE, "電話番号022-8120-4827", "022-8120-4827", ""),
        (Kind.PHONE, "TEL/FAX 03 1234 5678", "03-1234-5678", ""),
        (Kind.PHONE, "+81-3-1234-5678", "+81-3-1234-5678", ""),
        (Kind.PHONE, "03-1234-5678(代)", "03-1234-5678", "代"),
        (Kind.PHONE, "03-1234-5678 内線12", "03-1234-5678", "内線12"),
        (Kind.PHONE, "0312345678", "0312345678", ""),
        (Kind.PERCENT, "１０％", Decimal(10), ""),
        (Kind.PERCENT, "(8%)", Decimal(8), ""),
        (Kind.PERCENT, "軽減8%", Decimal(8), ""),
        (Kind.PERCENT, "8%※", Decimal(8), "※"),
        (Kind.PERCENT, "10", Decimal(10), ""),
        (Kind.PERCENT, "0%", Decimal(0), ""),
    ],
)
def test_clean_text_is_read_without_repair(kind: Kind, text: str, value: object, rest: str) -> None:
    parsed = parse(kind, text)
    assert parsed.state is FieldState.READ
    assert (parsed.value, parsed.rest, parsed.repairs) == (value, rest, ())


@pytest.mark.parametrize(
    ("kind", "text", "value", "codes"),
    [
        (Kind.NAME, "山善堂產業", "山善堂産業", ["chinese_glyph"]),
        (Kind.NAME, "樹脂力バー", "樹脂カバー", ["katakana_word"]),
        (Kind.CODE, "P0-2O26-9069", "PO-2026-9069", ["code_shape"]),
        (Kind.UNIT, "侗", "個", ["unit_shape"]),
        (Kind.PHONE, "O3-1234-5678", "03-1234-5678", ["digit_shape"]),
        (Kind.PHONE, "03-l234-5678", "03-1234-5678", ["digit_shape"]),
        (Kind.PERCENT, "1O%", Decimal(10), ["digit_shape"]),
        (Kind.MONEY, "¥41.300", Decimal(41300), ["thousands_mark"]),
    ],
)
def test_repairs_are_reported(kind: Kind, text: str, value: object, codes: list[str]) -> None:
    parsed = parse(kind, text)
    assert parsed.value == value
    assert [r.code for r in parsed.repairs] == codes


@pytest.mark.parametrize(
    ("kind", "text", "reason", "candidates"),
    [
        (Kind.CODE, "至急", "not_a_code", ()),
        (Kind.PHONE, "abc", "not_a_phone", ()),
        (Kind.PHONE, "1234", "not_a_phone", ()),
        (
            Kind.PHONE,
            "TEL 03-1234-5678 FAX 03-1234-5679",
            "several_phones",
            ("03-1234-5678", "03-1234-5679"),
        ),
        (Kind.PHONE, "03-1234-5678 03-1234-5679", "several_phones", ()),
        (Kind.PERCENT, "108%", "unsure_number", ()),
        (Kind.PERCENT, "非課税", "in_words", ()),
        (Kind.PERCENT, "税率", "not_a_number", ()),
    ],
)
def test_unreadable_has_a_reason(
    kind: Kind, text: str, reason: str, candidates: tuple[str, ...]
) -> None:
    parsed = parse(kind, text)
    assert parsed.state is FieldState.UNREADABLE
    assert parsed.value is None
    assert parsed.reason is not None
    assert parsed.reason.code == reason
    assert parsed.reason.ja
    assert parsed.reason.en
    assert parsed.candidates == candidates


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("text", ["", " 　", "-", "―", "ー", "…"])
def test_blank_is_blank(kind: Kind, text: str) -> None:
    parsed = parse(kind, text)
    assert parsed.state is FieldState.BLANK
    assert parsed.value is None
    assert typed(kind, text) == ""


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (Kind.MONEY, "¥1,200-", "1200"),
        (Kind.MONEY, "12.50", "12.5"),
        (Kind.NUMBER, "10個", "10"),
        (Kind.DATE, "令和8年2月9日", "2026-02-09"),
        (Kind.CODE, "ＰＯ－１", "po-1"),
        (Kind.PHONE, "03(1234)5678", "0312345678"),
        (Kind.NAME, "㈱ 大塚", "株式会社大塚"),
        (Kind.TEXT, "SUS303 φ12×1000", "SUS303Φ12x1000"),
        (Kind.UNIT, "㎏", "kg"),
        (Kind.PERCENT, "10%", "10"),
    ],
)
def test_typed_equality(kind: Kind, one: str, other: str) -> None:
    assert typed(kind, one) == typed(kind, other) is not None


def test_typed_makes_no_script_repair() -> None:
    assert typed(Kind.NAME, "樹脂力バー") != typed(Kind.NAME, "樹脂カバー")
    assert typed(Kind.MONEY, "同上") is None


def test_a_kind_can_be_named() -> None:
    assert Kind("money") is Kind.MONEY
    with pytest.raises(ValueError, match="no_such_kind"):
        Kind("no_such_kind")


NOISE = st.text(
    alphabet="0123456789OlI|SB,.、:;-ー―一¥円▲△()年月日/令和R元 個%TELx金土", max_size=16
)


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(Kind), st.one_of(NOISE, st.text(max_size=20)))
def test_parse_never_raises_and_is_consistent(kind: Kind, text: str) -> None:
    parsed = parse(kind, text)
    assert parsed.state is not FieldState.ABSENT
    assert (parsed.value is not None) == (parsed.state is FieldState.READ)
    assert (parsed.reason is not None) == (parsed.state is FieldState.UNREADABLE)
    assert not (parsed.candidates and parsed.state is not FieldState.UNREADABLE)
    assert len(set(parsed.candidates)) == len(parsed.candidates)


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(Kind), st.one_of(NOISE, st.text(max_size=20)))
def test_a_value_written_out_is_read_back(kind: Kind, text: str) -> None:
    value = read(kind, text).value
    if value is not None:
        again = read(kind, str(value))
        # 12.500 as a quantity is the one spelling that a value has and a form must not have.
        if again.state is FieldState.READ:
            assert again.value == value
            assert typed(kind, str(value)) == typed(kind, text)
        else:
            assert kind is Kind.NUMBER
            assert value in again.candidates


DATES = st.dates(date(1990, 1, 1), date(2099, 12, 31))


@settings(deadline=None, max_examples=100)
@given(DATES, st.integers(0, 9))
def test_a_phone_number_survives_its_notations(day: date, last: int) -> None:
    local = (day - date(1990, 1, 1)) // timedelta(days=1) % 10000
    plain = f"03-{local:04d}-123{last}"
    for text in (
        plain,
        plain.replace("-", "ー"),
        f"(03){plain[3:]}",
        f"TEL {plain}",
        f"FAX：{plain.translate(str.maketrans('0123456789-', '０１２３４５６７８９－'))}",
        plain.replace("-", " "),
    ):
        assert parse(Kind.PHONE, text).value == plain
