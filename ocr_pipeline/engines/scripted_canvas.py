"""A known text that forms out of noise, as a diffusion model's would: events without a model."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ocr_pipeline.engines.base import Cancel
from ocr_pipeline.engines.events import Kind

Say = Callable[[Kind, Mapping[str, Any]], None]

NOISE = "ーンカ力ロ口一二ニ0O1lア亜書品数量金額株会社部御中発注個本%|-:¥,.、。 "
"""What stands where nothing has settled yet."""
SURE = 0.01
"""Nats of a character that has settled."""


def denoise(
    text: str, *, canvas: int, steps: int, pause: float, seed: int, say: Say, cancel: Cancel
) -> tuple[str, bool]:
    """Say the events of a text that is denoised canvas by canvas.

    Args:
        text: what comes out.
        canvas: characters of a canvas.
        steps: steps a canvas takes, at least 1.
        pause: seconds of a step.
        seed: of the noise, and of the order in which characters settle.
        say: takes kind and data.
        cancel: asked before every step.

    Returns:
        What was committed, and whether that is all.
    """
    rng = random.Random(seed)
    parts = [text[i : i + canvas] for i in range(0, len(text), canvas)]
    began, committed = time.perf_counter(), ""
    for number, part in enumerate(parts):
        before = ""
        for step, (draft, entropy) in enumerate(_drafts(part, steps, rng), 1):
            if cancel():
                return committed, False
            time.sleep(pause)
            tokens = len(committed) + sum(e == SURE for e in entropy)
            about = {
                "canvas": number,
                "canvases": len(parts),
                "step": step,
                "steps": steps,
                "entropy": round(sum(entropy) / len(entropy), 4),
                "tokens": tokens,
                "tokens_per_second": round(tokens / max(time.perf_counter() - began, 1e-9), 1),
            }
            changed = [i for i, c in enumerate(draft) if before[i : i + 1] != c]
            say("step", about)
            noise = {"text": draft, "entropy": entropy, "changed": changed}
            say("draft", {"canvas": number, "step": step, **noise})
            before = draft
        committed += part
        say("committed", {"canvas": number, "text": part, "confidence": [0.99] * len(part)})
    return committed, True


def _drafts(text: str, steps: int, rng: random.Random) -> Iterator[tuple[str, list[float]]]:
    """Each character settles at a step of its own, and is noise before; the last draft is all."""
    settles = [rng.randint(1, steps) for _ in text]
    for step in range(1, steps + 1):
        doubt = 4.0 * (1 - step / (steps + 1))
        yield (
            "".join(
                c if s <= step else rng.choice(NOISE) for c, s in zip(text, settles, strict=True)
            ),
            [SURE if s <= step else round(doubt * rng.uniform(0.3, 1), 4) for s in settles],
        )
