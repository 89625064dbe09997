"""The command as a user calls it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass

import pytest
from PIL import Image, ImageDraw

from ocr_pipeline import cli
from ocr_pipeline.denoise import command as denoise_command
from ocr_pipeline.engines.event_log import read_log

FORM = "# 発注書\n\n| 品名 | 数量 |\n|---|---|\n| ボルト | 10 |\n| ナット | 20 |\n"
SLOW = {"text": FORM, "steps": 400, "canvas": 16, "pause": 0.01}
FORMING = {"text": FORM, "steps": 10, "canvas": 24}


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs `ocr-pipeline denoise` in this process."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERMINAL_WIDTH", "200")

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["ocr-pipeline", "denoise", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture
def page(tmp_path):
    image = Image.new("L", (240, 160), 255)
    pen = ImageDraw.Draw(image)
    for x in range(40, 200, 30):
        pen.rectangle((x, 60, x + 18, 74), outline=0, width=3)
    image.save(tmp_path / "a.png", dpi=(200, 200))
    return tmp_path / "a.png"


@pytest.fixture
def replies(tmp_path):
    def write(*entries: object) -> tuple[str, ...]:
        path = tmp_path / "replies.json"
        path.write_text(json.dumps(entries), encoding="utf-8")
        return ("--engine", "scripted", "--model", str(path))

    return write


def texts(out: str, run: int = 0) -> str:
    """The text of a run in plain lines."""
    start = f"run {run} | "
    return "".join(x[len(start) :] + "\n" for x in out.splitlines() if x.startswith(start))


class TestPlain:
    def test_a_page(self, command, page, replies):
        done = command(page, *replies(FORMING))
        assert done.code == 0, done.err
        assert texts(done.out) == FORM
        lines = done.out.splitlines()
        assert lines[0] == "page 1: scripted"
        assert lines[1].startswith("run 0 canvas 1 step 8/10 entropy ")
        assert lines[-1] == "run 0 ok"
        assert "\x1b" not in done.out

    def test_runs_and_seeds(self, command, page, replies, tmp_path):
        log = tmp_path / "a.jsonl"
        done = command(page, *replies(FORMING, "other"), "--runs", 2, "--seed", 5, "--record", log)
        assert done.code == 0
        assert (texts(done.out), texts(done.out, 1)) == (FORM, "other\n")
        assert read_log(log).header.settings["seed"] == 5

    def test_a_prompt(self, command, replies):
        done = command("--prompt", "何個?", *replies("10 個"))
        assert (done.code, texts(done.out)) == (0, "10 個\n")

    def test_a_page_that_is_not_the_first(self, command, tmp_path, replies):
        pages = [Image.new("L", (240, 160), 255) for _ in range(3)]
        ImageDraw.Draw(pages[1]).rectangle((40, 60, 180, 80), outline=0, width=4)
        pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:], dpi=(200, 200))
        second = command(tmp_path / "a.tif", *replies("二"), "--page", 2)
        assert texts(second.out) == "二\n"
        third = command(tmp_path / "a.tif", *replies("三"), "--page", 3)
        assert (third.code, third.out) == (0, "run 0 blank\n")
        fourth = command(tmp_path / "a.tif", *replies("四"), "--page", 4)
        assert fourth.code == 2
        assert "has no page 4" in fourth.err
        assert "up to 3" in fourth.err

    @pytest.mark.parametrize(
        ("entries", "code"),
        [
            ([{"text": "a", "fault": "incomplete"}], 10),
            ([{"text": "a", "fault": "looping"}], 10),
            (["a", {"fault": "raise"}], 10),
            ([{"fault": "raise"}], 5),
        ],
    )
    def test_how_it_ended_is_the_exit_code(self, command, page, replies, entries, code):
        done = command(page, *replies(*entries), "--runs", 2)
        assert done.code == code
        assert ("the script says so" in done.err) == (code == 5)


class TestRecording:
    def test_a_replay_says_the_same(self, command, page, replies, tmp_path):
        log = tmp_path / "a.jsonl"
        done = command(page, *replies(FORMING, {"fault": "raise"}), "--runs", 2, "--record", log)
        again = command("--replay", log, "--speed", 0)
        assert again.out == done.out
        assert (done.code, again.code) == (10, 0)
        header = read_log(log).header
        assert (header.source, header.settings["engine"], header.settings["runs"]) == (
            "a.png",
            "scripted",
            2,
        )

    def test_a_prompt_is_in_it(self, command, replies, tmp_path):
        command("--prompt", "何個?", *replies("10"), "--record", tmp_path / "a.jsonl")
        assert read_log(tmp_path / "a.jsonl").header.settings["prompt"] == "何個?"

    def test_one_that_breaks_off(self, command, page, replies, tmp_path):
        log = tmp_path / "a.jsonl"
        command(page, *replies(FORMING), "--record", log)
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:25]) + lines[25][:30])
        again = command("--replay", log, "--speed", 0)
        assert again.code == 0
        assert texts(again.out).startswith("# 発注書\n")
        assert "run 0 ok" not in again.out
        assert "breaks off here" in again.err

    def test_at_its_own_speed(self, command, page, replies, tmp_path):
        log = tmp_path / "a.jsonl"
        command(page, *replies({"text": "ab", "steps": 4, "pause": 0.05}), "--record", log)
        for speed, least, most in (((), 0.2, 5.0), (("--speed", 2), 0.1, 5.0)):
            began = time.perf_counter()
            assert command("--replay", log, *speed).code == 0
            assert least <= time.perf_counter() - began < most

    def test_an_engine_that_cannot_start_leaves_the_old_one(
        self, command, page, replies, tmp_path, monkeypatch
    ):
        log = tmp_path / "a.jsonl"
        command(page, *replies("old"), "--record", log)
        before = log.read_bytes()
        done = command("--prompt", "x", "--engine", "ppocr", "--record", log)
        assert done.code == 2
        assert log.read_bytes() == before
        assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("arguments", "code", "message", "remedy"),
    [
        ([], 2, "not clear what to watch", "--prompt"),
        (["A", "--prompt", "x"], 2, "not clear what to watch", "give one"),
        (["A", "--replay", "x"], 2, "not clear what to watch", "give one"),
        (["A", "--speed", "2"], 2, "only a replay has a speed", "--speed"),
        (["--replay", "x", "--record", "y"], 2, "on record already", "--record"),
        (["--replay", "none.jsonl"], 3, "none.jsonl cannot be read", "--record"),
        (["--replay", "A"], 3, "a.png is no recording", "--record"),
        (["A", "--engine", "magic"], 2, "no engine 'magic'", "ppocr"),
        (["A", "--engine", "ppocr", "-O", "colour=red"], 2, "no option colour", "known:"),
        (["A", "--engine", "ppocr", "-O", "threads"], 2, "sets nothing", "key=value"),
        (["gone.png", "--engine", "ppocr"], 3, "gone.png", "→"),
        (["--prompt", "x", "--engine", "ppocr"], 2, "takes no prompt", "give a page"),
    ],
)
def test_what_cannot_work_says_what_to_do(
    command, page, tmp_path, monkeypatch, arguments, code, message, remedy
):
    monkeypatch.chdir(tmp_path)
    done = command(*(str(page) if a == "A" else a for a in arguments))
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert remedy in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("option", [("--runs", 0), ("--page", 0), ("--seed", -1), ("--speed", -1)])
def test_values_out_of_range(command, page, option):
    done = command(page, *option)
    assert done.code == 2
    assert f"Invalid value for '{option[0]}'" in done.err


class TestModel:
    def test_the_pocket_model_where_it_ships(self, monkeypatch, tmp_path):
        monkeypatch.setattr(denoise_command, "pocket_folder", lambda: None)
        with pytest.raises(cli.UsageError, match="no model is named") as caught:
            denoise_command.model_of("diffusiongemma", "")
        assert "--model" in caught.value.remedy
        monkeypatch.setattr(denoise_command, "pocket_folder", lambda: tmp_path)
        assert denoise_command.model_of("diffusiongemma", "") == "pocket"

    def test_what_is_named_stays(self):
        assert denoise_command.model_of("diffusiongemma", "folder") == "folder"
        assert denoise_command.model_of("ppocr", "") == ""


def test_help_teaches(command):
    done = command("--help")
    for word in ("PAGE", "--prompt", "--record", "--replay", "--speed", "--heat", "Exit code"):
        assert word in done.out


# --- as a program, on a terminal ---


class Terminal:
    """A program on a terminal of 90 × 24 cells."""

    def __init__(self, *arguments: object) -> None:
        self._end, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 90, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ocr_pipeline.cli", "denoise", *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""},
        )
        os.close(theirs)
        self.out = ""

    def read(self, until: str = "") -> str:
        """What it printed, up to a word or its end."""
        data = b""
        while not until or until.encode() not in data:
            try:
                data += os.read(self._end, 1 << 16)
            except OSError:  # it has ended
                break
        self.out += data.decode(errors="replace")
        return self.out

    def end(self) -> int:
        self.read()
        os.close(self._end)
        return self.process.wait(30)


LEAVE = "\x1b[?1049l"


@pytest.mark.slow
class TestTerminal:
    def test_it_forms_and_the_text_remains(self, page, replies):
        engine = replies({**FORMING, "pause": 0.1}, {**FORMING, "text": "別", "pause": 0.1})
        terminal = Terminal(page, *engine, "--runs", 2, "--heat")
        assert terminal.end() == 0
        screen, left = terminal.out.split(LEAVE)
        assert "a.png" in screen
        assert "step  3/10" in screen
        assert "entropy" in screen
        assert "nats" in screen
        lines = [line.rstrip() for line in left.splitlines()]
        assert "| ボルト | 10 |" in lines
        assert sum("run 0: ok" in line for line in lines) == 1
        assert "\x1b[?25h" in terminal.out  # the cursor is back

    def test_the_same_text_remains_once(self, page, replies):
        terminal = Terminal(page, *replies("同じ"), "--runs", 3)
        assert terminal.end() == 0
        left = terminal.out.split(LEAVE)[1]
        assert left.count("同じ") == 1
        assert "runs 0, 1, 2: ok" in left

    def test_control_c_stops_it_within_a_step(self, page, replies, tmp_path):
        log = tmp_path / "a.jsonl"
        terminal = Terminal(page, *replies(SLOW), "--record", log)
        terminal.read("step")
        terminal.process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        assert terminal.end() == 130
        assert time.perf_counter() - began < 5
        recorded = read_log(log)
        assert recorded.complete
        assert recorded.entries[-1].event.data["status"] == "incomplete"
        assert "Traceback" not in terminal.out

    def test_control_c_stops_a_replay(self, command, page, replies, tmp_path):
        log = tmp_path / "a.jsonl"
        command(page, *replies({"text": "ab", "steps": 2, "pause": 0.02}), "--record", log)
        terminal = Terminal("--replay", log, "--speed", 0.0001)
        terminal.read("replay of a.jsonl")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == 130

    def test_a_failure_is_told_after_the_screen(self, page, replies):
        terminal = Terminal(page, *replies({"fault": "raise"}))
        assert terminal.end() == 5
        assert "the script says so" in terminal.out.split(LEAVE)[1]


def test_a_pipe_that_closes_is_a_quiet_end(command, page, replies, tmp_path):
    log = tmp_path / "a.jsonl"
    engine = replies(FORMING)
    command(page, *engine, "--record", log)
    for arguments in ((page, *engine), ("--replay", log, "--speed", "0")):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [sys.executable, "-m", "ocr_pipeline.cli", "denoise", *arguments],
            check=False,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(writer)
        assert done.returncode == 0
        assert done.stderr.strip() in ("", "loading scripted …")


@pytest.mark.slow
def test_a_pipe_that_closes_stops_the_engine(page, replies, tmp_path):
    log = tmp_path / "a.jsonl"
    engine = replies({**SLOW, "steps": 2000})
    process = subprocess.Popen(
        [sys.executable, "-m", "ocr_pipeline.cli", "denoise", page, *engine, "--record", log],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    began = time.perf_counter()
    error = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(30) == 0
    assert time.perf_counter() - began < 10
    assert "Traceback" not in error
    assert read_log(log).entries


@pytest.mark.slow
def test_a_page_that_ppocr_reads(command, tmp_path, drawing):
    image = drawing.text(drawing.blank(900, 300), (60, 60), "御注文書", 60)
    image = drawing.text(image, (60, 180), "六角穴付ボルト", 36)
    image = drawing.text(image, (560, 180), "120", 36)
    Image.fromarray(image).save(tmp_path / "a.png", dpi=(200, 200))
    done = command(tmp_path / "a.png", "--engine", "ppocr", "-O", "threads=1")
    assert texts(done.out).splitlines() == ["御注文書", "六角穴付ボルト  120"]
    assert done.out.endswith("run 0 ok\n")
