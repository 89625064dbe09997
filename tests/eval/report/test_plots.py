import re
from xml.etree import ElementTree

from eval.report.plots import Line, bars, curves

LINES = [
    Line("all runs", [0, 1, 2], [0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [1.0, 0.9, 0.8]),
    Line("one run", [0, 1, 2], [0.8, 0.7, 0.6], [0.7, 0.6, 0.5], [0.9, 0.8, 0.7], whiskers=True),
    Line("as it should be", [0, 2], [1.0, 1.0], dashed=True),
    Line("flags", [1], [0.9], points=True),
]


def drawn(name="name"):
    return curves(name, LINES, x="severity", y="right", x_ticks=[0, 1, 2])


def test_the_same_drawing_is_the_same_text():
    assert drawn() == drawn()


def test_it_is_wellformed_and_takes_the_colours_of_the_page():
    svg = drawn()
    ElementTree.fromstring(svg)
    assert not re.findall(r"#[0-9a-f]{6}\b", svg)
    assert {"var(--ink)", "var(--soft)", "var(--line)", "var(--series-1)", "var(--series-2)"} <= {
        *re.findall(r"var\(--[\w-]+\)", svg)
    }
    assert "DejaVu" not in svg
    assert "IPAex" not in svg


def test_two_drawings_share_no_id():
    ids = [set(re.findall(r'id="([^"]+)"', drawn(name))) for name in ("a", "b")]
    assert ids[0]
    assert not ids[0] & ids[1]
    svg = drawn("a")
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= ids[0]
    assert set(re.findall(r'href="#([^"]+)"', svg)) <= ids[0]


def test_japanese_stays_text_and_nothing_of_it_is_markup():
    svg = bars(
        "pairs",
        ["カ → 力", "ガ → カ", "$ → <b>", "値 → 值", "😀 → \u0e01"],
        [5, 4, 3, 2, 1],
        x="times",
    )
    texts = [e.text for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("text")]
    assert {"カ → 力", "ガ → カ", "$ → <b>", "値 → 值", "😀 → \u0e01", "3"} <= set(texts)


def test_nothing_to_draw_is_an_empty_picture():
    ElementTree.fromstring(curves("none", [], x="x", y="y"))
    ElementTree.fromstring(curves("empty", [Line("none", [], [])], x="x", y="y"))
    ElementTree.fromstring(bars("bars", [], [], x="times"))


def test_a_second_unit_has_its_own_axis():
    cost = Line("seconds", [1, 2, 3], [2.0, 4.0, 6.0])
    svg = curves("cost", LINES[:1], x="k", y="right", second=("seconds a document", cost))
    assert "seconds a document" in svg
    assert "var(--series-4)" in svg
