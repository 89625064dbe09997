import pytest

from ocr_pipeline.errors import UsageError
from synth import lexicon
from synth.fonts import Face, able, faces, glyph, packaged
from synth.names import CONFUSABLE
from synth.wording import label_alphabet


@pytest.mark.parametrize("face", packaged(), ids=lambda f: f.name)
def test_packaged_fonts_have_every_character_that_is_printed(face):
    text = lexicon.alphabet() + label_alphabet() + "".join(CONFUSABLE) + "〃▲△¥￥㈱㈲〒"
    assert face.missing(text) == ""


def test_the_guard_refuses_characters_without_a_glyph():
    face = packaged()[0]
    assert face.missing("あ\ue000") == "\ue000"
    assert face.missing(" 　") == ""
    with pytest.raises(UsageError, match="noto-gothic"):
        able((face,), "株\ue000")
    with pytest.raises(UsageError):
        able((), "a")


def test_the_guard_refuses_an_empty_outline(tmp_path):
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    box = TTGlyphPen(None)
    box.moveTo((0, 0))
    box.lineTo((0, 700))
    box.lineTo((500, 700))
    box.closePath()
    triangle = box.glyph()
    shapes = {".notdef": triangle, "A": triangle, "B": TTGlyphPen(None).glyph()}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(shapes))
    builder.setupCharacterMap({65: "A", 66: "B"})
    builder.setupGlyf(shapes)
    builder.setupHorizontalMetrics(dict.fromkeys(shapes, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Empty", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(tmp_path / "empty.ttf")
    face = Face("empty", "gothic", str(tmp_path / "empty.ttf"))
    assert face.missing("ABC") == "BC"


def test_pools():
    assert set(packaged()) <= set(faces("any"))
    assert {f.style for f in packaged()} == {"gothic", "mincho"}
    with pytest.raises(UsageError):
        faces("none")


def test_a_bold_glyph_has_more_ink():
    face = packaged()[0]
    assert glyph(face, 40, "注", 3).ink.sum() > glyph(face, 40, "注").ink.sum()
    assert glyph(face, 40, " ").ink.size == 0
    assert glyph(face, 40, " ").advance > 0
