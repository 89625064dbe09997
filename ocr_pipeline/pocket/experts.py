"""Experts for training on a CPU: the tokens of each come in whole blocks.

A matrix product of a size that oneDNN has not met costs it half a millisecond and half a megabyte,
kept for good, and the number of tokens that an expert gets is another one every time: a night of
training would fill the memory. Blocks leave it a few sizes.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

NAME = "blocks"
BLOCK = 128
"""Tokens."""


def whole_blocks(rows: Tensor, block: int = BLOCK) -> Tensor:
    """Row numbers with the first one repeated until they fill whole blocks; none stay none."""
    missing = -len(rows) % block
    return torch.cat([rows, rows[:1].expand(missing)]) if missing else rows


def experts_in_blocks(
    self: Any, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor
) -> Tensor:
    """As `DiffusionGemmaTextExperts.forward`.

    Args:
        self: the experts of a layer.
        hidden_states: T×H.
        top_k_index: T×K, the experts of each token.
        top_k_weights: T×K.
    """
    out = torch.zeros_like(hidden_states)
    for expert in range(self.num_experts):
        at, which = torch.where(top_k_index == expert)
        count = len(at)
        rows = whole_blocks(at)
        weight = F.pad(top_k_weights[at, which], (0, len(rows) - count))[:, None]
        states = hidden_states[rows]
        gate, up = F.linear(states, self.gate_up_proj[expert]).chunk(2, dim=-1)
        answer = F.linear(self.act_fn(gate) * up, self.down_proj[expert]) * weight
        out.index_add_(0, rows, answer.to(out.dtype))
    return out


def use_blocks(model: Any) -> None:
    """Let a model's experts work in blocks."""
    from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS  # noqa: PLC0415

    ALL_EXPERTS_FUNCTIONS.register(NAME, experts_in_blocks)
    model.set_experts_implementation(NAME)
