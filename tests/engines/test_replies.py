from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.base import ReadingStatus
from ocr_pipeline.engines.replies import Verdict, combined, judge, repeated

HEAD = "| 品名 | 数量 | 金額 |\n|---|---|---|\n"
ROW = "| ボルト M6 | 10 | 1,000 |\n"
ORDER = "| 項目 | 値 |\n|---|---|\n| 発注番号 | A-1 |\n\n" + HEAD + ROW + "| ナット | 5 | 300 |\n"
TOTAL = "| 合計 | | 20,000 |\n"


def status(text: str, *, finished: bool = True, inked: bool = True) -> ReadingStatus:
    return judge(text, finished=finished, inked=inked).status


class TestWhole:
    @pytest.mark.parametrize(
        "text",
        [
            ORDER,
            "```markdown\n" + ORDER + "```\n",
            "こちらが書き起こしです。\n\n" + ORDER + "\nご確認ください。",
            "-",
            "御見積 " + "." * 120 + " ¥100",
            "‐" * 200,
            "株式会社株式会社株式会社",
            "〃\n" * 20,
        ],
    )
    def test_fences_explanations_and_leaders_are_no_matter_of_status(self, text):
        assert judge(text, finished=True) == Verdict(ReadingStatus.OK)

    def test_a_cut_reply(self):
        verdict = judge(ORDER, finished=False)
        assert verdict.status is ReadingStatus.INCOMPLETE
        assert "budget" in verdict.reason


class TestNothing:
    @pytest.mark.parametrize("finished", [True, False])
    @pytest.mark.parametrize(
        "text", ["", " \n\n", "\u3000", "```\n```", "```markdown\n", "| | |\n|---|:-:|\n| | |\n"]
    )
    def test_about_a_page_with_ink_has_failed_and_says_so(self, text, finished):
        verdict = judge(text, finished=finished)
        assert verdict.status is ReadingStatus.FAILED
        assert "with ink" in verdict.reason
        assert ("did not end" in verdict.reason) is not finished

    def test_about_nothing_is_blank(self):
        assert judge(" \n", finished=True, inked=False) == Verdict(ReadingStatus.BLANK)

    def test_zero_and_a_dash_are_something(self):
        assert status("0") is status("-") is status("| | |\n|---|---|\n| 0 | |") is ReadingStatus.OK


class TestLoop:
    @pytest.mark.parametrize("finished", [True, False])
    @pytest.mark.parametrize(
        "tail",
        [
            "ア" * 60,
            "御中様" * 30,
            "| 品名 | 数量 | 品名 | 数量 " * 8,
            "| 備考 | " + "納期厳守 " * 20 + "|",
            ROW * 60,
            "よろしくお願い申し上げます。\n" * 60,
            "| ボルト | 1 |\n| ナット | 2 |\n\n" * 30,
        ],
    )
    def test_a_block_that_goes_on_to_the_end(self, tail, finished):
        verdict = judge(ORDER + tail, finished=finished)
        assert verdict.status is ReadingStatus.LOOPING
        assert verdict.reason

    def test_twenty_identical_rows_are_a_table(self):
        assert status(HEAD + ROW * 20) is ReadingStatus.OK
        assert status(HEAD + ROW * 20 + TOTAL) is ReadingStatus.OK
        assert status(HEAD + "| | | |\n" * 20) is ReadingStatus.OK
        # More tokens will tell what comes behind them.
        assert status(HEAD + ROW * 20, finished=False) is ReadingStatus.INCOMPLETE
        assert status(HEAD + ROW * 60 + TOTAL) is ReadingStatus.OK

    def test_thirty_identical_rows_at_the_cut_are_a_loop_and_at_the_end_are_not(self):
        assert status(HEAD + ROW * 30, finished=False) is ReadingStatus.LOOPING
        assert status(HEAD + ROW * 30 + ROW[:9], finished=False) is ReadingStatus.LOOPING
        assert status(HEAD + ROW * 30) is ReadingStatus.OK
        assert status(HEAD + "| | | |\n" * 30, finished=False) is ReadingStatus.LOOPING

    def test_a_loop_may_go_on_counting(self):
        rows = "".join(f"| {i} | ボルト | {i}00 |\n" for i in range(1, 41))
        assert status(HEAD + rows, finished=False) is ReadingStatus.LOOPING
        assert status(HEAD + rows) is ReadingStatus.OK

    def test_two_copies_of_a_form_are_a_form(self):
        copy = HEAD + "".join(f"| 品{c} | {i} | |\n" for i, c in enumerate("甲乙丙丁" * 5)) + "\n"
        assert status(copy * 2, finished=True) is ReadingStatus.OK

    def test_a_cell_of_zeros_is_no_loop(self):
        assert status(HEAD + "| 箱 | 000000000000 | |\n") is ReadingStatus.OK

    @settings(deadline=None, max_examples=60)
    @given(
        st.text("品名数量ボルト123|,- \n", max_size=60),
        st.text("甲乙丙丁ABC12", min_size=1, max_size=12),
        st.integers(0, 11),
    )
    def test_any_block_repeated_long_enough(self, before, block, cut):
        tail = block * (48 // len(block) + 7) + block[:cut]
        assert status(before + tail, finished=False) is ReadingStatus.LOOPING
        assert status(before + tail, finished=True) is ReadingStatus.LOOPING

    @settings(deadline=None, max_examples=60)
    @given(st.lists(st.text("甲乙丙丁ABC123 |", min_size=1, max_size=20), unique=True, max_size=40))
    def test_lines_that_all_differ_are_never_a_loop(self, lines):
        text = "\n".join(f"{chr(0x4E00 + i)}{line}終" for i, line in enumerate(lines))
        assert repeated(text, finished=True) == ""

    def test_a_long_reply_is_judged_quickly(self):
        assert status("".join(f"| {i} | 品{i * i} |\n" for i in range(1500))) is ReadingStatus.OK


class TestCombined:
    OK, BLANK = Verdict(ReadingStatus.OK), Verdict(ReadingStatus.BLANK)
    CUT = Verdict(ReadingStatus.INCOMPLETE, "cut")
    LOOP = Verdict(ReadingStatus.LOOPING, "loop")
    FAILED = Verdict(ReadingStatus.FAILED, "nothing")

    @pytest.mark.parametrize(
        ("verdicts", "expected"),
        [
            ([], BLANK),
            ([BLANK, BLANK], BLANK),
            ([OK, BLANK], OK),
            ([CUT], CUT),
            ([FAILED, FAILED], FAILED),
            ([OK, CUT], Verdict(ReadingStatus.INCOMPLETE, "tile 2 of 2: cut")),
            ([LOOP, CUT, LOOP], Verdict(ReadingStatus.LOOPING, "tile 1, 3 of 3: loop")),
            ([OK, FAILED, BLANK], Verdict(ReadingStatus.INCOMPLETE, "tile 2 of 3: nothing")),
        ],
    )
    def test_the_worst_tile_decides(self, verdicts, expected):
        assert combined(verdicts) == expected
