"""A tokenizer whose tokens are characters: what the pocket model can read and write."""

from __future__ import annotations

import string
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PAD, EOS, BOS, UNK = "<pad>", "<eos>", "<bos>", "<unk>"
IMAGE, IMAGE_BEGIN, IMAGE_END = "<|image|>", "<|image>", "<image|>"
AUDIO, AUDIO_BEGIN, AUDIO_END = "<|audio|>", "<|audio>", "<audio|>"
VIDEO = "<|video|>"
USER, MODEL, TURN_END = "<|turn>user\n", "<|turn>model\n", "<turn|>\n"

SPECIALS = (
    *(PAD, EOS, BOS, UNK, IMAGE, IMAGE_BEGIN, IMAGE_END, AUDIO, AUDIO_BEGIN, AUDIO_END, VIDEO),
    *(USER, MODEL, TURN_END),
)
"""Special tokens in the order of their ids. The processor of Gemma 4 asks for audio and video
tokens although nothing here hears or moves."""

UNREADABLE = "〓"
"""The printers' mark (geta) for a character that nobody can read."""

_SIGNS = (
    "　、。・：；？！゛゜´｀¨＾￣＿ヽヾゝゞ〃仝々〆〇ー―‐／＼～‖｜…‥‘’“”"
    "（）〔〕［］｛｝〈〉《》「」『』【】"
    "＋－±×÷＝≠＜＞≦≧∞∴♂♀°′″℃￥＄￠￡％＃＆＊＠§☆★○●◎◇◆□■△▲▽▼※〒→←↑↓〓¥"
    "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ№℡㈱㈲㈹㎜㎝㎞㎎㎏㏄㎡φμ²³髙﨑"
)


@cache
def characters() -> str:
    """Every character of the vocabulary, sorted by code point, each once.

    All that `synth` can print, ASCII, both kana, half-width katakana, full-width letters and
    digits, the signs of business papers, and the 2,965 kanji of JIS X 0208 level 1 (rows 16 to 47),
    which holds all but a few of the kanji in common use.
    """
    from synth.alphabet import alphabet  # noqa: PLC0415  (only building needs synth)

    kana = [chr(c) for c in (*range(0x3041, 0x3094), *range(0x30A1, 0x30F7))]
    half = [chr(c) for c in range(0xFF61, 0xFFA0)]
    wide = [chr(ord(c) + 0xFEE0) for c in string.digits + string.ascii_letters]
    kanji = _jis_level_1()
    ascii_ = string.digits + string.ascii_letters + string.punctuation + " \n"
    text = alphabet() + ascii_ + "".join(kana + half + wide) + _SIGNS + kanji
    return "".join(sorted(set(text)))


def _jis_level_1() -> str:
    """The kanji of rows 16 to 47 of JIS X 0208, through their EUC-JP codes."""
    codes = (bytes((row + 0xA0, cell + 0xA0)) for row in range(16, 48) for cell in range(1, 95))
    found = (code.decode("euc_jp", "ignore") for code in codes)
    return "".join(c for c in found if c and unicodedata.category(c) == "Lo")


def build_tokenizer(vocabulary: str) -> PreTrainedTokenizerFast:
    """A tokenizer with one token per character, special tokens first.

    Args:
        vocabulary: the characters, each once; the first gets id `len(SPECIALS)`.

    Raises:
        ValueError: a character is there twice.
    """
    from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers  # noqa: PLC0415
    from tokenizers.models import WordLevel  # noqa: PLC0415
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    tokens = [*SPECIALS, *vocabulary]
    if len(set(tokens)) != len(tokens):
        raise ValueError("a character of the vocabulary is there twice")
    inner = Tokenizer(WordLevel({token: i for i, token in enumerate(tokens)}, unk_token=UNK))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    inner.decoder = decoders.Fuse()
    inner.add_special_tokens(list(SPECIALS))
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token=PAD,
        eos_token=EOS,
        bos_token=BOS,
        unk_token=UNK,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
        extra_special_tokens={
            "image_token": IMAGE,
            "boi_token": IMAGE_BEGIN,
            "eoi_token": IMAGE_END,
            "audio_token": AUDIO,
            "boa_token": AUDIO_BEGIN,
            "eoa_token": AUDIO_END,
        },
    )
