from synth import fonts
from synth.alphabet import alphabet
from synth.content import draw_content
from synth.layouts import ANY, LAYOUTS, compose
from synth.presets import article_content
from synth.seeds import stream
from synth.wording import Wording, draw_wording


def test_everything_that_is_written_is_in_the_alphabet():
    face, known = fonts.packaged()[0], set(alphabet())
    orders = [
        (
            draw_content(stream(s, "content"), lines=(3, 30)),
            draw_wording(stream(s, "words")),
            ANY[s % 13],
        )
        for s in range(52)
    ]
    orders.append((article_content(1), Wording(), "article"))
    for content, wording, layout in orders:
        for page in compose(content, wording, LAYOUTS[layout], face, 1.0):
            text = "".join(t for line in page.lines for t, _ in line.pieces)
            assert set(text) <= known, set(text) - known


def test_every_packaged_face_can_draw_the_alphabet():
    for face in fonts.packaged():
        assert face.missing(alphabet()) == ""
