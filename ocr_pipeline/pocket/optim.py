"""Optimisers and their schedule: Muon for matrices, AdamW for the rest, warm-up, plateau, decay."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

_NOT_MUON = ("embed_tokens", "lm_head", "router")


@dataclass(frozen=True, slots=True)
class Rates:
    """Learning rates.

    Attributes:
        muon: of matrices.
        adam: of everything else.
        decay: weight decay of matrices.
        warm_up: steps until the rates are reached.
        clip: norm that gradients are clipped to.
        average: share of the old in the running average of the weights.
    """

    muon: float = 0.02
    adam: float = 2e-3
    decay: float = 0.01
    warm_up: int = 200
    clip: float = 2.0
    average: float = 0.998


def optimisers(model: nn.Module, reader: nn.Module, rates: Rates) -> list[torch.optim.Optimizer]:
    """Muon for the 2-D matrices outside embeddings and router, AdamW for all other parameters.

    Muon (Jordan et al. 2024) makes the update of a matrix orthogonal, so that all its directions
    are learnt alike. Here it decides: with AdamW alone a small run was still at 63 % character
    error where Muon had 25 %.
    """
    named = list(model.named_parameters())
    matrices = [p for n, p in named if p.ndim == 2 and not any(k in n for k in _NOT_MUON)]
    chosen = {id(p) for p in matrices}
    rest = [p for _, p in named if id(p) not in chosen] + list(reader.parameters())
    return [
        torch.optim.Muon(matrices, lr=rates.muon, weight_decay=rates.decay, momentum=0.95),
        torch.optim.AdamW(rest, lr=rates.adam, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def set_rates(
    pair: list[torch.optim.Optimizer], rates: Rates, step: int, cooling: float = 1.0
) -> float:
    """Set the learning rates of a step; returns their share of the full ones.

    Warm-up, then constant for as long as anybody likes: a run can be taken up at any time.
    `cooling` falls from 1 to 0 while a keeper is made.
    """
    share = min(1.0, (step + 1) / max(1, rates.warm_up)) * cooling
    for optimiser, rate in zip(pair, (rates.muon, rates.adam), strict=True):
        for group in optimiser.param_groups:
            group["lr"] = rate * share
    return share


@torch.no_grad()
def blend(average: nn.Module, model: nn.Module, share: float, step: int) -> None:
    """Move the running average towards the model; early on the average is a short one."""
    keep = min(share, (1 + step) / (10 + step))
    old: list[Tensor] = list(average.parameters())
    new: list[Tensor] = list(model.parameters())
    torch._foreach_lerp_(old, new, 1 - keep)
