from __future__ import annotations

import signal
import threading
import time
from contextlib import closing

import pytest

from ocr_pipeline.denoise.session import PATIENCE, Stop, live, replay, stop_on_interrupt
from ocr_pipeline.engines.event_log import Entry
from ocr_pipeline.engines.events import Event


def steps(count, pause=0.0, log=None):
    def work(emit, cancel):
        for n in range(count):
            if cancel():
                break
            time.sleep(pause)
            emit(Event("step", data={"step": n}))
            if log is not None:
                log.append((n, threading.current_thread().name))

    return work


class TestLive:
    def test_events_as_they_happen(self):
        began = time.perf_counter()
        entries, arrived = [], []
        for entry in live(steps(3, 0.05), Stop()):
            entries.append(entry)
            arrived.append(time.perf_counter() - began)
        assert [e.event.data["step"] for e in entries] == [0, 1, 2]
        seconds = [e.seconds for e in entries]
        assert seconds == sorted(seconds)
        assert seconds[0] >= 0.04
        assert arrived[0] < seconds[2]

    def test_the_engine_has_a_thread_of_its_own(self):
        log = []
        assert len(list(live(steps(2, log=log), Stop()))) == 2
        assert {name for _, name in log} == {"engine"}

    def test_a_stop_is_heard(self):
        stop = Stop()
        seen = []
        for entry in live(steps(1000, 0.005), stop):
            seen.append(entry)
            stop.set()
        assert len(seen) < 10

    def test_a_listener_that_leaves_stops_the_engine_within_a_step(self):
        log, stop = [], Stop()
        entries = live(steps(1000, 0.01, log), stop)
        next(entries)
        entries.close()
        assert stop()
        done = len(log)
        assert done <= 4
        time.sleep(0.05)
        assert len(log) == done  # close waited for it

    def test_a_listener_that_breaks_stops_it_too(self):
        log, stop = [], Stop()

        def listen():
            with closing(live(steps(1000, 0.01, log), stop)) as entries:
                for _ in entries:
                    raise BrokenPipeError

        with pytest.raises(BrokenPipeError):
            listen()
        assert stop()
        assert len(log) <= 4

    def test_nobody_stopped_what_ended_by_itself(self):
        stop = Stop()
        assert list(live(steps(0), stop)) == []
        assert not stop()


class TestReplay:
    ENTRIES = tuple(
        Entry(t, Event("step", data={"step": i})) for i, t in enumerate((0.0, 1.0, 3.0))
    )

    def times(self, speed, stop=None, stop_after=99):
        now, stop = [10.0], stop or Stop()
        slept = []

        def sleep(seconds):
            slept.append(seconds)
            now[0] += seconds

        shown = []
        for i, _ in enumerate(replay(self.ENTRIES, speed, stop, clock=lambda: now[0], sleep=sleep)):
            shown.append(now[0] - 10)
            if i + 1 == stop_after:
                stop.set()
        assert all(s <= PATIENCE for s in slept)
        return shown

    @pytest.mark.parametrize(
        ("speed", "times"), [(1, [0, 1, 3]), (2, [0, 0.5, 1.5]), (0.5, [0, 2, 6]), (0, [0, 0, 0])]
    )
    def test_when_things_happen(self, speed, times):
        assert self.times(speed) == pytest.approx(times)

    @pytest.mark.parametrize("speed", [0, 1])
    def test_a_stop_is_heard(self, speed):
        assert len(self.times(speed, stop_after=2)) == 2

    def test_a_stop_is_heard_while_it_waits(self):
        stop = Stop()
        entries = (Entry(0.0, self.ENTRIES[0].event), Entry(1e9, self.ENTRIES[1].event))
        count = sum(1 for _ in replay(entries, 1, stop, sleep=lambda _: stop.set()))
        assert count == 1


class TestInterrupt:
    def test_the_first_asks_and_the_second_breaks_off(self):
        before = signal.getsignal(signal.SIGINT)
        with stop_on_interrupt() as stop:
            assert not stop()
            signal.raise_signal(signal.SIGINT)
            assert stop()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is before
