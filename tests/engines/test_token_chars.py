from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.token_chars import TokenProb, alternatives, characters

WORDS = (
    "▁",
    "|",
    "\n",
    "ボ",
    "ル",
    "ト",
    "ボルト",
    "▁合計",
    "合",
    "計",
    "1",
    ",",
    "000",
    "〓",
    "A",
)
SPECIALS = ("<pad>", "<eos>", "<bos>", "<unk>")


class Vocabulary:
    """Decodes as SentencePiece with byte fallback does."""

    def __init__(self, tidy=lambda text: text):
        self.tokens = [*SPECIALS, *(f"<0x{i:02X}>" for i in range(256)), *WORDS]
        self.ids = {t: i for i, t in enumerate(self.tokens)}
        self.all_special_ids = [0, 1, 2]
        self.added_tokens_decoder = {3: type("Added", (), {"special": True})()}
        self.tidy = tidy

    def convert_ids_to_tokens(self, ids):
        return [self.tokens[i] for i in ids]

    def decode(self, ids, *, skip_special_tokens):
        assert skip_special_tokens
        # As the real ones do, before anything is decoded: bytes around a special token meet.
        spoken = [i for i in ids if self.tokens[i] not in SPECIALS]
        out, run = "", b""
        for i in [*spoken, None]:
            name = self.tokens[i] if i is not None else ""
            if name.startswith("<0x"):
                run += bytes([int(name[3:5], 16)])
                continue
            try:
                out += run.decode()
            except UnicodeDecodeError:
                out += "\ufffd" * len(run)
            run = b""
            out += name.replace("▁", " ")
        return self.tidy(out)

    def token(self, name, probability=1.0, runner_up="<pad>", p=0.0, changes=0):
        return TokenProb(self.ids[name], probability, 0.1, self.ids[runner_up], p, changes)

    def bytes_of(self, char, **changed):
        return [replace(self.token(f"<0x{b:02X}>"), **changed) for b in char.encode()]


V = Vocabulary()


def text_of(chars):
    return "".join(c.text for c in chars)


class TestText:
    def test_a_token_of_several_characters(self):
        chars = characters(V, [V.token("ボルト", 0.9), V.token("▁合計", 0.5)], 4)
        assert [(c.text, c.confidence) for c in chars] == [
            *((c, 0.9) for c in "ボルト"),
            *((c, 0.5) for c in " 合計"),
        ]

    def test_a_kanji_of_three_bytes_is_as_sure_as_the_least_sure(self):
        first, second, third = V.bytes_of("詰")
        tokens = [first, replace(second, probability=0.4), replace(third, probability=0.7)]
        (char,) = characters(V, tokens, 4)
        assert (char.text, char.confidence) == ("詰", 0.4)

    def test_characters_of_two_three_and_four_bytes_in_one_run(self):
        tokens = [t for c in "é詰𠮷" for t in V.bytes_of(c)]
        assert text_of(characters(V, tokens, 4)) == "é詰𠮷"

    def test_broken_bytes_stay_visible(self):
        tokens = V.bytes_of("詰")[:2]
        chars = characters(V, [*tokens, V.token("A")], 4)
        assert text_of(chars) == "\ufffd\ufffdA"

    def test_special_tokens_say_nothing(self):
        a, b, c = V.bytes_of("詰")
        tokens = [V.token("<bos>"), a, V.token("<unk>"), b, c, V.token("<eos>"), V.token("<pad>")]
        assert text_of(characters(V, tokens, 4)) == "詰"
        assert characters(V, [V.token("<pad>")] * 3, 4) == ()
        assert characters(V, [], 4) == ()

    def test_changes_lower_the_confidence(self):
        tokens = [V.token("合", 0.8, changes=0), V.token("計", 0.8, changes=1)]
        assert [c.confidence for c in characters(V, tokens, 4)] == pytest.approx([0.8, 0.6])
        assert [c.confidence for c in characters(V, tokens, 0)] == [0.8, 0.8]
        (char,) = characters(V, [V.token("合", 0.8, changes=9)], 4)
        assert char.confidence == 0.0

    @settings(deadline=None, max_examples=80)
    @given(
        st.lists(
            st.tuples(
                st.integers(0, len(V.tokens) - 1),
                st.integers(0, len(V.tokens) - 1),
                st.floats(0, 1),
                st.integers(0, 5),
            ),
            max_size=40,
        )
    )
    def test_the_text_is_that_of_the_tokenizer(self, drawn):
        tokens = [TokenProb(i, p, 0.1, other, 1 - p, n) for i, other, p, n in drawn]
        chars = characters(V, tokens, 4)
        assert text_of(chars) == V.decode([t.id for t in tokens], skip_special_tokens=True)
        for c in chars:
            assert len(c.text) == 1
            assert 0 <= c.confidence <= 1
            assert all(other and other != c.text for other, _ in c.alternatives)

    @pytest.mark.parametrize(
        "tidy",
        [
            str.strip,
            lambda text: text.replace(" ,", ","),
            lambda text: f" {text}",
            lambda text: text.replace("ボルト", "ぼると"),
            lambda text: "",
        ],
    )
    def test_what_a_tokenizer_tidies_up_is_aligned(self, tidy):
        vocabulary = Vocabulary(tidy)
        tokens = [
            V.token("▁合計", 0.9),
            V.token("▁", 0.6),
            V.token(",", 0.5, "1", 0.3),
            V.token("ボルト", 0.2),
        ]
        chars = characters(vocabulary, tokens, 4)
        assert text_of(chars) == tidy(" 合計 ,ボルト")
        known = {"合": 0.9, "計": 0.9, ",": 0.5, "ト": 0.2, "ぼ": 0.2, "る": 0.2}
        for c in chars:
            assert c.confidence == known.get(c.text, c.confidence)
            assert c.alternatives == ((("1", 0.3),) if c.text == "," else ())


class TestRunnersUp:
    def test_of_the_same_length_gives_each_character_its_own(self):
        tokens = [V.token("▁合計", 0.6, "ボルト", 0.3)]
        chars = characters(V, tokens, 4)
        assert [c.alternatives for c in chars] == [((c, 0.3),) for c in "ボルト"]

    def test_specials_and_lone_bytes_are_no_characters(self):
        tokens = [V.token("合", 0.6, "<eos>", 0.3), V.token("計", 0.6, "<0xE3>", 0.3)]
        assert [c.alternatives for c in characters(V, tokens, 4)] == [(), ()]

    def test_a_byte_of_ascii_is_one(self):
        (char,) = characters(V, [V.token("A", 0.6, "<0x42>", 0.3)], 4)
        assert char.alternatives == (("B", 0.3),)

    def test_another_byte_makes_another_kanji(self):
        first, second, third = V.bytes_of("詰")
        other = V.ids[f"<0x{'詳'.encode()[2]:02X}>"]
        third = replace(third, runner_up=other, runner_up_probability=0.2)
        (char,) = characters(V, [first, second, third], 4)
        assert char.alternatives == (("詳", 0.2),)

    def test_several_bytes_rank_their_alternatives(self):
        first, second, third = V.bytes_of("詰")
        first = replace(first, runner_up=V.ids["合"], runner_up_probability=0.1)
        other = V.ids[f"<0x{'詳'.encode()[2]:02X}>"]
        third = replace(third, runner_up=other, runner_up_probability=0.2)
        second = replace(second, runner_up=V.ids["計"], runner_up_probability=0.4)
        (char,) = characters(V, [first, second, third], 4)
        assert char.alternatives == (("詳", 0.2), ("合", 0.1))

    @pytest.mark.parametrize(
        ("text", "other", "expected"),
        [
            ("ABC", "AXC", {1: "X"}),
            ("ABCD", "AXCY", {1: "X", 3: "Y"}),
            ("A", "AB", {0: "AB"}),
            ("B", "AB", {0: "AB"}),
            ("AC", "ABC", {0: "AB"}),
            ("AB", "A", {}),
            ("A", "XY", {0: "XY"}),
            ("AB", "XYZ", {0: "X"}),
            ("ABCD", "AXD", {1: "X"}),
            ("AB", "AB", {}),
            ("", "A", {}),
            ("A", "", {}),
        ],
    )
    def test_of_another_length(self, text, other, expected):
        assert alternatives(text, other) == expected

    @settings(deadline=None, max_examples=200)
    @given(st.text("ABC", max_size=6), st.text("ABC", max_size=6))
    def test_in_its_place_an_alternative_gives_the_other_reading(self, text, other):
        found = alternatives(text, other)
        assert all(0 <= i < len(text) and c and c != text[i] for i, c in found.items())
        if len(text) == len(other):
            assert "".join(found.get(i, c) for i, c in enumerate(text)) == other
        elif len(text) < len(other) and text:
            assert found


class TestRealTokenizers:
    def test_a_byte_fallback_vocabulary(self):
        tokenizers = pytest.importorskip("tokenizers")
        transformers = pytest.importorskip("transformers")
        vocabulary = {t: i for i, t in enumerate(V.tokens)}
        inner = tokenizers.Tokenizer(
            tokenizers.models.BPE(
                vocabulary, [], byte_fallback=True, unk_token="<unk>", fuse_unk=False
            )
        )
        inner.normalizer = tokenizers.normalizers.Replace(" ", "▁")
        inner.decoder = tokenizers.decoders.Sequence(
            [
                tokenizers.decoders.Replace("▁", " "),
                tokenizers.decoders.ByteFallback(),
                tokenizers.decoders.Fuse(),
            ]
        )
        inner.add_special_tokens(list(SPECIALS))
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=inner,
            pad_token="<pad>",
            eos_token="<eos>",
            bos_token="<bos>",
            unk_token="<unk>",
        )
        text = " 合計 𠮷野 詰,000\n| ボ |"
        ids = [*tokenizer.encode(text, add_special_tokens=False), 1, 0, 0]
        assert len(ids) > len(text)
        chars = characters(tokenizer, [TokenProb(i, 0.9, 0.1, 0, 0.0, 0) for i in ids], 4)
        assert text_of(chars) == tokenizer.decode(ids, skip_special_tokens=True) == text

    def test_a_character_vocabulary(self):
        pytest.importorskip("transformers")
        from ocr_pipeline.pocket.tokenizer import build_tokenizer

        tokenizer = build_tokenizer("合計ボルト 〓\n1,0")
        ids = tokenizer.encode("合計 1,000\n〓", add_special_tokens=False)
        other = tokenizer.convert_tokens_to_ids("ボ")
        tokens = [TokenProb(i, 0.8, 0.1, other, 0.1, 1) for i in [*ids, 1, 0]]
        chars = characters(tokenizer, tokens, 2)
        assert text_of(chars) == "合計 1,000\n〓"
        assert {c.confidence for c in chars} == {0.4}
        assert {c.alternatives for c in chars} == {(("ボ", 0.1),)}
