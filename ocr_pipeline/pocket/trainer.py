"""A training run in memory: the model, its running average, the optimisers, and one step."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ocr_pipeline.engines.diffusion_generate import prompt_inputs
from ocr_pipeline.pocket.build import POCKET, Shape, build_model, build_processor
from ocr_pipeline.pocket.checkpoint import STATE, Progress, load_state, read_state, save_state
from ocr_pipeline.pocket.crops import ROWS
from ocr_pipeline.pocket.data import Batch, Course
from ocr_pipeline.pocket.experts import use_blocks
from ocr_pipeline.pocket.losses import ColumnReader, Prompt, Teacher, Weights
from ocr_pipeline.pocket.optim import Rates, blend, optimisers, set_rates
from ocr_pipeline.pocket.tokenizer import EOS, SPECIALS, characters


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides a run.

    Attributes:
        shape: of the model.
        course: of the data.
        rates: of learning.
        weights: of the losses.
        seed: of the weights and of the noise.
    """

    shape: Shape = POCKET
    course: Course = field(default_factory=Course)
    rates: Rates = field(default_factory=Rates)
    weights: Weights = field(default_factory=Weights)
    seed: int = 0


class Trainer:
    """A run: model, its running average, optimisers and progress."""

    def __init__(self, settings: Settings, device: str = "cpu") -> None:
        self.settings, self.device = settings, torch.device(device)
        self.vocabulary = characters()
        shape = settings.shape
        self.processor = build_processor(shape, self.vocabulary)
        # transformers' own types do not know that a model can be moved.
        self.model = cast("Any", build_model(shape, self.vocabulary, settings.seed))
        self.model.to(self.device)
        self.average = copy.deepcopy(self.model)
        self.model.train()
        if self.device.type == "cpu":
            # On sequences this short plain matrix products are an eighth faster than SDPA.
            self.model.set_attn_implementation("eager")
            use_blocks(self.model)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            tokens = len(SPECIALS) + len(self.vocabulary)
            self.reader = ColumnReader(
                shape.vision_hidden, ROWS // shape.patch, tokens, shape.canvas
            )
        self.reader.to(self.device)
        self.optimisers = optimisers(self.model, self.reader, settings.rates)
        self.teacher = Teacher(self.model, self.reader, settings.weights)
        self.progress = Progress()
        self._ids = {c: len(SPECIALS) + i for i, c in enumerate(self.vocabulary)}
        self._prompts: dict[int, tuple[Prompt, Tensor]] = {}

    def compile(self) -> None:
        """Let the layers of the vision tower be compiled, once for each width of crops.

        Dynamo keeps eight versions of a layer at most: there is room for eight widths, and all
        batches have to be of one size. Compiled layers round differently.
        """
        for layer in self.model.model.encoder.vision_tower.encoder.layers:
            layer.compile(dynamic=False)

    @property
    def modules(self) -> dict[str, torch.nn.Module]:
        """What has weights."""
        return {"model": self.model, "average": self.average, "reader": self.reader}

    def prompt(self, width: int) -> tuple[Prompt, Tensor]:
        """Prompt and patch positions (1×P×2) of a crop width, as the processor makes them."""
        if width not in self._prompts:
            blank = np.full((ROWS, width), 255, np.uint8)
            made = prompt_inputs(self.processor, [blank], "", soft_tokens=70, resize=False)
            prompt = Prompt(
                made["input_ids"].to(self.device), made["mm_token_type_ids"].to(self.device)
            )
            self._prompts[width] = prompt, made["image_position_ids"].to(self.device)
        return self._prompts[width]

    def texts(self, texts: tuple[str, ...]) -> Tensor:
        """B×canvas token ids: characters, end, padding."""
        canvas = self.settings.shape.canvas
        ids = torch.zeros(len(texts), canvas, dtype=torch.long)
        for row, text in zip(ids, texts, strict=True):
            known = [*(self._ids[c] for c in text[: canvas - 1]), SPECIALS.index(EOS)]
            row[: len(known)] = torch.tensor(known)
        return ids.to(self.device)

    def places(self, places: NDArray[np.int16]) -> Tensor:
        """B×columns: which character of the canvas stands there; -1 for none."""
        found = torch.from_numpy(places).long()
        found[found >= self.settings.shape.canvas - 1] = -1  # `texts` cuts those off
        return found.to(self.device)

    def step(self, batch: Batch, cooling: float = 1.0) -> dict[str, float]:
        """Learn from a batch; returns losses, gradient norm and learning rate (share)."""
        rates, progress = self.settings.rates, self.progress
        share = set_rates(self.optimisers, rates, progress.step, cooling)
        # The noise of a step depends on nothing but its number, so a run can be taken up exactly.
        generator = torch.Generator().manual_seed(self.settings.seed * 1_000_003 + progress.step)
        prompt, positions = self.prompt(batch.images.shape[2])
        pixels = patches(batch.images, self.settings.shape.patch).to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16):
            found = self.teacher.loss(
                prompt,
                pixels,
                positions,
                self.texts(batch.texts),
                self.places(batch.places),
                generator,
            )
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
        weights = self.settings.weights
        total = found.denoising + weights.columns * found.columns + weights.places * found.places
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), rates.clip)
        torch.nn.utils.clip_grad_norm_(self.reader.parameters(), rates.clip)
        for optimiser in self.optimisers:
            optimiser.step()
        blend(self.average, self.model, rates.average, progress.step)
        progress.step += 1
        progress.crops += len(batch.texts)
        progress.chunk, progress.index = batch.chunk, batch.index + 1
        return {
            "loss": found.denoising.item(),
            "columns": found.columns.item(),
            "places": found.places.item(),
            "gradient": float(norm),
            "rate": share,
        }

    def save(self, folder: Path, *, name: str = STATE) -> None:
        """Write the state."""
        save_state(
            folder,
            asdict(self.settings),
            self.progress,
            self.modules,
            self.optimisers,
            name=name,
        )

    @classmethod
    def resumed(cls, folder: Path, device: str = "cpu", *, name: str = STATE) -> Trainer:
        """The run of a folder, where it was left."""
        state = read_state(folder, name=name)
        trainer = cls(settings_of(state["settings"]), device)
        trainer.progress = load_state(state, trainer.modules, trainer.optimisers)
        return trainer


def settings_of(saved: dict[str, Any]) -> Settings:
    """Settings as they were saved."""
    return Settings(
        Shape(**saved["shape"]),
        Course(**saved["course"]),
        Rates(**saved["rates"]),
        Weights(**saved["weights"]),
        saved["seed"],
    )


def patches(images: NDArray[np.uint8], patch: int) -> Tensor:
    """B×H×W crops → B×P×(patch²·3) patches in 0..1, as Gemma 4's processor cuts them."""
    count, height, width = images.shape
    grid = torch.from_numpy(images).float().div_(255)
    grid = grid.view(count, height // patch, patch, width // patch, patch).transpose(2, 3)
    flat = grid.reshape(count, -1, patch * patch, 1)
    return flat.expand(-1, -1, -1, 3).reshape(count, flat.shape[1], -1)
