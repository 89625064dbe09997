import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth import lexicon
from synth.names import CONFUSABLE, Company, NameKind, draw_company
from synth.seeds import stream

seeds = st.integers(0, 2**31)


@pytest.mark.parametrize("kind", [k for k in NameKind if k is not NameKind.DICTIONARY])
@settings(deadline=None, max_examples=60)
@given(seed=seeds)
def test_coined_names_are_in_no_list(kind, seed):
    stem = draw_company(stream(seed, "name"), kind).stem
    assert len(stem) >= 3
    assert stem not in lexicon.phrases("katakana")
    assert not any(stem in g.item for g in lexicon.goods())
    assert stem[0] not in "ーッァ"


@settings(deadline=None, max_examples=80)
@given(seed=seeds)
def test_a_minimal_pair_differs_in_one_confusable_character(seed):
    company = draw_company(stream(seed, "name"), NameKind.MINIMAL_PAIR)
    assert len(company.stem) == len(company.twin)
    (pair,) = [{a, b} for a, b in zip(company.stem, company.twin, strict=True) if a != b]
    assert any(pair <= set(group) for group in CONFUSABLE)
    confusable = sum(any(c in g for g in CONFUSABLE) for c in company.stem)
    assert confusable >= 3


@settings(deadline=None, max_examples=80)
@given(seed=seeds)
def test_pronounceable_names_obey_the_grammar(seed):
    stem = draw_company(stream(seed, "name"), NameKind.PRONOUNCEABLE).stem
    assert stem[0] not in "ンーッ"
    assert stem[-1] != "ッ"
    assert not any(pair in stem for pair in ("ンン", "ーー", "ッー", "ンッ", "ッン", "ーッ"))


def test_written_forms():
    first = Company("ヌケロ", "工業", "株式会社", True, NameKind.RANDOM)
    assert first.written() == "株式会社ヌケロ工業"
    assert first.written("ligature") == "㈱ヌケロ工業"
    last = Company("ヌケロ", "", "有限会社", False, NameKind.RANDOM)
    assert last.written("bracket") == "ヌケロ(有)"
    assert last.short == "ヌケロ"
