"""How a checkpoint wants to be asked: `ocr_pipeline.json` in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

CARD_FILE = "ocr_pipeline.json"

SOFT_TOKENS = (70, 140, 280, 560, 1120)
"""Image budgets that the processor of Gemma 4 knows."""

Tiling = Literal["page", "bands", "lines"]


@dataclass(frozen=True, slots=True)
class Card:
    """What suits a checkpoint; the defaults suit the published model, which has no card.

    Attributes:
        tiling: how a page is cut.
        prompt: name of the prompt (`engines/prompts`); empty asks with the image alone.
        soft_tokens: image budget of a tile, one of 70, 140, 280, 560, 1120.
        line_height: pixels of a line crop that is given as it is; 0 lets the processor resize it.
        squeeze: rows of a line crop that are averaged into one; `line_height` is a multiple of it.
            Characters of a line stand side by side, half-width ones closely: a model tells them
            apart by columns more than by rows.
        widths: a line crop is padded with paper to the next of these; longer ones
            are cut between two characters.
        steps: denoising steps of a canvas.
        canvases: canvases of a reply before it has to show that it does not loop.
        most_canvases: canvases of a reply at most.
        unreadable: what the model writes for a character that nobody can read.
    """

    tiling: Tiling = "page"
    prompt: str = "transcribe_ja_v1"
    soft_tokens: int = 1120
    line_height: Annotated[int, Field(ge=0)] = 0
    squeeze: Annotated[int, Field(ge=1)] = 1
    widths: tuple[Annotated[int, Field(ge=1)], ...] = ()
    steps: Annotated[int, Field(ge=1)] = 48
    canvases: Annotated[int, Field(ge=1)] = 8
    most_canvases: Annotated[int, Field(ge=1)] = 32
    unreadable: str = ""

    def __post_init__(self) -> None:
        if self.soft_tokens not in SOFT_TOKENS:
            raise ValueError(f"soft_tokens is one of {SOFT_TOKENS}, not {self.soft_tokens}")
        if self.squeeze > 1 and (not self.line_height or self.line_height % self.squeeze):
            raise ValueError(f"line_height is no multiple of squeeze, {self.squeeze}")
