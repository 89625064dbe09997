from __future__ import annotations

import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("transformers")

from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.pocket.tokenizer import (
    SPECIALS,
    UNREADABLE,
    build_tokenizer,
    characters,
)
from synth.alphabet import alphabet

TOKENIZER = build_tokenizer(characters())


def test_the_vocabulary_holds_what_synth_prints_and_the_common_kanji() -> None:
    known = set(characters())
    assert set(alphabet()) <= known
    assert {*"髙﨑ガｶﾞＡａ１｜|-\n㈱①", UNREADABLE} <= known
    assert sum("一" <= c <= "龯" for c in known) >= 2965
    assert len(characters()) == len(known)
    assert characters() == "".join(sorted(known))


@given(st.text(st.sampled_from(characters()), max_size=60))
@settings(deadline=None, max_examples=60)
def test_every_text_of_the_vocabulary_comes_back(text: str) -> None:
    ids = TOKENIZER(text, add_special_tokens=False)["input_ids"]
    assert len(ids) == len(text)
    assert TOKENIZER.decode(ids, skip_special_tokens=True) == text


def test_specials_come_first_and_are_skipped() -> None:
    text = "<bos><|turn>user\n<|image>カ ガ\n<turn|>\n<|turn>model\n"
    ids = TOKENIZER(text, add_special_tokens=False)["input_ids"]
    assert ids[:2] == [SPECIALS.index("<bos>"), SPECIALS.index("<|turn>user\n")]
    assert TOKENIZER.decode(ids) == text
    assert TOKENIZER.decode(ids, skip_special_tokens=True) == "カ ガ\n"
    assert TOKENIZER.decode(range(len(SPECIALS)), skip_special_tokens=True) == ""


def test_a_character_out_of_the_vocabulary_is_unknown_and_not_dropped() -> None:
    (token,) = TOKENIZER("𠮟", add_special_tokens=False)["input_ids"]
    assert token == SPECIALS.index("<unk>")


def test_a_character_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        build_tokenizer("abca")
