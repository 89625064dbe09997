from __future__ import annotations

import pytest
from pydantic import ValidationError

from ocr_pipeline.denoise.view import Tile, View, fold
from ocr_pipeline.engines.base import ReadingStatus
from ocr_pipeline.engines.events import Event


def test_a_draft_stands_after_what_is_committed_and_gives_way_to_it(make):
    events = [
        make.committed("発注", confidence=[1.0, 0.5]),
        make.draft("書ロ", entropy=[0.1, 3.0], changed=[1]),
    ]
    lane = make.lane(*events)
    assert lane.tiles == {0: Tile("発注", (1.0, 0.5), "書ロ", (0.1, 3.0), frozenset({1}))}
    assert lane.final == "発注"
    lane = make.lane(*events, make.committed("書\n", confidence=[0.9, 1.0]))
    assert lane.tiles == {0: Tile("発注書\n", (1.0, 0.5, 0.9, 1.0))}


def test_what_nobody_said_is_unknown(make):
    tile = make.lane(make.committed("ab"), make.draft("cde", entropy=[1.0])).tiles[0]
    assert tile.confidence == (None, None)
    assert tile.entropy == (1.0, None, None)
    assert make.lane(make.draft("c", entropy=[1.0, 2.0])).tiles[0].entropy == (1.0,)


def test_runs_and_tiles_do_not_mix(make):
    view = make.seen(
        make.begun("bands", [make.box(0, 0), make.box(0, 50)], runs=(0, 1)),
        make.committed("b", 1, 1),
        make.committed("a", 1, 0),
        make.draft("c", 0, 1),
    )
    (zero, first), (one, second) = view.runs()
    assert (zero, one) == (0, 1)
    assert (first.tiles[1].draft, second.final) == ("c", "a\nb")
    assert (view.engine, view.tiling, view.tiles) == ("x", "bands", 2)


def test_a_page_that_is_announced_per_run_forgets_nothing(make):
    view = make.seen(
        make.begun(runs=(0, 1)), make.committed("a"), Event("page", 1, data={"runs": [0, 1]})
    )
    assert view.lanes[1, 0].final == "a"


def test_the_last_page_is_shown(make):
    view = make.seen(make.committed("a"), Event("committed", page=2, data={"text": "b"}))
    assert [lane.final for _, lane in view.runs()] == ["b"]
    assert view.lanes[1, 0].final == "a"


def test_the_end(make):
    lane = make.lane(
        make.committed("a"),
        make.draft("b"),
        make.done(status="incomplete", text="a", stats={"s": 1}),
    )
    assert lane.tiles == {0: Tile("a", (None,))}
    assert (lane.end.status, lane.final) == (ReadingStatus.INCOMPLETE, "a")
    assert make.lane(make.committed("a|"), make.done(text="joined")).final == "joined"


def test_an_error_and_its_remedy(make):
    lane = make.lane(
        Event("error", data={"error": "no", "remedy": "do"}), make.done(status="failed")
    )
    assert (lane.broken.error, lane.broken.remedy) == ("no", "do")
    assert lane.end.status is ReadingStatus.FAILED


def test_waiting_is_over_with_the_next_event(make):
    waiting = make.seen(Event("queued", data={"position": 3}))
    assert (waiting.queued, waiting.runs()) == (3, [])
    assert fold(waiting, make.begun(), 9.0).queued == 0
    assert fold(waiting, Event("queued", data={"position": 0})).queued == 0


def test_time_is_that_of_the_last_event(make):
    assert make.seen(make.step(1), make.step(2)).seconds == 1.0


def test_an_event_that_carries_nothing_is_refused():
    with pytest.raises(ValidationError):
        fold(View(), Event("draft"))


class TestLayout:
    def test_words_stand_as_on_the_page(self, make):
        words = [("個", 90, 31), ("ボルト", 0, 30), ("発注書", 40, 0), ("10", 45, 29)]
        event = Event(
            "words",
            data={
                "words": [
                    {"text": t, "quad": make.box(x, y, 30), "confidence": 0.5} for t, x, y in words
                ]
            },
        )
        lane = make.lane(event)
        assert lane.final == "発注書\nボルト  10  個"
        assert lane.tiles[0] == Tile("個", (0.5,))

    def test_words_that_come_later_join_them(self, make):
        def word(text, x, y):
            return Event("words", data={"words": [{"text": text, "quad": make.box(x, y, 30)}]})

        assert make.lane(word("b", 0, 30), word("c", 40, 30), word("a", 0, 0)).final == "a\nb  c"

    @pytest.mark.parametrize("turn", [1, 2, 3])
    def test_a_page_that_lay_turned(self, make, turn):
        words = []
        for text, x, y in (("上", 0, 0), ("左下", 0, 30), ("右下", 50, 30)):
            quad = make.box(x, y)
            for _ in range(turn):  # stored clockwise of upright, on a page 100 high
                quad = [[100 - b, a] for a, b in quad]
            words.append({"text": text, "quad": quad})
        lane = make.lane(Event("words", data={"words": words}))
        assert lane.final == "上\n左下  右下"

    def test_tiles_that_are_lines_stand_as_on_the_page(self, make):
        page = make.lines_page("abcd")
        lane = make.lane(page, make.committed("右", tile=1), make.committed("左", tile=0))
        assert lane.final == "左  右\n"
        assert list(map(list, lane.lines)) == [[0, 1], [2, 3]]

    def test_words_of_such_tiles_are_not_shown_twice(self, make):
        page = make.lines_page("ab")
        word = Event("words", data={"words": [{"text": "a", "quad": make.box(0, 0)}]})
        assert make.lane(page, make.committed("a"), word).final == "a"

    def test_other_tiles_do_not_stand_side_by_side(self, make):
        page = make.begun("bands", [make.box(0, 0), make.box(50, 0)])
        assert make.lane(page, make.committed("a"), make.committed("b", tile=1)).final == "a\nb"

    def test_no_words_at_all(self, make):
        assert make.lane(Event("words", data={"words": []})).final == ""
