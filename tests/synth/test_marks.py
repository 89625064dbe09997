import numpy as np
import pytest

from synth import fonts, make_sheet
from synth.chain import plate_of, run
from synth.content import draw_content
from synth.drawing import Ref
from synth.handwriting import WRITABLE, strokes
from synth.layouts import LAYOUTS, compose
from synth.mark_plan import plan_marks
from synth.marks import DRAW, Mark, Marks
from synth.seeds import stream
from synth.wording import Wording


def planned(name="boxed_header", tries=60):
    for seed in range(tries):
        content = draw_content(stream(seed, "content"), lines=(4, 6))
        pages = compose(content, Wording(), LAYOUTS[name], fonts.packaged()[0], 6.0)
        yield content, pages, plan_marks(content, pages, stream(seed, "marks"))


def test_every_kind_of_mark_occurs_and_lies_on_the_sheet():
    kinds = set()
    for _, pages, marks in planned():
        kinds |= {m.kind for m in marks}
        for mark in marks:
            assert mark.box[2] > 0
            assert mark.box[0] < pages[0].width
            assert 0 <= mark.box[1] < pages[0].height
    assert kinds == set(DRAW)


@pytest.mark.parametrize(
    "mark",
    [
        Mark("company_seal", 1, (20, 20, 40, 40), "株式会\n社ヌケ\n之印", 0.8, 5.0),
        Mark("personal_seal", 1, (20, 20, 30, 30), "髙橋", 0.8),
        Mark("stamp", 1, (20, 20, 46, 46), "資材部\n26.4.1\n受領", 0.8),
        Mark("tick", 1, (20, 20, 26, 25), density=0.9),
        Mark("strike", 1, (20, 20, 40, 24), "2026/4/1", 0.9, beside=(42, 19, 70, 25)),
    ],
    ids=lambda m: m.kind,
)
def test_marks_darken_their_box_and_nothing_else(mark):
    paper = plate_of(np.full((600, 800), 255, np.uint8), 8.0)
    out = run((Marks((mark,)),), paper, 0)
    dark = np.argwhere(out.image < 200)
    assert len(dark) > 50
    boxes = [mark.box] + ([mark.beside] if mark.beside else [])
    inside = np.zeros(out.image.shape, bool)
    for left, top, right, bottom in boxes:
        x0, y0, x1, y1 = (round(v * 8) for v in (left, top, right, bottom))
        inside[y0 - 1 : y1 + 2, x0 - 1 : x1 + 2] = True
    assert inside[dark[:, 0], dark[:, 1]].all()
    assert len(out.traces) == len(boxes)
    assert run((Marks((mark,)),), plate_of(paper.image, 8.0, number=2), 0).traces == ()


def test_ink_never_lightens_print():
    print_ = np.full((600, 800), 255, np.uint8)
    print_[200:220] = 0
    mark = Mark("personal_seal", 1, (20, 20, 30, 30), "髙橋", 0.8)
    out = run((Marks((mark,)),), plate_of(print_, 8.0), 0)
    assert (out.image <= print_).all()


def test_a_struck_value_is_replaced_in_truth_and_transcription():
    for seed in range(80):
        sheet = make_sheet(seed, severity=0, layout="full_grid", lines=(3, 4))
        (strike,) = [m for m in sheet.marks if m.kind == "strike"] or [None]
        if strike is None:
            continue
        assert sheet.truth.struck[strike.ref]
        if strike.ref == Ref("due_date"):
            assert sheet.truth.fields["due_date"] == strike.value
            assert strike.value != sheet.content.due_date.isoformat()
        else:
            row = sheet.truth.rows[strike.ref.row]
            assert row["quantity"] == int(strike.value)
        assert strike.text in sheet.truth.markdown[0]
        bare = make_sheet(seed, severity=0, layout="full_grid", lines=(3, 4), marks=False)
        assert bare.truth.struck == {}
        return
    pytest.fail("no sheet had a correction")


def test_handwriting():
    lines = strokes(WRITABLE, np.random.default_rng(0))
    points = np.vstack(lines)
    assert points[:, 1].min() > -0.3
    assert points[:, 1].max() < 1.3
    assert points[:, 0].max() < 0.75 * len(WRITABLE)
    with pytest.raises(KeyError):
        strokes("A", np.random.default_rng(0))
