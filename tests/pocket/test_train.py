from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pylopdf_fonts_jp")

from ocr_pipeline.engines.diffusion_generate import prefill, prompt_inputs
from ocr_pipeline.errors import InputError, UsageError
from ocr_pipeline.pocket.build import TINY
from ocr_pipeline.pocket.checkpoint import CURVE, STATE
from ocr_pipeline.pocket.data import Batch, Course, batches, chunk_batches
from ocr_pipeline.pocket.keep import keep, open_model
from ocr_pipeline.pocket.losses import ColumnReader, Prompt, corrupt
from ocr_pipeline.pocket.optim import Rates, blend, set_rates
from ocr_pipeline.pocket.tokenizer import SPECIALS
from ocr_pipeline.pocket.train import Sitting, main, train
from ocr_pipeline.pocket.trainer import Settings, Trainer, patches

COURSE = Course(seed=1, pages=1, sheets=0.0, easy=0, batch=16, pool="packaged")
SETTINGS = Settings(TINY, COURSE, replace(Rates(), warm_up=5, average=0.9))
BELOW = 6.5
"""The loss that 60 steps of the smallest model must reach; it begins at ln(3547) = 8.2."""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def made_up(count: int = 8, width: int = 128, seed: int = 0) -> Batch:
    images = np.random.default_rng(seed).integers(0, 256, (count, 32, width)).astype(np.uint8)
    texts = tuple("東京都1,200"[: 2 + i % 5] for i in range(count))
    places = np.random.default_rng(seed).integers(-1, 2, (count, width // 16)).astype(np.int16)
    return Batch(images, texts, places, 0, seed)


def same(one: Trainer, two: Trainer) -> bool:
    return all(
        torch.equal(a, b)
        for name in one.modules
        for a, b in zip(
            one.modules[name].state_dict().values(),
            two.modules[name].state_dict().values(),
            strict=True,
        )
    )


def test_training_sees_what_generate_sees() -> None:
    trainer = Trainer(SETTINGS)
    batch = made_up(2)
    inputs = prompt_inputs(trainer.processor, list(batch.images), "", soft_tokens=70, resize=False)
    prompt, positions = trainer.prompt(128)
    assert torch.equal(prompt.ids.expand(2, -1), inputs["input_ids"])
    pixels = patches(batch.images, TINY.patch)
    assert torch.allclose(pixels, inputs["pixel_values"], atol=1e-6)
    trainer.model.eval()
    expected = prefill(trainer.model, inputs).cache
    with torch.no_grad():
        found = trainer.teacher.encode(prompt, pixels, positions)
    for a, b in zip(found.layers, expected.layers, strict=True):
        assert torch.allclose(a.keys[:, :, :-1], b.keys, atol=1e-4)
        assert torch.allclose(a.values[:, :, :-1], b.values, atol=1e-4)


def test_image_tokens_see_those_behind_them() -> None:
    """Called without masks the encoder hides them: the reason why `encode` makes its own."""
    trainer = Trainer(SETTINGS)
    prompt, positions = trainer.prompt(128)
    pixels = patches(made_up(1).images, TINY.patch)
    causal = Prompt(prompt.ids, torch.zeros_like(prompt.types))
    with torch.no_grad():
        seen, unseen = (trainer.teacher.encode(p, pixels, positions) for p in (prompt, causal))
    assert not torch.allclose(seen.layers[-1].keys[:, :, 3], unseen.layers[-1].keys[:, :, 3])


def test_a_resumed_run_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    trainer = Trainer(SETTINGS)
    for seed in range(3):
        trainer.step(made_up(seed=seed))
    trainer.save(tmp_path)
    resumed = Trainer.resumed(tmp_path)
    assert resumed.settings == SETTINGS
    assert resumed.progress == trainer.progress
    assert same(trainer, resumed)
    assert trainer.step(made_up(seed=3)) == resumed.step(made_up(seed=3))
    assert same(trainer, resumed)


def test_the_same_seed_learns_the_same_and_another_one_does_not() -> None:
    one, two = Trainer(SETTINGS), Trainer(SETTINGS)
    other = Trainer(replace(SETTINGS, seed=1))
    assert one.step(made_up()) == two.step(made_up()) != other.step(made_up())
    assert same(one, two)


def test_a_state_that_is_missing_or_damaged_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no training run"):
        Trainer.resumed(tmp_path)
    (tmp_path / STATE).write_bytes(b"no zip")
    with pytest.raises(InputError, match="damaged"):
        Trainer.resumed(tmp_path)


def test_a_state_of_another_shape_is_said_to_be(tmp_path: Path) -> None:
    trainer = Trainer(SETTINGS)
    trainer.reader.count = torch.nn.Linear(TINY.vision_hidden, 99)
    trainer.save(tmp_path)
    with pytest.raises(InputError, match="another version"):
        Trainer.resumed(tmp_path)


def test_a_new_run_does_not_overwrite_an_old_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / STATE).write_bytes(b"hours of work")
    assert main(["--out", str(tmp_path), "--size", "tiny"]) == UsageError.exit_code
    assert "--resume" in capsys.readouterr().err
    assert (tmp_path / STATE).read_bytes() == b"hours of work"


def test_training_stops_when_told_and_keeps_its_curve(tmp_path: Path) -> None:
    trainer = Trainer(SETTINGS)
    stream = (made_up(seed=i) for i in range(100))
    sitting = Sitting(tmp_path, minutes=10, report=2, check=0)
    train(trainer, sitting, stream, stop=lambda: trainer.progress.step == 4)
    with (tmp_path / CURVE).open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["step"], r["crops"]) for r in rows] == [("2", "16"), ("4", "32")]
    assert Trainer.resumed(tmp_path).progress.step == 4


def test_texts_end_and_are_padded_and_cut() -> None:
    trainer = Trainer(SETTINGS)
    short, long = trainer.texts(("計", "1" * 40)).tolist()
    assert short[1:] == [SPECIALS.index("<eos>")] + [0] * 14
    assert long[:15] == [long[0]] * 15
    assert long[15] == SPECIALS.index("<eos>")


def test_corruption_replaces_some_and_leaves_the_rest() -> None:
    texts = torch.full((4000, 10), 7)
    noisy, drawn = corrupt(texts, 50, torch.Generator().manual_seed(0))
    assert drawn.float().mean().item() == pytest.approx(2 / 3, abs=0.02)  # mean of √u
    assert (noisy[~drawn] == 7).all()
    assert (noisy[drawn] == 7).float().mean().item() == pytest.approx(1 / 50, abs=0.01)


def test_columns_that_are_asked_answer() -> None:
    torch.manual_seed(0)
    reader = ColumnReader(8, 2, vocabulary=20, canvas=16)
    patches = torch.randn(3, 2 * 5, 8)
    read, counted = reader(patches, torch.tensor([0, 7, 14]))
    assert (read.shape, counted.shape) == ((3, 20), (3, 16))
    other = patches.clone()
    other[1, 2] += 1.0  # upper half of the third column of the second crop
    again, _ = reader(other, torch.tensor([0, 7, 14]))
    assert (read != again).any(dim=1).tolist() == [False, True, False]


def test_columns_count_alike_whatever_fills_the_blocks() -> None:
    """127 of the 128 rows of the matrix product repeat a single column here."""
    batch = replace(made_up(), places=np.full((8, 8), -1, np.int16))
    losses = []
    for columns in ((1,), (1, 5)):
        batch.places[2] = -1
        batch.places[2, list(columns)] = 0
        losses.append(Trainer(SETTINGS).step(batch)["columns"])
    batch.places[2] = -1
    batch.places[2, 5] = 0
    other = Trainer(SETTINGS).step(batch)["columns"]
    assert losses[1] == pytest.approx((losses[0] + other) / 2, rel=1e-3)


def test_columns_learn_what_stands_there_and_where() -> None:
    trainer = Trainer(SETTINGS)
    blank = replace(made_up(), places=np.full((8, 8), -1, np.int16))
    nothing = trainer.step(blank)
    assert (nothing["columns"], nothing["places"]) == (0.0, 0.0)
    assert np.isfinite(nothing["loss"])
    found = [trainer.step(made_up()) for _ in range(20)]
    assert found[-1]["columns"] < found[0]["columns"]
    assert found[-1]["places"] < found[0]["places"]


def test_places_beyond_the_canvas_are_not_asked_for() -> None:
    trainer = Trainer(SETTINGS)
    assert trainer.places(np.array([[-1, 0, 14, 15, 30]], np.int16)).tolist() == [
        [-1, 0, 14, -1, -1]
    ]


def test_rates_warm_up_and_cool_down() -> None:
    weight = torch.nn.Parameter(torch.ones(2, 2))
    pair = [torch.optim.Muon([weight], lr=1.0), torch.optim.AdamW([weight], lr=1.0)]
    rates = Rates(muon=0.02, adam=0.002, warm_up=10)
    assert set_rates(pair, rates, 4) == 0.5
    assert [o.param_groups[0]["lr"] for o in pair] == [0.01, 0.001]
    assert set_rates(pair, rates, 500, cooling=0.25) == 0.25


def test_the_average_follows_at_once_and_then_slowly() -> None:
    model, average = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    torch.nn.init.ones_(model.weight)
    torch.nn.init.zeros_(average.weight)
    blend(average, model, 0.99, step=0)
    assert average.weight.item() == pytest.approx(0.9)
    torch.nn.init.zeros_(average.weight)
    blend(average, model, 0.99, step=10**6)
    assert average.weight.item() == pytest.approx(0.01)


def test_a_keeper_is_loaded_like_the_published_model(tmp_path: Path) -> None:
    trainer = Trainer(SETTINGS)
    trainer.step(made_up())
    trainer.save(tmp_path / "run")
    keep(tmp_path / "run", tmp_path / "weights")
    model, processor = open_model(str(tmp_path / "weights"))
    assert processor.tokenizer("計")["input_ids"] == trainer.processor.tokenizer("計")["input_ids"]
    kept, average = model.state_dict(), trainer.average.state_dict()
    assert all(torch.equal(kept[k].bfloat16(), average[k].bfloat16()) for k in average)


@pytest.mark.slow
def test_other_processes_make_the_data_and_a_run_finds_its_place() -> None:
    wanted = [b for chunk in (2, 3) for b in chunk_batches(COURSE, chunk)][1:]
    stream = batches(COURSE, chunk=2, index=1, makers=2)
    for batch, found in zip(wanted, stream, strict=False):
        assert (batch.chunk, batch.index) == (found.chunk, found.index)
        assert batch.texts == found.texts
        assert np.array_equal(batch.images, found.images)
    stream.close()


@pytest.mark.slow
def test_smoke(tmp_path: Path) -> None:
    """Sixty steps on real crops: the loss falls, and a run that was interrupted arrives as well."""
    course = [b for chunk in range(6) for b in chunk_batches(COURSE, chunk)][:60]
    assert len(course) == 60
    whole, first = Trainer(SETTINGS), Trainer(SETTINGS)
    losses = [whole.step(batch)["loss"] for batch in course]
    for batch in course[:30]:
        first.step(batch)
    first.save(tmp_path)
    second = Trainer.resumed(tmp_path)
    assert (second.progress.chunk, second.progress.index) == (
        course[29].chunk,
        course[29].index + 1,
    )
    for batch in course[30:]:
        second.step(batch)
    assert same(whole, second)
    assert np.mean(losses[-10:]) < BELOW < np.mean(losses[:3])
