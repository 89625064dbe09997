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
        columns: the column reader's loss.
        self_conditioning: share of the steps in which the model sees its own first guess.
    """

    clean: float = 0.2
    padding: float = 0.15
    padding_share: float = 0.25
    columns: float = 0.3
    self_conditioning: float = 0.4


class ColumnReader(nn.Module):
    """Reads the text off the columns of patches (CTC); it teaches the vision tower and is then
    thrown away.

    A column of patches is 16 pixels wide, and half-width figures are narrower: every column gives
    two answers.
    """

    def __init__(self, width: int, rows: int, vocabulary: int) -> None:
        super().__init__()
        self.rows = rows
        self.mix = nn.Linear(width * rows, 2 * width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, patches: Tensor) -> Tensor:
        """B×(rows·columns)×width patch states, row by row → B×(2·columns)×vocabulary scores."""
        count, length, width = patches.shape
        columns = length // self.rows
        grid = patches.view(count, self.rows, columns, width).transpose(1, 2)
        mixed: Tensor = F.gelu(self.mix(grid.reshape(count, columns, -1)))
        scores: Tensor = self.head(self.norm(mixed.view(count, 2 * columns, width)))
        return scores


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


def column_loss(scores: Tensor, texts: Tensor, specials: int) -> Tensor:
    """CTC of the columns; token 0 is the blank.

    Args:
        scores: B×T×V.
        texts: B×L token ids, padded.
        specials: ids below this are no characters.
    """
    lengths = (texts >= specials).sum(1)
    steps = torch.full_like(lengths, scores.shape[1])
    return F.ctc_loss(
        scores.float().log_softmax(-1).transpose(0, 1),
        texts,
        steps,
        lengths,
        blank=0,
        zero_infinity=True,
    )


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
        specials: int,
    ) -> None:
        self.model, self.reader, self.weights = model, reader, weights
        self.specials = specials
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
        generator: torch.Generator,
    ) -> tuple[Tensor, Tensor]:
        """The denoising loss and the column reader's.

        Args:
            prompt: of the width of the crops.
            pixels: B×P×(patch²·3) patches in 0..1.
            positions: 1×P×2 places of the patches.
            texts: B×canvas token ids: characters, end, padding.
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
        assert self._patches is not None
        columns = column_loss(self.reader(self._patches), texts, self.specials)
        self._patches = None
        return denoising, columns
