from __future__ import annotations

import pytest

from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.prompts import load_prompt, names
from ocr_pipeline.errors import UsageError


def test_the_prompts_there_are() -> None:
    assert set(names()) >= {"line_ja_v1", "transcribe_ja_v1"}
    assert list(names()) == sorted(names())


@pytest.mark.parametrize("name", names())
def test_every_prompt_is_text_without_white_space_around(name: str) -> None:
    text = load_prompt(name)
    assert text
    assert text == text.strip()


def test_a_page_is_asked_for_both_tables() -> None:
    text = load_prompt(Card().prompt)
    assert "| 項目 | 値 |" in text
    for word in ("明細", "印字のとおり", "空のまま", "補わない", "説明"):
        assert word in text


def test_a_line_is_asked_for_the_mark_of_what_cannot_be_read() -> None:
    assert "〓" in load_prompt("line_ja_v1")


@pytest.mark.parametrize("name", ["", "nothing", "../prompts/line_ja_v1", "line_ja_v1.txt"])
def test_an_unknown_name_says_what_there_is(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_prompt(name)
    assert "transcribe_ja_v1" in caught.value.remedy
