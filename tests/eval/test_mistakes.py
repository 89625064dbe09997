from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.mistakes import SHAPES, CharClass, Mistake, class_of, comparable, mistake_of, pairs
from synth.names import CONFUSABLE, KATAKANA

texts = st.text("アガカハバパーツッ東京0O1A,・", max_size=8)


@pytest.mark.parametrize(
    ("chars", "expected"),
    [
        ("019１", CharClass.DIGIT),
        ("aZＱ", CharClass.LATIN),
        ("アンヰ", CharClass.KATAKANA),
        ("ガヅヴ", CharClass.DAKUTEN),
        ("パポ", CharClass.HANDAKUTEN),
        ("ッャァ", CharClass.SMALL),
        ("ー", CharClass.LONG_VOWEL),
        ("あがっ", CharClass.HIRAGANA),
        ("東一口々〇", CharClass.KANJI),
        (",・-/¥ ", CharClass.SEPARATOR),
        ("φ×☎", CharClass.OTHER),
    ],
)
def test_classes(chars, expected):
    assert {class_of(c) for c in chars} == {expected}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["ー一", "一ー", "ー-", "ー|"], Mistake.LONG_VOWEL),
        (["ガカ", "カガ", "ヴウ", "バハ"], Mistake.DAKUTEN),
        (["パハ", "パバ", "バパ"], Mistake.HANDAKUTEN),
        (["ツッ", "ャヤ", "っつ"], Mistake.SMALL_KANA),
        (["カ力", "ロ口", "ニ二", "ミ三", "夕タ", "0O", "1I", "へヘ"], Mistake.SCRIPT),
        (["産產", "単单", "税稅"], Mistake.GLYPH),
        ([",.", "-・", "/1", "・ト"], Mistake.SEPARATOR),
        (["シツ", "ソン", "38", "千干", "B8"], Mistake.SHAPE),
        (["アカ", "東山", "47", "QW", "ムめ"], Mistake.FLUENT),
        (["東A", "ア4", "4東"], Mistake.OTHER),
    ],
)
def test_mistakes(found, expected):
    assert {p: mistake_of(*p) for p in found} == dict.fromkeys(found, expected)


@pytest.mark.parametrize(
    ("true", "read", "expected"),
    [
        ("ー", "", Mistake.LONG_VOWEL),
        ("", "ー", Mistake.LONG_VOWEL),
        (",", "", Mistake.SEPARATOR),
        ("", " ", Mistake.SEPARATOR),
        ("ア", "", Mistake.LOST),
        ("", "ア", Mistake.ADDED),
    ],
)
def test_lost_and_added(true, read, expected):
    assert mistake_of(true, read) == expected


def test_what_a_fax_confuses_by_design_is_never_called_fluent():
    for group in CONFUSABLE:
        for a in group:
            for b in group:
                if a != b:
                    assert mistake_of(a, b) not in (Mistake.FLUENT, Mistake.OTHER), a + b


def test_shapes_are_pairs_without_a_kind_of_their_own():
    for group in SHAPES:
        for a in group:
            for b in group:
                assert a == b or mistake_of(a, b) == Mistake.SHAPE, a + b


def test_every_letter_of_names_has_a_class_of_katakana():
    assert {str(class_of(c)).split("_")[0] for c in KATAKANA} == {"katakana", "long"}


class TestPairs:
    def test_a_text_with_a_label_and_a_suffix(self):
        assert (
            "".join(p.true + p.read for p in pairs("ガーラ", "発注先ガ一ラ御中")) == "ガガー一ララ"
        )

    def test_added_inside(self):
        assert [(p.position, p.true, p.read) for p in pairs("AB", "A-B")] == [
            (0, "A", "A"),
            (1, "", "-"),
            (1, "B", "B"),
        ]

    @settings(deadline=None, max_examples=100)
    @given(true=texts, read=texts)
    def test_every_true_character_once_in_order(self, true, read):
        found = pairs(true, read)
        assert "".join(p.true for p in found) == true
        assert "".join(p.read for p in found) in read
        for p in found:
            assert not p.true or true[p.position] == p.true

    @settings(deadline=None, max_examples=50)
    @given(text=texts)
    def test_a_text_with_itself(self, text):
        assert all(p.true == p.read for p in pairs(text, text))


@pytest.mark.parametrize(
    ("true", "read", "expected"),
    [
        ("ガーラ", "ガ一ラ", True),
        ("ガーラ", "カ一ラ", True),
        ("ガーラ", "山田", False),
        ("ガーラ", "", False),
        ("3", "8", True),
        ("3", "38", True),  # what follows the text is no part of it
        ("12", "1", False),
        ("ボルト", "ボルト M6×20 ステンレス", True),
    ],
)
def test_comparable(true, read, expected):
    assert comparable(pairs(true, read)) is expected


def test_nothing_is_comparable_with_nothing():
    assert not comparable(pairs("", ""))
