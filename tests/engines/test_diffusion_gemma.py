from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from ocr_pipeline.engines.base import ReadingStatus, RunsEngine
from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.diffusion_gemma import DiffusionGemmaEngine
from ocr_pipeline.engines.diffusion_generate import prompt_inputs
from ocr_pipeline.engines.diffusion_load import Loaded
from ocr_pipeline.engines.diffusion_processor import Gemma4ImageProcessorPil, PageProcessor
from ocr_pipeline.engines.diffusion_settings import DiffusionGemmaSettings
from ocr_pipeline.engines.event_data import data_of
from ocr_pipeline.engines.events import Event
from ocr_pipeline.engines.registry import prepare_engine
from ocr_pipeline.engines.tiles import tiles_of
from ocr_pipeline.errors import UsageError
from ocr_pipeline.pages.page import Ink, Page, Resolution

Gray = NDArray[np.uint8]
LINES = Card(
    tiling="lines",
    prompt="",
    soft_tokens=70,
    line_height=32,
    widths=(128, 256, 512),
    steps=2,
    canvases=1,
    unreadable="〓",
)
PAGE = Card(tiling="page", prompt="", soft_tokens=70, steps=3, canvases=2)


def engine(small: Any, card: Card, **options: Any) -> DiffusionGemmaEngine:
    loaded = Loaded(small.model, small.processor, card, "cpu", "float32", "small", 8)
    settings = DiffusionGemmaSettings(**{"most_canvases": card.canvases, **options})
    return DiffusionGemmaEngine(loaded, settings)


@pytest.fixture
def page(drawing: Any) -> Page:
    image = drawing.blank(600, 800)
    for i, text in enumerate(("発注書", "パハ 123", "abc-def 456")):
        image = drawing.text(image, (40, 60 + 240 * i), text, size=36)
    return Page(image, dpi=Resolution(200.0, 200.0), source="a.tif", number=2)


@pytest.mark.parametrize("runs", [1, 5])
@pytest.mark.parametrize("tiling", ["page", "bands", "lines"])
def test_every_tiling_once_and_five_times(small: Any, page: Page, tiling: str, runs: int) -> None:
    card = LINES if tiling == "lines" else replace(PAGE, tiling=tiling)  # type: ignore[arg-type]
    events: list[Event] = []
    reader = engine(small, card)
    seeds = list(range(10, 10 + runs))
    readings = reader.read_runs(page, runs=range(runs), seeds=seeds, emit=events.append)
    assert isinstance(reader, RunsEngine)
    assert [(r.run, r.seed, r.page, r.engine) for r in readings] == [
        (k, 10 + k, 2, "diffusiongemma") for k in range(runs)
    ]
    for reading in readings:
        stats = reading.stats
        assert stats["encoder_calls"] <= stats["tiles"]  # never one a run
        assert 0 < stats["image_tokens"] <= 70
        assert stats["prompt_tokens"] > stats["image_tokens"]
        assert stats["new_tokens"] <= 16 * stats["canvases"] <= 16 * card.canvases * stats["tiles"]
        assert stats["steps"] <= card.steps * stats["canvases"]
        assert stats["prefill_seconds"] > 0
        assert stats["denoise_seconds"] > 0
        assert (tiling == "lines") == bool(reading.words)
        assert len(reading.chars) == len(reading.raw)
        assert all(0 <= c.confidence <= 1 for c in reading.chars)
        for word in reading.words:
            assert all(-5 <= x <= 605 and -5 <= y <= 805 for x, y in word.quad)
    _check_events(events, readings, tiling)


def _check_events(events: list[Event], readings: Any, tiling: str) -> None:
    for event in events:
        assert data_of(event) is not None
        assert event.page == 2
    for reading in readings:
        mine = [e for e in events if e.run == reading.run]
        kinds = Counter(e.kind for e in mine)
        assert mine[0].kind == "page"
        assert mine[-1].kind == "done"
        assert kinds["page"] == kinds["done"] == 1
        assert len(mine[0].data["tiles"]) == reading.stats["tiles"]
        assert mine[0].data["tiling"] == tiling
        assert kinds["draft"] >= kinds["committed"] >= reading.stats["tiles"]
        assert mine[-1].data["status"] == reading.status
        for event in mine:
            if event.kind == "draft":
                assert len(event.data["entropy"]) == len(event.data["text"])
                assert all(k < len(event.data["text"]) for k in event.data["changed"])
            if event.kind == "step":
                assert 1 <= event.data["step"] <= event.data["steps"]
        if tiling == "page":
            said = "".join(e.data["text"] for e in mine if e.kind == "committed")
            assert said == reading.raw


def test_the_same_seeds_repeat_and_others_differ(small: Any, page: Page) -> None:
    reader = engine(small, PAGE)
    first = reader.read_runs(page, runs=[0, 1], seeds=[1, 2])
    again = reader.read_runs(page, runs=[0, 1], seeds=[1, 2])
    assert [r.raw for r in first] == [r.raw for r in again]
    assert [r.chars for r in first] == [r.chars for r in again]
    assert first[0].raw != reader.read(page, seed=3).raw


def test_pages_share_a_batch(small: Any, page: Page) -> None:
    other = replace(page, image=np.flipud(page.image).copy(), number=3)
    blank = replace(page, ink=Ink.BLANK, number=4)
    reader = engine(small, PAGE)
    calls: list[int] = []
    hook = small.model.model.encoder.vision_tower.register_forward_hook(
        lambda _m, args, _o: calls.append(1)
    )
    try:
        found = reader.read_pages([page, other, blank], runs=[0, 1], seeds=[0, 1])
    finally:
        hook.remove()
    assert len(calls) == 1
    assert [[r.page for r in runs] for runs in found] == [[2, 2], [3, 3], [4, 4]]
    assert all(r.status is ReadingStatus.BLANK for r in found[2])


def test_a_blank_page_is_not_shown_to_the_model(own_small: Any, page: Page) -> None:
    own_small.model.forward = None  # would break
    blank = replace(page, image=np.full((80, 60), 255, np.uint8), ink=Ink.BLANK)
    for card in (PAGE, LINES):
        (reading,) = engine(own_small, card).read_runs(blank, runs=[0], seeds=[0])
        assert reading.status is ReadingStatus.BLANK


def test_a_page_without_lines_has_nothing_to_read(small: Any) -> None:
    page = Page(
        np.full((400, 300), 255, np.uint8), dpi=Resolution(200.0, 200.0), source="a", number=1
    )
    reading = engine(small, LINES).read(page)
    assert reading.status is ReadingStatus.OK
    assert reading.words == ()
    assert reading.stats["tiles"] == 0


def always(small: Any, token: int, page: Page, **options: Any) -> Any:
    """What is read when the model says one token and nothing else."""
    vocabulary = small.model.config.text_config.vocab_size
    original = small.model.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        output = original(*args, **kwargs)
        output.logits = torch.full_like(output.logits, -20.0)
        output.logits[..., token % vocabulary] = 20.0
        return output

    small.model.forward = forward
    return engine(small, PAGE, **options).read(page)


def test_a_cut_reply_is_incomplete(own_small: Any, page: Page) -> None:
    token = own_small.processor.tokenizer.convert_tokens_to_ids("7")
    reading = always(own_small, token, page, canvases=1, most_canvases=1)  # too short for a loop
    assert reading.stats["new_tokens"] == 16
    assert reading.status is ReadingStatus.INCOMPLETE
    assert "budget" in reading.error


def test_a_page_of_a_4_fills_the_published_image_budget(small: Any) -> None:
    a4 = Page(np.full((2339, 1654), 255, np.uint8), dpi=Resolution(200.0, 200.0), source="a")
    card, side = Card(), 48
    assert card.soft_tokens == 1120
    (tile,) = tiles_of(a4, card.tiling, card=card, token_side=side)
    images = Gemma4ImageProcessorPil(pooling_kernel_size=3, max_soft_tokens=280)
    processor = PageProcessor(images, small.processor.tokenizer, small.processor.chat_template)
    inputs = prompt_inputs(processor, [tile.image], "a", soft_tokens=card.soft_tokens)
    count = int((inputs["input_ids"] == processor.image_token_id).sum())
    assert 1080 <= count <= 1120
    assert int((inputs["image_position_ids"] >= 0).all(-1).sum()) == 9 * count


def test_a_loop_is_told_and_not_fed(own_small: Any, page: Page) -> None:
    token = own_small.processor.tokenizer.convert_tokens_to_ids("7")
    reading = always(own_small, token, page, canvases=4, most_canvases=9)
    assert reading.status is ReadingStatus.LOOPING
    assert reading.stats["canvases"] == 4  # it got no more
    assert set(reading.raw) == {"7"}
    assert all(c.confidence > 0.99 for c in reading.chars)


def test_pads_only_failed(own_small: Any, page: Page) -> None:
    reading = always(own_small, 0, page)
    assert reading.status is ReadingStatus.FAILED
    assert "nothing" in reading.error


def test_an_end_at_once_failed_on_a_page_with_ink(own_small: Any, page: Page) -> None:
    reading = always(own_small, own_small.processor.tokenizer.eos_token_id, page)
    assert reading.status is ReadingStatus.FAILED
    assert reading.stats["steps"] <= 2  # sure and stable: it stops early


def test_cancelled_within_a_step(small: Any, page: Page) -> None:
    events: list[Event] = []
    reader = engine(small, LINES)
    readings = reader.read_runs(
        page,
        runs=[0, 1],
        seeds=[0, 1],
        emit=events.append,
        cancel=lambda: any(e.kind == "step" for e in events),
    )
    assert all(r.status is ReadingStatus.INCOMPLETE for r in readings)
    assert {e.data["step"] for e in events if e.kind == "step"} == {1}
    assert events[-1].kind == "done"


def test_a_doubtful_word_gets_a_second_look(small: Any, page: Page) -> None:
    once = engine(small, LINES).read(page, seed=1)
    twice = engine(small, LINES, second_look=1.0).read(page, seed=1)
    assert [w.text for w in once.words] == [w.text for w in twice.words]  # the first reading stays
    assert twice.stats["encoder_calls"] == once.stats["encoder_calls"]
    assert any(w.alternatives for w in twice.words)


def test_chat_answers_text(small: Any) -> None:
    events: list[Event] = []
    reading = engine(small, PAGE).chat("abc", seed=1, emit=events.append)
    assert reading.stats["image_tokens"] == 0
    assert {e.kind for e in events} == {"step", "draft", "committed", "done"}


@pytest.mark.parametrize(
    "options",
    [{"tiling": "stripes"}, {"steps": "0"}, {"soft_tokens": "100"}, {"t_min": "0.9"}, {"x": "1"}],
)
def test_options_are_checked_before_anything_is_loaded(options: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        prepare_engine("diffusiongemma", "nowhere", options)
