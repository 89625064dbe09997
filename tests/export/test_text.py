import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.export.text import encodable, looks_like_formula, neutralised, without_control


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", " ="]
)
def test_a_formula_is_neutralised(start):
    assert neutralised(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize("text", ["", "ボルト", "ー", "12-3", "▲1,200", "'=1", " x", "1=2"])
def test_ordinary_text_is_left_alone(text):
    assert neutralised(text) == text


@given(st.text())
@settings(deadline=None, max_examples=100)
def test_nothing_neutralised_looks_like_a_formula(text):
    assert not looks_like_formula(neutralised(text))
    assert neutralised(text).endswith(text)


def test_control_characters_are_removed_and_told():
    assert without_control("a\x00b\x1f\tc\nd\ud800\uffff") == ("ab\tc\nd", "\x00\x1f\ud800\uffff")
    assert without_control("") == ("", "")


@pytest.mark.parametrize(
    ("text", "written", "lost"),
    [
        ("髙橋①㈱〜", "髙橋①㈱〜", ""),
        ("𠮷野家", "〓野家", "𠮷"),
        ("한국 한", "〓〓 〓", "한국"),
        ("¥1,200 — \xa0", "￥1,200 ―  ", ""),
        ("", "", ""),
    ],
)
def test_what_cp932_lacks_is_visible_and_told(text, written, lost):
    assert encodable(text, "cp932") == (written, lost)
    written.encode("cp932")


@given(st.text())
@settings(deadline=None, max_examples=100)
def test_everything_fits_afterwards_and_nothing_vanishes(text):
    written, lost = encodable(text, "cp932")
    assert len(written) == len(text)
    assert bool(lost) == (written.count("〓") > text.count("〓"))
    written.encode("cp932")


def test_utf8_keeps_everything_that_is_unicode():
    assert encodable("¥—𠮷", "utf-8-sig") == ("¥—𠮷", "")
