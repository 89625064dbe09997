from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.band_tables import join_bands
from ocr_pipeline.engines.base import Char
from ocr_pipeline.tables.markdown import parse

HEAD = "| No | 品名 | 数量 | 金額 |\n|---|---|---|---|\n"
FIELDS = "| 項目 | 値 |\n|---|---|\n| 発注番号 | A-1 |\n"
FRAME = "| 項目 | 値 |\n|---|---|\n"
FIRST = FIELDS + "\n" + HEAD + "| 1 | ボルト | 10 | 100 |\n"
ROWS = "| 2 | ナット | 20 | 200 |\n| 3 | 座金 | 30 | 300 |\n"


def told(text, confidence=1.0):
    return tuple(Char(c, confidence) for c in text)


def joined(*replies, through=False):
    chars = join_bands([told(r) for r in replies], [False, *[through] * (len(replies) - 1)])
    return "".join(c.text for c in chars)


def tables(text):
    return [[[c.text for c in row] for row in (t.header, *t.rows)] for t in parse(text).tables]


WHOLE = tables(FIRST + ROWS)


class TestOneTableAgain:
    @pytest.mark.parametrize(
        "second",
        [
            ROWS,
            HEAD + ROWS,
            "|---|---|---|---|\n" + ROWS,
            "| | | | |\n|---|---|---|---|\n" + ROWS,
            ROWS.replace("\n", "\n|---|---|---|---|\n", 1),
            FRAME + "\n" + ROWS,
            FRAME + "\n" + HEAD + ROWS,
            "```markdown\n" + HEAD + ROWS + "```",
            "\n\n" + ROWS.replace("\n", "\r\n"),
        ],
        ids=[
            "rows alone",
            "the header again",
            "a separator first",
            "an empty header",
            "a row made the header",
            "an empty table of fields first",
            "that and the header again",
            "in a fence",
            "other line ends",
        ],
    )
    @pytest.mark.parametrize("fence", [False, True])
    def test_rows_follow_the_rows_above(self, second, fence):
        first = f"```\n{FIRST}```\n" if fence else FIRST
        assert tables(joined(first, second)) == WHOLE

    def test_the_header_may_be_all_that_stands_above(self):
        assert tables(joined(HEAD, ROWS)) == tables(HEAD + ROWS)

    def test_fields_before_the_rows_come_behind_them(self):
        found = tables(joined(FIRST, "| 項目 | 値 |\n|---|---|\n| 合計 | 600 |\n\n" + ROWS))
        assert found == [*WHOLE, [["項目", "値"], ["合計", "600"]]]

    def test_fields_go_on_as_well(self):
        found = tables(joined(FIELDS, FRAME + "| 納期 | 5月1日 |\n\n" + HEAD + ROWS))
        assert found == tables(FIELDS + "| 納期 | 5月1日 |\n\n" + HEAD + ROWS)

    def test_the_header_of_the_next_table_at_the_end_of_a_band_is_kept(self):
        found = tables(joined(FIRST, ROWS + "\n| 税率 | 税額 |\n|---|---|\n", "| 10% | 60 |\n"))
        assert found == [*WHOLE, [["税率", "税額"], ["10%", "60"]]]

    def test_empty_cells_too_many_at_the_end(self):
        found = tables(joined(FIRST, "| 2 | ナット | 20 | 200 | |\n"))
        assert found == tables(FIRST + "| 2 | ナット | 20 | 200 |\n")

    def test_a_row_of_words_is_a_row_when_the_cut_went_through_rules(self):
        second = "| 〃 | 同上 | 〃 | 〃 |\n|---|---|---|---|\n"
        found = tables(joined(FIRST, second + ROWS, through=True))
        assert found == tables(FIRST + second.splitlines(keepends=True)[0] + ROWS)
        assert len(tables(joined(FIRST, second + ROWS))) == len(WHOLE) + 1

    def test_three_bands(self):
        one, two = ROWS.splitlines(keepends=True)
        assert tables(joined(FIRST, HEAD + one, two)) == WHOLE


class TestAnotherTable:
    @pytest.mark.parametrize(
        "second",
        [
            "| 小計 | 消費税 | 合計 |\n|---|---|---|\n| 600 | 60 | 660 |\n",
            "| 税率 | 対象 | 税額 | 備考 |\n|---|---|---|---|\n| 10% | 600 | 60 | |\n",
            "| 2 | ナット | 20 | 200 | 至急 |\n| 3 | 座金 | 30 | 300 | |\n",
            "| 2 | ナット | 20 |\n",
            "以下余白\n\n" + HEAD + ROWS,
        ],
        ids=["other columns", "other titles", "more cells", "fewer cells", "text between"],
    )
    def test_stays_one_of_its_own(self, second):
        assert tables(joined(FIRST, second)) == tables(FIRST + "\n" + second)

    def test_text_stands_where_it_stood(self):
        text = joined("発注書\n\n" + FIRST, "備考: なし\n", "以上")
        assert [line.text for line in parse(text).lines] == ["発注書", "備考: なし", "以上"]


class TestCharacters:
    def test_one_band_is_as_it_is(self):
        chars = told("```\n" + FIRST + "```")
        assert join_bands([chars], [False]) == chars
        assert join_bands([chars, ()], [False, False])

    def test_every_character_keeps_what_is_known_about_it(self):
        chars = join_bands([told(FIRST, 0.9), told(HEAD + ROWS, 0.5)], [False, True])
        parsed = parse("".join(c.text for c in chars), chars=chars)
        rows = parsed.tables[1].rows
        assert [row[1].confidence for row in rows] == [0.9, 0.5, 0.5]

    def test_a_row_above_an_empty_table_stays(self):
        below = "| 2 | ナット | 20 | 200 |\n" + FRAME + "\n\n" + FIELDS
        assert "ナット" in joined(FIELDS, below)

    @settings(deadline=None, max_examples=80)
    @given(
        st.lists(
            st.lists(
                st.sampled_from(
                    [FIELDS, FRAME, HEAD, "", *ROWS.split("\n"), "```", "以上", "|", "|---|"]
                ),
                max_size=8,
            ),
            min_size=1,
            max_size=4,
        ),
        st.booleans(),
    )
    def test_no_row_is_lost(self, bands, through):
        replies = ["\n".join(lines) for lines in bands]
        text = joined(*replies, through=through)
        for mark in ("ナット", "座金", "A-1", "以上"):
            lost = sum(r.count(mark) for r in replies) - text.count(mark)
            # A row above a separator is a header, and goes when it is there again.
            assert lost <= sum(r.count("\n|---|") for r in replies) * (mark != "以上")
            assert lost == 0 or any("|\n|---|\n" in r for r in replies)
