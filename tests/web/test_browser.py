"""The pages in a real Chromium (Debian's), driven by Playwright."""

import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from ocr_pipeline.batch.ledger import Entry, Ledger
from ocr_pipeline.batch.results import write_record
from ocr_pipeline.engines.event_log import read_log
from ocr_pipeline.engines.scripted import Script, ScriptedEngine
from ocr_pipeline.export.record import flag_count, from_json
from ocr_pipeline.pipeline import read_document
from ocr_pipeline.settings import Settings
from ocr_pipeline.web.choices import choose
from ocr_pipeline.web.documents import key_of
from ocr_pipeline.web.settings import EngineChoice, WebSettings

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "datasets" / "samples"
AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
NASTY = "<img src=x onerror=document.title='hit'>.png"


@pytest.fixture(scope="module")
def chromium(needs):
    program = needs("chromium", "chromium-browser", how="apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def samples(tmp_path_factory, scan):
    """The small scan, and one with a name that would be an element."""
    folder = tmp_path_factory.mktemp("samples")
    (folder / "small.png").write_bytes(scan.read_bytes())
    (folder / NASTY).write_bytes(scan.read_bytes())
    with Image.open(SAMPLES / "000_s0.png") as order:
        order.crop((0, 80, 1728, 860)).save(folder / "order.png", dpi=(204, 196))
    return folder


@pytest.fixture(scope="module")
def out(tmp_path_factory, samples, schema, order_text):
    """Results of a batch of two."""
    out = tmp_path_factory.mktemp("out")
    engine = ScriptedEngine([Script(order_text), Script(order_text.replace("1,850", "1,650"))])
    settings = Settings(schema, "scripted", runs=2)
    with Ledger(out / "ledger.sqlite") as ledger:
        for path in (samples / "small.png", samples / NASTY):
            record = read_document(path, path.name, engine, settings)
            record, name = write_record(out, record)
            sha = hashlib.sha256(path.read_bytes()).hexdigest()
            flags = flag_count(record)
            about = (
                path.name,
                str(path),
                sha,
                "x",
                record.status,
                "",
                1,
                1,
                flags,
                0.1,
                name,
                "2026-04-01T10:00",
            )
            ledger.put(Entry(*about))
    return out


@pytest.fixture(scope="module")
def site(serving, schema, samples, out, order_text):
    """A denoising engine that takes its time, the real box engine, and results."""
    scripts = [Script(order_text, steps=8, canvas=160, pause=0.05)]
    scripts.append(Script(order_text.replace("1,850", "1,650"), steps=8, canvas=160, pause=0.05))
    denoiser = EngineChoice("denoiser", lambda *_: ScriptedEngine(scripts))
    engines = [denoiser, *choose([("ppocr", "")], {})]
    with serving(WebSettings(engines, schema, samples=samples, out=out)) as served:
        yield served


@pytest.fixture
def tab(chromium, site):
    """Open a page; whatever it complains about fails the test."""
    contexts, complaints = [], []

    def open_tab(path="/", *, language="en-US", **more):
        context = chromium.new_context(
            base_url=site.url, locale=language, viewport=more.pop("viewport", DESKTOP), **more
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
        page.goto(path)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert complaints == []


DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 740}

WATCH = """() => {
  window.seen = [];
  const look = () => {
    const draft = [...document.querySelectorAll(".draft")].map((e) => e.textContent).join("");
    const committed = [...document.querySelectorAll(".lane:first-child .committed")]
      .map((e) => e.textContent).join("");
    const last = window.seen.at(-1);
    if (!last || last.draft !== draft || last.committed !== committed)
      window.seen.push({ t: performance.now(), draft, committed });
    requestAnimationFrame(look);
  };
  look();
}"""


def start(page, sample="small.png", engine="denoiser", runs=1):
    page.locator(f"label.sample:has-text({json.dumps(sample)})").click()
    page.select_option("#engine", engine)
    page.fill("#runs", str(runs))
    page.click("#start")


def finished(page):
    page.wait_for_selector("#report .report", state="attached")


class TestRead:
    def test_drafts_before_the_end_spread_over_time_and_committed_text_stays(self, tab):
        page = tab()
        page.evaluate(WATCH)
        start(page)
        finished(page)
        seen = page.evaluate("window.seen")
        drafts = [s for s in seen if s["draft"]]
        assert len({s["draft"] for s in drafts}) >= 10
        assert any(s["committed"] for s in drafts)  # a draft stands behind committed text
        times = [s["t"] for s in drafts]
        assert times[-1] - times[0] > 600
        for before, after in itertools.pairwise(seen):
            assert after["committed"].startswith(before["committed"])
        assert "PO-2026-0415" in seen[-1]["committed"]
        assert seen[-1]["draft"] == ""

    def test_draft_is_grey_and_committed_is_black(self, tab):
        page = tab()
        start(page)
        page.wait_for_function(
            """() => document.querySelector(".draft") &&
            document.querySelector(".committed")?.textContent"""
        )
        colours = page.evaluate(
            """() => [".draft", ".committed"]
            .map((s) => getComputedStyle(document.querySelector(s)).color)"""
        )
        grey, black = (sum(map(int, re.findall(r"\d+", c)[:3])) for c in colours)
        assert grey > black + 150

    def test_what_is_shown_of_the_work(self, tab):
        page = tab()
        start(page)
        page.wait_for_function(
            "() => /\\d \\/ 8/.test(document.querySelector('[data-meter=step] dd').textContent)"
        )
        assert float(page.inner_text("[data-meter=entropy] dd")) > 0
        assert int(page.inner_text("[data-meter=speed] dd")) >= 0
        assert "Reading page 1" in page.inner_text("#state")

    def test_stop_keeps_what_there_is(self, tab, site):
        page = tab()
        start(page)
        page.wait_for_function(
            "() => document.querySelector('.committed')?.textContent.length > 100"
        )
        page.click("#stop")
        finished(page)
        assert page.inner_text("#state") == "Stopped before the end"
        text = page.inner_text(".lane .committed")
        assert "発注書" in text
        assert "33,165" not in text
        assert page.is_visible("#start")

    def test_runs_side_by_side_with_their_differences(self, tab):
        page = tab()
        start(page, runs=2)
        finished(page)
        marked = page.eval_on_selector_all("mark.differs", "es => es.map((e) => e.textContent)")
        assert marked == ["8", "6"]
        boxes = [page.locator(".lane").nth(i).bounding_box() for i in (0, 1)]
        assert boxes[1]["x"] > boxes[0]["x"] + 100
        page.uncheck("#differences")
        assert page.locator("mark.differs").count() == 0

    def test_replay(self, tab):
        page = tab()
        start(page)
        finished(page)
        slider = page.locator("#moment")
        slider.focus()
        page.keyboard.press("Home")
        first = page.inner_text(".lane .draft")
        assert first
        page.keyboard.press("ArrowRight")
        assert page.inner_text(".lane .draft") != first
        page.keyboard.press("End")
        assert page.locator(".draft").count() == 0
        assert "33,165" in page.inner_text(".lane .committed")
        page.keyboard.press("Home")
        page.click("#play")
        page.wait_for_function("() => document.getElementById('moment').value > 3")
        page.click("#play")
        at = slider.input_value()
        time.sleep(0.3)
        assert slider.input_value() == at

    def test_doubt_as_colour(self, tab):
        page = tab()
        start(page)
        page.check("#heat")
        page.wait_for_selector(".draft .h4, .draft .h5", state="attached")
        finished(page)
        assert page.is_visible("#heat-legend")

    def test_downloads(self, tab, tmp_path):
        page = tab()
        start(page)
        finished(page)
        saved = {}
        for link in page.locator("#downloads a").all():
            with page.expect_download() as download:
                link.click()
            path = tmp_path / download.value.suggested_filename
            download.value.save_as(path)
            saved[path.name.removeprefix("small.png.")] = path
        assert set(saved) == {"md", "json", "orders.csv", "lines.csv", "review.csv", "events.jsonl"}
        record = from_json(saved["json"].read_text(encoding="utf-8"))
        assert record.orders[0].fields["order_no"].value == "PO-2026-0415"
        assert "| No |" in saved["md"].read_text(encoding="utf-8")
        assert saved["orders.csv"].read_bytes().startswith(b"\xef\xbb\xbf")
        log = read_log(saved["events.jsonl"])
        assert log.complete
        assert {e.event.kind for e in log.entries} >= {"draft", "committed", "step", "done"}

    def test_a_second_visitor_sees_the_line(self, tab):
        first, second = tab(), tab()
        start(first, runs=2)
        first.wait_for_selector(".draft", state="attached")
        start(second)
        second.wait_for_function(
            "() => /Waiting: 1 /.test(document.getElementById('state').textContent)"
        )
        finished(first)
        finished(second)

    def test_a_closed_tab_stops_it(self, tab, site):
        page = tab()
        start(page, runs=8)
        page.wait_for_selector(".draft", state="attached")
        page.close()
        site.wait(lambda: not site.state.jobs, 2)

    def test_a_name_is_text(self, tab):
        page = tab()
        page.locator("label.sample", has_text="onerror").click()
        page.click("#start")
        finished(page)
        assert page.inner_text(".source") == NASTY
        assert page.title() != "hit"
        assert page.locator("img[src=x]").count() == 0

    def test_a_file_of_ones_own(self, tab, scan):
        page = tab()
        page.set_input_files("#file", scan)
        assert scan.name in page.inner_text("#chosen")
        page.click("#start")
        finished(page)
        assert page.inner_text(".source") == scan.name

    def test_a_dropped_file(self, tab, scan):
        page = tab()
        data = page.evaluate_handle(
            """(bytes) => { const d = new DataTransfer();
            d.items.add(new File([new Uint8Array(bytes)], "dropped.png")); return d; }""",
            list(scan.read_bytes()),
        )
        page.dispatch_event("#drop", "drop", {"dataTransfer": data})
        assert "dropped.png" in page.inner_text("#chosen")

    def test_the_box_engine(self, tab):
        page = tab()
        page.evaluate(
            """() => { window.counts = new Set(); new MutationObserver(() =>
            window.counts.add(document.querySelectorAll('polygon.word').length))
            .observe(document.querySelector('.boxes'), { childList: true }); }"""
        )
        start(page, "order.png", "ppocr")
        page.wait_for_selector("#report .report", state="attached", timeout=60_000)
        assert len(page.evaluate("[...window.counts].filter((n) => n > 0)")) > 2
        assert page.locator("polygon.value").count() > 10
        assert int(page.inner_text("[data-meter=count] dd")) > 30
        button = page.locator("#report button.value").first
        button.click()
        assert page.locator("polygon.now").count() == 1


class TestDiffusionGemma:
    """With real weights: the checkpoint that knows three pages by heart."""

    MODEL = Path(__file__).parents[1] / "data" / "three_pages"

    @pytest.fixture(scope="class")
    @staticmethod
    def sheet(tmp_path_factory):
        folder = tmp_path_factory.mktemp("sheets")
        wish = "sheets -n 1 --severity 0 --lines 2-3 --layout full_grid --seed 11 --out"
        command = [sys.executable, "-m", "ocr_pipeline.cli", *wish.split(), str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        return folder / "0000_s0.tif"

    def test_noise_becomes_text(self, chromium, serving, schema, sheet):
        torch = pytest.importorskip("torch")
        torch.set_num_threads(1)  # the model is tiny, and tests run side by side
        engines = choose([("diffusiongemma", str(self.MODEL))], {"diffusiongemma": {}})
        with serving(WebSettings(engines, schema)) as served:
            page = chromium.new_page(base_url=served.url, locale="ja-JP")
            page.goto("/")
            page.evaluate(WATCH)
            page.set_input_files("#file", sheet)
            page.fill("#runs", "2")
            page.click("#start")
            page.wait_for_selector("#report .report", state="attached", timeout=180_000)
            seen = page.evaluate("window.seen")
            drafts = [s for s in seen if s["draft"]]
            assert len({s["draft"] for s in drafts}) >= 5
            assert drafts[-1]["t"] - drafts[0]["t"] > 300
            for before, after in itertools.pairwise(seen):
                assert after["committed"].startswith(before["committed"])
            assert "2601-508" in seen[-1]["committed"]
            assert "2601-508" in page.inner_text("#report .fields")
            assert page.locator(".lane").count() == 2
            assert float(page.inner_text("[data-meter=entropy] dd")) >= 0
            page.close()


STATE = """async () => {
  const { emptyState, fold, charactersOf, linesOf, spokenWords } = await import("/static/state.js");
  const at = (x, y) => [[x, y], [x + 50, y], [x + 50, y + 20], [x, y + 20]];
  const event = (kind, data, tile = 0) => ({ kind, data, run: 0, page: 1, tile });
  const words = [["b", at(200, 6)], ["a", at(10, 0)], ["c", at(10, 60)]]
    .map(([text, quad]) => ({ text, quad }));
  const boxes = fold(emptyState(), event("words", { words }));
  const lines = fold(emptyState(), event("committed", { text: "一行目" }, 1));
  fold(lines, event("words", { words: [{ text: "一行目", quad: at(0, 0) }] }, 1));
  fold(lines, event("draft", { text: "草𠮷", changed: [1] }, 0));
  const text = (state) => charactersOf(state.runs.get(0), new Map()).join("");
  const turned = linesOf(words, { angle: 180, ratio: 1 });
  return [text(boxes), text(lines), turned.map((l) => l.map((w) => w.text).join("")).join("|")];
}"""

DIFF = """async () => {
  const { differences } = await import("/static/diff.js");
  const marks = (a, b) => differences([...a], [...b]).map((s) => [...s]);
  return [
    marks("同じ\\n行", "同じ\\n行"), marks("", ""), marks("abc", ""),
    marks("x\\n1,850\\ny", "x\\n1,650\\ny"), marks("a\\nb\\nc", "a\\nc"),
  ];
}"""


class TestScripts:
    def test_events_become_text(self, tab):
        boxes, lines, turned = tab().evaluate(STATE)
        assert boxes == "a  b\nc\n"  # sorted into lines, by their place
        assert lines == "草𠮷\n一行目\n"  # tiles in order; their words are not said twice
        assert turned == "c|ba"

    def test_differences(self, tab):
        same, empty, all_of_it, one, line = tab().evaluate(DIFF)
        assert same == empty == [[], []]
        assert all_of_it == [[0, 1, 2], []]
        assert one == [[4], [4]]
        assert line == [[2], []]


class TestRefusals:
    def test_a_text_that_is_called_tif(self, chromium, site, tmp_path):
        path = tmp_path / "order.tif"
        path.write_text("not a scan")
        page = chromium.new_page(base_url=site.url, locale="en-US")
        page.goto("/")
        page.set_input_files("#file", path)
        page.click("#start")
        page.wait_for_selector("#problem:not([hidden])")
        assert "no file of a kind that is read" in page.inner_text("#problem")
        assert page.is_visible("#drop")
        page.close()

    def test_nothing_chosen(self, tab):
        page = tab()
        page.click("#start")
        assert page.inner_text("#problem") == "Choose a file or a sample"


class TestLanguages:
    def test_it_changes_while_a_reading_goes_on(self, tab):
        page = tab(language="ja-JP")
        assert page.inner_text("#start") == "読み取る"
        start(page)
        page.wait_for_selector(".draft", state="attached")
        page.click("text=English")
        assert page.inner_text("#stop") == "Stop"
        assert page.evaluate("document.documentElement.lang") == "en"
        finished(page)
        assert "Order" in page.inner_text("#report")
        page.click("text=日本語")
        assert "注文書" in page.inner_text("#report h2 >> nth=1")
        page.reload()
        assert page.inner_text("#start") == "読み取る"

    def test_results(self, tab):
        page = tab("/results", language="ja-JP")
        assert page.inner_text("h1") == "文書"
        page.click("text=English")
        assert page.inner_text("h1") == "Documents"


class TestResults:
    def test_list_filter_document(self, tab):
        page = tab("/results")
        assert page.locator("tbody tr").count() == 2
        assert NASTY in page.inner_text("tbody")
        page.fill("input[name=q]", "small")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelectorAll('tbody tr').length === 1")
        page.click("tbody a")
        page.wait_for_selector(".sheet:not([hidden])")
        assert "runs do not agree" in page.inner_text(".checks")
        page.wait_for_function("() => document.querySelector('.paper').naturalWidth > 0")

    def test_the_keyboard_moves_the_page(self, tab):
        page = tab(f"/results/{key_of('small.png')}")
        page.wait_for_selector(".sheet:not([hidden])")

        def place():
            return page.evaluate("document.querySelector('.sheet').style.transform")

        fitted = place()
        page.focus(".stage")
        for key in ("+", "ArrowLeft"):
            before = place()
            page.keyboard.press(key)
            assert place() != before
        page.keyboard.press("0")
        assert place() == fitted


class TestPhone:
    @pytest.mark.parametrize("path", ["/", "/results", f"/results/{key_of('small.png')}"])
    def test_nothing_is_wider_than_the_screen(self, tab, path):
        page = tab(path, viewport=PHONE, is_mobile=True, has_touch=True)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    def test_a_reading(self, tab):
        page = tab(viewport=PHONE, is_mobile=True, has_touch=True)
        start(page, runs=2)
        finished(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        boxes = [page.locator(s).bounding_box() for s in (".viewer", ".texts")]
        assert boxes[1]["y"] > boxes[0]["y"] + 200


class TestAccessible:
    """axe-core finds nothing serious. `npm install --prefix tests/web --no-save axe-core@4`"""

    @pytest.fixture(scope="class")
    @staticmethod
    def axe():
        if not AXE.is_file():
            reason = "axe-core is missing: npm install --prefix tests/web --no-save axe-core@4"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        return AXE.read_text(encoding="utf-8")

    @staticmethod
    def faults(page, axe):
        page.evaluate(axe)
        found = page.evaluate("axe.run().then((r) => r.violations)")
        return [
            (v["id"], v["help"], [n["html"][:120] for n in v["nodes"]][:3])
            for v in found
            if v["impact"] in ("serious", "critical")
        ]

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("path", ["/", "/results", f"/results/{key_of('small.png')}"])
    def test_pages(self, tab, axe, path, scheme):
        page = tab(path, color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_load_state("networkidle")
        assert self.faults(page, axe) == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_a_reading(self, tab, axe, scheme):
        page = tab(color_scheme=scheme, reduced_motion="reduce")
        start(page, runs=2)
        finished(page)
        page.check("#heat")
        assert self.faults(page, axe) == []
        page.locator("#moment").focus()
        page.keyboard.press("Home")  # drafts, too
        assert self.faults(page, axe) == []
        page.uncheck("#heat")
        assert self.faults(page, axe) == []

    def test_by_keyboard_alone(self, tab):
        page = tab()
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.name") == "sample":
                break
        page.keyboard.press("Space")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "start":
                break
        page.keyboard.press("Enter")
        finished(page)
