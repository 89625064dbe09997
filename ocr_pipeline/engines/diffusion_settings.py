"""Settings of the `diffusiongemma` engine. They are checked before torch is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ocr_pipeline.engines.diffusion_card import Tiling
from ocr_pipeline.engines.prompts import load_prompt


@dataclass(frozen=True, slots=True)
class DiffusionGemmaSettings:
    """What can be set with `-O key=value`; what is None is as the checkpoint's card says.

    Attributes:
        tiling: `page`, `bands` (each at the full image budget) or `lines` (words get quads).
        soft_tokens: image budget of a tile: 70, 140, 280, 560 or 1120.
        prompt: name of a prompt; empty asks with the image alone.
        steps: most denoising steps of a canvas.
        t_min: temperature of the last step.
        t_max: temperature of the first step.
        entropy_bound: nats of joint entropy up to which tokens are accepted together.
        stability: steps for which a canvas must stay the same before it is finished.
        confidence: mean entropy (nats) below which it may be.
        canvases: canvases a reply may use whatever it says.
        most_canvases: canvases it may use as long as it does not loop.
        rows: tiles times runs that are denoised together; None is what the memory allows.
        second_look: with `lines`, words read with less confidence are cut out and read again,
            alone; 0 is never.
        device: `auto`, `cuda`, `cuda:1`, `mps`, `cpu`.
        dtype: `auto`, `bfloat16`, `float16`, `float32`.
        quantise: `none`, `int8` or `int4` weights.
    """

    tiling: Tiling | None = None
    soft_tokens: Literal["70", "140", "280", "560", "1120"] | None = None
    prompt: str | None = None
    steps: Annotated[int, Field(ge=1)] | None = None
    t_min: Annotated[float, Field(gt=0)] = 0.4
    t_max: Annotated[float, Field(gt=0)] = 0.8
    entropy_bound: Annotated[float, Field(gt=0)] = 0.1
    stability: Annotated[int, Field(ge=0)] = 1
    confidence: Annotated[float, Field(gt=0)] = 0.005
    canvases: Annotated[int, Field(ge=1)] | None = None
    most_canvases: Annotated[int, Field(ge=1)] | None = None
    rows: Annotated[int, Field(ge=1)] | None = None
    second_look: Annotated[float, Field(ge=0, le=1)] = 0.0
    device: str = "auto"
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    quantise: Literal["none", "int8", "int4"] = "none"

    def __post_init__(self) -> None:
        if self.prompt:
            load_prompt(self.prompt)  # so that a wrong name is told before anything is loaded
        if self.t_max <= self.t_min:
            raise ValueError("t_max must be greater than t_min: a canvas cools down")
