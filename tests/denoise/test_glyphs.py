from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from ocr_pipeline.denoise.glyphs import (
    CHANGED,
    DRAFT,
    HEAT,
    NOT_BEGUN,
    fold,
    styled,
    visible,
    window,
)

texts = st.text(st.sampled_from("発注ab|1 \n①゙⑲ﾊﾞ\x1b\u200d\ufe0f👨"), max_size=60)


def styles(text):
    """Style of each character."""
    return [str(text.get_style_at_offset(CONSOLE, i)) for i in range(len(text))]


class _Plain:
    """As much of a console as a style needs."""

    def get_style(self, name, default=None):
        from rich.style import Style

        return name if isinstance(name, Style) else Style.parse(name)


CONSOLE = _Plain()


class TestVisible:
    def test_nothing_steers_the_terminal(self):
        assert visible("a\x1b[2J\r\x07\u200d\u202e\ufe0f\ud800\ue000b\tc\n発ハ\u3099") == (
            "a·[2J·······b c\n発ハ\u3099"
        )

    @settings(deadline=None)
    @given(st.text())
    def test_one_character_for_one(self, text):
        shown = visible(text)
        assert len(shown) == len(text)
        assert not set(shown) & set(map(chr, [*range(10), *range(11, 32), 127, *range(128, 160)]))


class TestFold:
    def test_wide_characters_take_two_cells(self):
        lines = [(at, line.plain) for at, line in fold(Text("発注書No.1\n\nab"), 5)]
        assert lines == [(0, "発注"), (2, "書No."), (6, "1"), (8, ""), (9, "ab")]

    def test_a_mark_stays_with_its_letter(self):
        assert [line.plain for _, line in fold(Text("abハ\u3099c"), 4)] == ["abハ\u3099", "c"]

    def test_narrower_than_a_character(self):
        assert [line.plain for _, line in fold(Text("発a"), 1)] == ["発", "a"]

    def test_nothing(self):
        assert [(at, line.plain) for at, line in fold(Text(), 5)] == [(0, "")]

    @settings(deadline=None)
    @given(texts, st.integers(2, 9))
    def test_nothing_is_lost_and_nothing_too_wide(self, text, width):
        text = visible(text)
        lines = fold(Text(text), width)
        assert all(cell_len(line.plain) <= width for _, line in lines)
        assert "".join(line.plain for _, line in lines) == text.replace("\n", "")
        assert all(text[at : at + len(line)] == line.plain for at, line in lines)

    def test_styles_come_along(self):
        (_, first), (_, second) = fold(Text.assemble("ab", ("cd", "red")), 3)
        assert styles(first) == ["none", "none", "red"]
        assert styles(second) == ["red"]


class TestStyled:
    def test_final_plain_draft_grey_changed_fainter(self, make):
        lane = make.lane(make.committed("発注"), make.draft("書ロ", changed=[1]))
        text, start = styled(lane, 9)
        assert (text.plain, start) == ("発注書ロ", 2)
        assert styles(text) == ["none", "none", DRAFT, "dim grey50"]
        assert CHANGED == "grey50 dim"

    def test_heat(self, make):
        lane = make.lane(
            make.committed("abc", confidence=[1.0, 0.7, 0.0001]),
            make.draft("defgh", entropy=[0.01, 0.3, 1.0, 2.0, 9.0]),
        )
        text, _ = styled(lane, 9, heat=True)
        warm = [style for _, style in HEAT[1:]]
        assert styles(text) == ["none", warm[0], warm[3], DRAFT, *warm]

    def test_heat_of_what_nobody_said(self, make):
        text, _ = styled(make.lane(make.committed("a"), make.draft("b")), 9, heat=True)
        assert styles(text) == ["none", DRAFT]

    def test_tiles_one_below_another(self, make):
        lane = make.lane(make.draft("b", tile=1), make.committed("a"), make.draft("c", tile=2))
        text, start = styled(lane, 9)
        assert (text.plain, start) == ("a\nb\nc", 2)

    def test_tiles_side_by_side_and_those_to_come(self, make):
        lane = make.lane(
            make.lines_page("abcd"), make.committed("品名", tile=0), make.draft("数", tile=3)
        )
        text, start = styled(lane, 9)
        assert text.plain == f"品名  {NOT_BEGUN}\n{NOT_BEGUN}  数"
        assert start == text.plain.index("数")

    def test_nothing_forms(self, make):
        assert styled(make.lane(make.committed("a")), 9)[1] is None
        text, start = styled(make.lane(make.step(1)), 9)
        assert (text.plain, start) == ("", None)

    @pytest.mark.parametrize("draft", ["", "draft"])
    def test_what_is_far_above_is_left_out(self, make, draft):
        long = "".join(f"line {i}\n" for i in range(500))
        events = [make.committed(long), *([make.draft(draft)] if draft else [])]
        text, start = styled(make.lane(*events), 10)
        assert text.plain == "".join(f"line {i}\n" for i in range(491, 500)) + draft
        assert start == (text.plain.index(draft) if draft else None)

    def test_tiles_far_above_and_below_are_left_out(self, make):
        events = [make.committed(str(i), tile=i) for i in range(100)]
        events += [make.draft("x", tile=i) for i in range(100, 200)]
        text, start = styled(make.lane(*events), 10)
        lines = text.plain.split("\n")
        assert lines == [*map(str, range(90, 100)), *["x"] * 10]
        assert start == text.plain.index("x")


@pytest.mark.parametrize(
    ("lines", "height", "forming", "first"),
    [
        (5, 10, None, 0),
        (5, 10, 2, 0),
        (30, 10, None, 20),
        (30, 10, 25, 20),  # the draft and what is above it
        (30, 10, 20, 20),
        (30, 10, 12, 12),  # a draft that is taller than the window: from its beginning
        (30, 10, 0, 0),
        (0, 10, None, 0),
    ],
)
def test_the_forming_part_is_always_seen(lines, height, forming, first):
    assert window(lines, height, forming) == first
