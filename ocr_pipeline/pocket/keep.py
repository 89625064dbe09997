"""Make a keeper of a training run.

    python -m ocr_pipeline.pocket.keep pocket_training FOLDER

What is kept is the running average of the weights, in bfloat16, as a checkpoint that is loaded like
the published model.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.diffusion_load import load
from ocr_pipeline.errors import OcrPipelineError
from ocr_pipeline.pocket.build import save
from ocr_pipeline.pocket.checkpoint import STATE
from ocr_pipeline.pocket.crops import HEIGHT, SQUEEZE, WIDTHS
from ocr_pipeline.pocket.evaluate import SAMPLING
from ocr_pipeline.pocket.tokenizer import UNREADABLE
from ocr_pipeline.pocket.trainer import Trainer

CARD = Card(
    tiling="lines",
    prompt="",
    soft_tokens=70,
    line_height=HEIGHT,
    squeeze=SQUEEZE,
    widths=WIDTHS,
    steps=SAMPLING.steps,
    canvases=SAMPLING.canvases,
    most_canvases=SAMPLING.most_canvases,
    unreadable=UNREADABLE,
)


def open_model(name: str) -> tuple[Any, Any]:
    """Model and processor of a training run or of a checkpoint.

    Args:
        name: the folder of a run, or what `load` takes.
    """
    if (Path(name) / STATE).is_file():
        trainer = Trainer.resumed(Path(name))
        return trainer.average, trainer.processor
    loaded = load(name, device="cpu", dtype="float32")
    return loaded.model, loaded.processor


def keep(run: Path, folder: Path) -> None:
    """Write the checkpoint of a run."""
    trainer = Trainer.resumed(run)
    save(folder, trainer.average.to(torch.bfloat16), trainer.processor, CARD)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m ocr_pipeline.pocket.keep", description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a training run")
    parser.add_argument("folder", type=Path, help="where the checkpoint goes")
    given = parser.parse_args(arguments)
    try:
        keep(given.run, given.folder)
    except OcrPipelineError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
