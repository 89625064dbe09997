from __future__ import annotations

from ocr_pipeline.denoise.lines import lines
from ocr_pipeline.engines.event_log import Entry
from ocr_pipeline.engines.events import Event


def told(*events, **arguments):
    return list(lines((Entry(float(i), e) for i, e in enumerate(events)), **arguments))


def test_one_run(make):
    steps = [make.step(n, canvases=2, entropy=2.0, tokens_per_second=81.26) for n in range(1, 21)]
    assert told(
        make.begun(),
        *steps,
        make.committed("# 発注書\n| 品名"),
        make.draft("ロ"),
        make.step(3, canvas=1),
        make.committed(" | 数量 |\n合計"),
        make.done(text="…", stats={"new_tokens": 30.0, "steps": 23.0}),
    ) == [
        "page 1: x",
        "run 0 canvas 1 step 8/48 entropy 2.000 81.3 tok/s",
        "run 0 canvas 1 step 16/48 entropy 2.000 81.3 tok/s",
        "run 0 | # 発注書",
        "run 0 | | 品名 | 数量 |",
        "run 0 | 合計",
        "run 0 ok 30 tokens 23 steps",
    ]


def test_committed_lines_come_at_once(make):
    arrived = []

    def entries():
        for event in (make.committed("a\nb"), make.committed("c\n"), make.done()):
            yield Entry(0.0, event)
            arrived.append(None)

    when = [(line, len(arrived)) for line in lines(entries())]
    assert when == [("run 0 | a", 0), ("run 0 | bc", 1), ("run 0 ok", 2)]


def test_how_often_steps_are_told(make):
    def of(*numbers, **about):
        events = (make.step(n, steps=10, **about) for n in numbers)
        return [line.split()[5] for line in told(*events, every=4)]

    assert of(*range(1, 11)) == ["4/10", "8/10", "10/10"]
    assert of(1, 2, 3) == []
    assert of(4, 8, 4, 8) == ["4/10", "8/10"] * 2  # two batches of tiles
    assert of(10, 1, 2, 3, 4) == ["10/10", "4/10"]


def test_several_runs(make):
    assert told(
        make.begun(runs=(0, 1)),
        make.begun(runs=(0, 1)),
        make.committed("a\n", 1),
        make.committed("b\n", 0),
        make.done(0),
        make.done(1, status="looping"),
    ) == ["page 1: x, 2 runs", "run 1 | a", "run 0 | b", "run 0 ok", "run 1 looping"]


def test_tiles_say_which_they_are(make):
    page = make.begun("bands", [make.box(0, 0), make.box(0, 20)])
    assert told(page, make.committed("b\nc", tile=1), make.committed("a"), make.done()) == [
        "page 1: x, 2 bands",
        "run 0 tile 1 | b",
        "run 0 tile 0 | a",
        "run 0 tile 1 | c",
        "run 0 ok",
    ]


def test_tiles_that_are_lines_come_at_once_and_as_they_stand_at_the_end(make):
    events = [
        make.committed("右", tile=1),
        make.committed("左", tile=0),
        make.committed("下", tile=2),
    ]
    assert told(make.lines_page("abc"), *events, make.done()) == [
        "page 1: x, 3 lines",
        "run 0 tile 1 | 右",
        "run 0 tile 0 | 左",
        "run 0 tile 2 | 下",
        "run 0 | 左  右",
        "run 0 | 下",
        "run 0 ok",
    ]


def test_words(make):
    words = [{"text": t, "quad": make.box(x, 0, 30)} for t, x in (("b", 50), ("a", 0))]
    assert told(Event("words", data={"words": words}), make.done()) == ["run 0 | a  b", "run 0 ok"]


def test_waiting_and_errors(make):
    assert told(
        Event("queued", data={"position": 2}),
        Event("queued", data={"position": 0}),
        Event("error", data={"error": "it\nbroke\x1b", "remedy": "mend it"}),
        make.done(status="failed"),
    ) == ["waiting: 2 before us", "run 0 error: it broke· → mend it", "run 0 failed"]


def test_what_breaks_off_is_told_to_its_end(make):
    assert told(make.committed("a\nb"), make.draft("c")) == ["run 0 | a", "run 0 | b"]


def test_control_characters_do_not_get_through(make):
    assert told(make.committed("a\x1b[2J\r\n")) == ["run 0 | a·[2J·"]


def test_nothing():
    assert told() == []
