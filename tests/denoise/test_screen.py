from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from ocr_pipeline.denoise.screen import Frame, screen
from ocr_pipeline.denoise.view import View, fold
from ocr_pipeline.engines.events import Event

FRAME = Frame("発注.tif", "scripted", "Ctrl-C stops")
ABOUT = {"canvas": 1, "canvases": 8, "entropy": 1.25, "tokens": 9, "tokens_per_second": 81.25}


def plain(view, width=100, height=20, frame=FRAME):
    lines = [line.plain for line in screen(view, frame, width, height)]
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    return lines


def test_what_is_read_by_what_and_for_how_long(make):
    head, *_, foot = plain(make.seen(make.begun(), make.step(1)))
    assert head.startswith("発注.tif · x · page 1 ")
    assert head.endswith(" 1.0 s")
    assert foot.strip() == "Ctrl-C stops"
    assert "発注.tif · scripted · page 1" in plain(View())[0]
    tiles = make.begun("lines", [make.box(0, 0), make.box(0, 20)])
    assert "x · 2 lines · page 1" in plain(make.seen(tiles))[0]


def test_how_far_a_run_is(make):
    view = make.seen(make.committed("発注"), make.step(12, **ABOUT), make.draft("書"))
    lines = plain(view)
    assert lines[2].startswith(
        "run 0  canvas 2/8  step 12/48  ━━━╌╌╌╌╌╌╌╌╌  entropy 1.250   81.2 tok/s ─"
    )
    assert lines[3].rstrip() == "発注書"


@pytest.mark.parametrize(
    ("width", "heading"),
    [
        (64, "run 0  canvas 2/8  step 12/48  entropy 1.250   81.2 tok/s"),
        (50, "run 0  canvas 2/8  step 12/48  entropy 1.250"),
        (40, "run 0  step 12/48  entropy 1.250"),
        (20, "run 0  step 12/48"),
        (8, "run 0"),
    ],
)
def test_a_narrow_heading_keeps_what_matters(make, width, heading):
    line = plain(make.seen(make.step(12, **ABOUT)), width)[2]
    assert line.rstrip(" ─") == heading


def test_a_step_without_details(make):
    view = make.seen(Event("step", data={"step": 3}))
    assert plain(view)[2].startswith("run 0  step 3/? ─")


def test_a_number_nobody_knows_is_left_out(make):
    view = make.seen(make.step(3, entropy=None, tokens_per_second=0.0))
    heading = plain(view)[2]
    assert "entropy" not in heading
    assert "tok/s" not in heading


def test_how_a_run_ended(make):
    stats = {"new_tokens": 512.0, "steps": 40.0, "tokens_per_second": 81.25, "x": 1.0}
    lines = plain(make.seen(make.committed("a"), make.done(stats=stats)))
    assert lines[2].startswith("run 0  ✓ ok  512 tokens  40 steps  81.2 tok/s ─")
    assert "! looping" in plain(make.seen(make.done(status="looping")))[2]
    broken = Event("error", data={"error": "it\x1b broke", "remedy": ""})
    lines = plain(make.seen(make.committed("a"), broken, make.done(status="failed")))
    assert "✗ failed" in lines[2]
    assert [line.rstrip() for line in lines[3:5]] == ["a", "it· broke"]


def test_before_anything_is_known(make):
    assert "looking at the page" in plain(View())[2]
    assert "waiting: 3 before us" in plain(make.seen(Event("queued", data={"position": 3})))[2]


def test_a_long_text_shows_the_canvas_that_forms(make):
    long = "".join(f"line {i}\n" for i in range(90))
    lines = plain(make.seen(make.committed(long), make.draft("noise\nmore noise")), height=12)
    assert [line.strip() for line in lines[3:11]] == [
        *(f"line {i}" for i in range(85, 90)),
        "noise",
        "more noise",
        "",
    ]
    tall = "\n".join(f"noise {i}" for i in range(50))
    lines = plain(make.seen(make.committed(long), make.draft(tall)), height=12)
    assert [line.strip() for line in lines[3:5]] == ["noise 0", "noise 1"]


def test_runs_side_by_side_where_there_is_room(make):
    view = make.seen(make.committed("発注A", 0), make.committed("発注B", 1))
    wide = plain(view, 100)
    assert [" ".join(x.split()) for x in wide[3].split("│")] == ["発注A", "発注B"]
    narrow = plain(view, 80, 20)
    assert [i for i, line in enumerate(narrow) if line.startswith("run")] == [2, 11]
    assert narrow[3].rstrip() == "発注A"
    assert narrow[12].rstrip() == "発注B"


def test_runs_that_find_no_room_are_counted(make):
    view = make.seen(*(make.committed(str(i), i) for i in range(9)))
    lines = plain(view, 45, 15)
    assert sum(line.startswith("run") for line in lines) == 3
    assert lines[-1].startswith("6 more runs find no room here · Ctrl-C stops")


def test_five_runs_in_a_grid(make):
    view = make.seen(*(make.committed(str(i), i) for i in range(5)))
    lines = plain(view, 100, 23)
    assert [line.count("run ") for line in lines if "run " in line] == [2, 2, 1]


def test_heat_says_what_its_colours_mean(make):
    frame = FRAME._replace(heat=True)
    text = screen(make.seen(make.draft("a", entropy=[9.0])), frame, 100, 20)
    assert text[-1].plain.endswith("nats 0.1–0.5 0.5–1.5 1.5–3 > 3")
    assert "color(167)" in {str(s.style) for s in text[3].spans}
    assert "nats" not in plain(View())[-1]


def test_a_prompt_of_many_lines_is_one_title(make):
    assert plain(View(), frame=Frame("なぜ\nですか"))[0].startswith("なぜ ですか")


SIZES = st.tuples(st.integers(1, 140), st.integers(1, 30))
ANY = st.text(st.sampled_from("発注|a \n・\x1b\u3099👨\u200d"), max_size=40)
EVENTS = st.one_of(
    st.builds(
        lambda run, tile, text: Event("committed", run, tile=tile, data={"text": text}),
        st.integers(0, 6),
        st.integers(0, 3),
        ANY,
    ),
    st.builds(
        lambda run, text, e: Event(
            "draft", run, data={"text": text, "entropy": [e], "changed": [0, 99]}
        ),
        st.integers(0, 6),
        ANY,
        st.floats(0, 20),
    ),
    st.builds(
        lambda run, n: Event("step", run, data={"step": n}), st.integers(0, 6), st.integers()
    ),
    st.builds(lambda e: Event("error", data={"error": e}), ANY),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(EVENTS, max_size=12), SIZES, st.booleans())
def test_whatever_happens_it_fits(events, size, heat):
    view = View()
    for event in events:
        view = fold(view, event)
    plain(view, *size, frame=FRAME._replace(heat=heat))
