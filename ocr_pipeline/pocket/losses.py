"""What the model is taught: undo random characters, and read the patches column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import DynamicCache

from ocr_pipeline.engines.diffusion_generate import encode
from ocr_pipeline.pocket.experts import whole_blocks

if TYPE_CHECKING:
    from transformers import DiffusionGemmaForBlockDiffusion


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of the loss counts.

    Attributes:
        clean: a position that was left as it is; a corrupted one counts 1.
        padding: factor for positions behind the end of the text.
        padding_share: share of the padding that is looked at in each step.
        columns: for naming the character of a column.
        places: for its place in the text.
        self_conditioning: share of the steps in which the model sees its own first guess.
    """

    clean: float = 0.2
    padding: float = 0.15
    padding_share: float = 0.25
    columns: float = 0.3
    places: float = 0.3
    self_conditioning: float = 0.4


class ColumnReader(nn.Module):
    """Says of a column of patches which character stands there, and at which place of the text; it
    teaches the vision tower and is then thrown away.

    A canvas asks for the fourth character, not for the one at 130 pixels. Counting is what a model
    that fills all places at once finds hardest: it is taught here, where the ink is.
    """

    def __init__(self, width: int, rows: int, vocabulary: int, canvas: int) -> None:
        super().__init__()
        self.rows = rows
        self.mix = nn.Linear(width * rows, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)
        self.count = nn.Linear(width, canvas)

    def forward(self, patches: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """Read.

        Args:
            patches: B×(rows·columns)×width patch states, row by row.
            at: N numbers of columns, counted through all crops.

        Returns:
            Scores of the vocabulary, N×V, and of the places of the canvas, N×canvas.
        """
        count, length, width = patches.shape
        grid = patches.view(count, self.rows, length // self.rows, width).transpose(1, 2)
        mixed = self.norm(F.gelu(self.mix(grid.reshape(-1, self.rows * width)[at])))
        return self.head(mixed), self.count(mixed)


def corrupt(texts: Tensor, vocabulary: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Replace tokens by random ones, at the rate √u of a u that is uniform for each text.

    Args:
        texts: B×L token ids.
        vocabulary: number of tokens.
        generator: on the CPU.

    Returns:
        The corrupted texts and which positions were drawn, both B×L, on the device of `texts`.
    """
    rate = torch.rand(texts.shape[0], 1, generator=generator).sqrt()
    drawn = (torch.rand(texts.shape, generator=generator) < rate).to(texts.device)
    random = torch.randint(0, vocabulary, texts.shape, generator=generator).to(texts.device)
    return torch.where(drawn, random, texts), drawn


@dataclass(frozen=True, slots=True)
class Losses:
    """Of a batch: the denoising, and what the column reader reads and where."""

    denoising: Tensor
    columns: Tensor
    places: Tensor


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of a crop width: `ids` and image token `types`, both 1×S."""

    ids: Tensor
    types: Tensor


class Teacher:
    """Computes the loss of a batch; sees what `generate` sees."""

    def __init__(
        self,
        model: DiffusionGemmaForBlockDiffusion,
        reader: ColumnReader,
        weights: Weights,
    ) -> None:
        self.model, self.reader, self.weights = model, reader, weights
        self.text_config: Any = model.config.get_text_config()
        self.pad: int = self.text_config.pad_token_id
        self._patches: Tensor | None = None
        tower = model.model.encoder.vision_tower.encoder
        tower.register_forward_hook(lambda _m, _i, out: setattr(self, "_patches", out[0]))

    def encode(self, prompt: Prompt, pixels: Tensor, positions: Tensor) -> DynamicCache:
        """The prompt's keys and values."""
        count = pixels.shape[0]
        return encode(
            self.model,
            prompt.ids.expand(count, -1),
            types=prompt.types.expand(count, -1),
            pixel_values=pixels,
            image_position_ids=positions.expand(count, -1, -1),
        )

    def logits(self, states: Tensor) -> Tensor:
        """Scores of the vocabulary, with the model's soft cap."""
        cap = self.model.final_logit_softcapping
        return torch.tanh(self.model.lm_head(states).float() / cap) * cap

    def loss(
        self,
        prompt: Prompt,
        pixels: Tensor,
        positions: Tensor,
        texts: Tensor,
        places: Tensor,
        generator: torch.Generator,
    ) -> Losses:
        """The denoising loss and the column reader's.

        Args:
            prompt: of the width of the crops.
            pixels: B×P×(patch²·3) patches in 0..1.
            positions: 1×P×2 places of the patches.
            texts: B×canvas token ids: characters, end, padding.
            places: B×columns: which character stands there, -1 for none.
            generator: of everything left to chance.
        """
        vocabulary: int = self.text_config.vocab_size
        noisy, drawn = corrupt(texts, vocabulary, generator)
        again = torch.rand((), generator=generator).item() < self.weights.self_conditioning
        looked = torch.rand(texts.shape, generator=generator).to(texts.device)
        cache = self.encode(prompt, pixels, positions)
        decoder = self.model.model.decoder
        guess = None
        if again:
            with torch.no_grad():
                guess = self.logits(decoder(decoder_input_ids=noisy, cache=cache)[0])
        states = decoder(
            decoder_input_ids=noisy, cache=cache, self_conditioning_logits=guess
        ).last_hidden_state
        padding = texts == self.pad
        at = (~padding | (looked < self.weights.padding_share)).flatten().nonzero().squeeze(1)
        # Padding is seldom looked at, and counts the more when it is.
        rare = self.weights.padding / self.weights.padding_share
        weight = torch.ones_like(looked).masked_fill(padding, rare)
        weight = weight.where(drawn, weight * self.weights.clean).flatten()[at]
        rows = whole_blocks(at)
        weight = F.pad(weight, (0, len(rows) - len(at)))
        scores = self.logits(states.flatten(0, 1)[rows])
        each = F.cross_entropy(scores, texts.flatten()[rows], reduction="none")
        denoising = (each * weight).sum() / weight.sum()
        columns, counts = self._columns(texts, places)
        return Losses(denoising, columns, counts)

    def _columns(self, texts: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy of the columns in which a character stands: which one, and where."""
        patches, self._patches = self._patches, None
        assert patches is not None
        at = (places >= 0).flatten().nonzero().squeeze(1)
        if not len(at):
            return patches.new_zeros(()), patches.new_zeros(())
        read, counted = (x[: len(at)].float() for x in self.reader(patches, whole_blocks(at)))
        where = places.flatten()[at]
        which = texts[at // places.shape[1], where]
        return F.cross_entropy(read, which), F.cross_entropy(counted, where)
