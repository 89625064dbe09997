"""Train the pocket model on our own faxes.

    python -m ocr_pipeline.pocket.train --out pocket_training --minutes 60

Data are made by another process while this one learns. The run can be stopped at any time and taken
up again with --resume; with --cool it ends with a decay of the learning rate, for a keeper.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import torch

from ocr_pipeline.errors import OcrPipelineError, UsageError
from ocr_pipeline.pocket.build import POCKET, TINY
from ocr_pipeline.pocket.checkpoint import STATE, note
from ocr_pipeline.pocket.data import Batch, Course, batches
from ocr_pipeline.pocket.evaluate import quick_look
from ocr_pipeline.pocket.trainer import Settings, Trainer

SHAPES = {"pocket": POCKET, "tiny": TINY}


@dataclass(frozen=True, slots=True)
class Sitting:
    """One stretch of training.

    Attributes:
        folder: where state and curve go.
        minutes: how long.
        cool: minutes at the end in which the learning rate falls to nothing.
        every: seconds between two saves.
        report: steps between two lines of the curve.
        check: seconds between two looks at unseen crops; 0 for none.
    """

    folder: Path
    minutes: float
    cool: float = 0.0
    every: float = 300.0
    report: int = 50
    check: float = 1800.0


def train(
    trainer: Trainer,
    sitting: Sitting,
    stream: Iterator[Batch],
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Learn until the time is up or `stop`, which is asked after every step, says so."""
    progress, started = trainer.progress, time.monotonic()
    before, saved, looked = progress.seconds, started, started
    means: dict[str, float] = {}
    since, at = progress.crops, started
    while (elapsed := time.monotonic() - started) < sitting.minutes * 60 and not stop():
        left = sitting.minutes * 60 - elapsed
        cooling = min(1.0, left / (sitting.cool * 60)) if sitting.cool else 1.0
        found = trainer.step(next(stream), cooling)
        means = {k: means.get(k, v) * 0.98 + v * 0.02 for k, v in found.items()}
        now = time.monotonic()
        progress.seconds = before + now - started
        if progress.step % sitting.report == 0:
            speed = (progress.crops - since) / (now - at)
            since, at = progress.crops, now
            row = {k: round(v, 4) for k, v in means.items()} | {
                "step": progress.step,
                "crops": progress.crops,
                "seconds": round(progress.seconds),
                "crops_per_second": round(speed, 1),
            }
            if sitting.check and now - looked > sitting.check:
                looked = now
                row |= quick_look(trainer.average, trainer.processor)
            note(sitting.folder, row)
            print(" ".join(f"{k} {v}" for k, v in row.items()), flush=True)
        if now - saved > sitting.every:
            saved = now
            trainer.save(sitting.folder)
    trainer.save(sitting.folder)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="ocr_pipeline.pocket.train", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("pocket_training"))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument("--cool", type=float, default=0.0, help="minutes of decay at the end")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--size", choices=sorted(SHAPES), default="pocket")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fonts", choices=("packaged", "any"), default="any")
    parser.add_argument("--makers", type=int, default=1, help="processes that make the data")
    parser.add_argument(
        "--compile",
        action="store_true",
        help="compile the vision tower: a quarter faster after two minutes; wants a C++ compiler",
    )
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    cv2.setNumThreads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        if given.resume:
            trainer = Trainer.resumed(given.out, device)
        elif (given.out / STATE).exists():
            raise UsageError(
                f"{given.out} already holds a run", remedy="use --resume, or another --out"
            )
        else:
            course = replace(Course(), seed=given.seed, pool=given.fonts)
            trainer = Trainer(Settings(SHAPES[given.size], course, seed=given.seed), device)
        if given.compile:
            trainer.compile()
        at = trainer.progress
        stream = batches(
            trainer.settings.course, chunk=at.chunk, index=at.index, makers=given.makers
        )
        signals: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
        train(trainer, Sitting(given.out, given.minutes, given.cool), stream, lambda: bool(signals))
    except OcrPipelineError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
