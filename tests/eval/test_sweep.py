from __future__ import annotations

import math

import pytest

from eval.sweep import label_of, settings_over, table_of
from ocr_pipeline.errors import UsageError


def test_values_of_a_setting() -> None:
    assert settings_over(["steps=8, 16,8"]) == [(("steps", "8"),), (("steps", "16"),)]


def test_several_settings_give_every_combination() -> None:
    found = settings_over(["steps=8,16", "t_max=0.6,0.8"])
    assert [label_of(s) for s in found] == [
        "steps=8,t_max=0.6",
        "steps=8,t_max=0.8",
        "steps=16,t_max=0.6",
        "steps=16,t_max=0.8",
    ]


def test_a_label_can_be_a_folder() -> None:
    assert "/" not in label_of((("prompt", "a/b"),))


@pytest.mark.parametrize("over", [["steps"], ["=8"], ["steps="], ["steps=8,,16"], ["a=1", "a=2"]])
def test_what_sweeps_nothing(over: list[str]) -> None:
    with pytest.raises(UsageError):
        settings_over(over)


def test_the_table(scores_of) -> None:
    good, bad = scores_of(4, runs=3, accuracy=0.95), scores_of(4, runs=3, accuracy=0.5)
    table = table_of({"steps=48": good, "steps=8": bad})
    assert list(table.index) == ["steps=48", "steps=8"]
    assert table.loc["steps=48", "single"] > table.loc["steps=8", "single"]
    assert table.loc["steps=48", "right"] >= table.loc["steps=48", "single"]
    assert list(table["documents"]) == [4, 4]
    assert list(table["seconds"]) == [2.5, 2.5]
    assert all(math.isnan(t) for t in table["tokens"])
