from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from eval.selection import chosen_half, consensus, single
from eval.tidy import VALUES, frame

names = st.sets(st.text(max_size=6), max_size=12)


def test_runs_and_consensus_without_lines_that_are_not_there(a_value):
    rows = [(0, False), (1, False), (-1, False), (0, True), (-1, True)]
    values = frame([a_value(run=run, extra=extra) for run, extra in rows], VALUES)
    assert single(values).index.tolist() == [0, 1]
    assert consensus(values).index.tolist() == [2]


class TestHalf:
    @settings(deadline=None, max_examples=50)
    @given(sheets=names, seed=st.integers(0, 9))
    def test_is_a_half_whatever_the_order(self, sheets, seed):
        half = chosen_half(sheets, seed)
        assert half <= sheets
        assert len(half) == len(sheets) // 2
        assert chosen_half([*sorted(sheets), *sheets], seed) == half

    def test_is_the_same_everywhere(self):
        assert chosen_half("abcdef") == {"c", "e", "f"}

    def test_the_seed_decides(self):
        sheets = [f"{i:04d}" for i in range(40)]
        assert chosen_half(sheets, 1) != chosen_half(sheets, 2)

    def test_one_sheet_is_not_chosen(self):
        assert chosen_half(["a"]) == frozenset()
