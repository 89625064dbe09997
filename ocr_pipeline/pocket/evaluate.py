"""How well crops of unseen sheets and names are read.

    python -m ocr_pipeline.pocket.evaluate pocket --count 2000

The same crops go to `ppocr`'s recogniser, at the height and with the softening that it is given by
its engine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ocr_pipeline.engines.diffusion_generate import Sampling, generate, prompt_inputs
from ocr_pipeline.engines.ppocr import LINE_HEIGHT, Recogniser, models_folder
from ocr_pipeline.errors import OcrPipelineError
from ocr_pipeline.pages.page import Gray
from ocr_pipeline.pocket.crops import WIDTHS, Crop
from ocr_pipeline.pocket.data import padded, practice_crops, sheet_crops
from ocr_pipeline.pocket.score import Pair, Score, auroc, compare
from synth.seeds import stream
from synth.severity import WORST

SEED = 20_260_000
"""Of everything that models are measured on; no training run uses it."""
SAMPLING = Sampling(steps=4, canvases=1, most_canvases=1)
A_SHEET = 16
"""Crops of one sheet, so that many sheets and names take part."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read on a crop: text and the probability of each of its characters."""

    text: str
    confidence: tuple[float, ...]


def read_crops(
    model: Any,
    processor: Any,
    images: Sequence[Gray],
    *,
    seed: int = 0,
    batch: int = 64,
    sampling: Sampling = SAMPLING,
) -> list[Read]:
    """Read crops as the engine does, width by width.

    Args:
        model: in evaluation mode.
        processor: that goes with it.
        images: 32×W uint8 each.
        seed: of the sampling.
        batch: crops that are read together.
        sampling: how.
    """
    answer: list[Read] = [Read("", ())] * len(images)
    tokenizer = processor.tokenizer
    for low, width in zip((0, *WIDTHS), WIDTHS, strict=False):
        chosen = [i for i, image in enumerate(images) if low < image.shape[1] <= width]
        for start in range(0, len(chosen), batch):
            some = chosen[start : start + batch]
            lines = list(padded([images[i] for i in some], width))
            inputs = prompt_inputs(processor, lines, "", soft_tokens=70, resize=False)
            made = generate(model, processor, inputs, [seed], sampling, loops=lambda _: False)
            for i, (tokens,) in zip(some, made.replies, strict=True):
                seen = [
                    (tokenizer.decode([t.id], skip_special_tokens=True), t.probability)
                    for t in tokens.probs()
                ]
                text = "".join(c for c, _ in seen)
                answer[i] = Read(text, tuple(p for c, p in seen if c))
    return answer


def read_with_ppocr(crops: Sequence[Crop], threads: int = 1) -> list[Read]:
    """The same by `ppocr`'s recogniser, which needs the finer crops."""
    recogniser = Recogniser(models_folder(), threads)
    lines = [c.image if c.finer is None else c.finer for c in crops]
    answer: list[Read] = [Read("", ())] * len(lines)
    for i, glyphs in (found for batch in recogniser.batches(lines) for found in batch):
        answer[i] = Read("".join(g.text for g in glyphs), tuple(g.confidence for g in glyphs))
    return answer


@cache
def unseen(count: int, *, practice: bool = False, pool: str = "packaged") -> tuple[Crop, ...]:
    """Crops that no training run has seen, of all severities alike.

    Args:
        count: how many.
        practice: of practice pages, with all characters, instead of orders.
        pool: of fonts.
    """
    make = practice_crops if practice else sheet_crops
    crops: list[Crop] = []
    page = 0
    while len(crops) < count:
        rng = stream(SEED, "practice" if practice else "sheet", page)
        severity = page % (WORST + 1)
        made = make(int(rng.integers(2**31)), severity, rng, pool=pool, finer=LINE_HEIGHT)
        names = [c for c in made if c.kind.startswith("name")]
        others = [c for c in made if not c.kind.startswith("name")]
        chosen = rng.permutation(len(others))[: max(0, A_SHEET - len(names[:4]))]
        crops += names[:4] + [others[i] for i in sorted(chosen)]
        page += 1
    return tuple(crops[:count])


def quick_look(model: Any, processor: Any) -> dict[str, float]:
    """Character error rate and share of exact crops on a few unseen ones."""
    crops = unseen(240)
    found = read_crops(model, processor, [c.image for c in crops])
    total = Score.of(compare(c.text, f.text) for c, f in zip(crops, found, strict=True))
    return {"cer": round(total.cer, 4), "exact": round(total.exact, 4)}


Group = Callable[[Crop], str]
GROUPS: dict[str, Group] = {
    "all": lambda _: "all",
    "severity": lambda c: str(c.severity),
    "names": lambda c: c.kind.removeprefix("name ") if c.kind.startswith("name") else "",
    "kind": lambda c: "name" if c.kind.startswith("name") else c.kind,
}


def marks(reads: Sequence[Read], pairs: Sequence[Pair]) -> list[tuple[float, bool]]:
    """Of each character that was read its confidence, and whether it is right.

    A reading whose characters NFKC puts together (half-width ｶ and ﾞ) is left out.

    Args:
        reads: what was read.
        pairs: each of them beside its truth.
    """
    return [
        mark
        for r, pair in zip(reads, pairs, strict=True)
        if len(r.confidence) == len(pair.right)
        for mark in zip(r.confidence, pair.right, strict=True)
    ]


def tables(crops: Sequence[Crop], readers: dict[str, list[Read]]) -> dict[str, Any]:
    """CER and exact rate by group, error rate by class of character, AUROC of the confidence.

    Args:
        crops: what was read.
        readers: name of the reader → what it read.

    Returns:
        Group → its value → reader → {cer, exact, characters, crops}, and for each reader
        `classes` and `auroc`.
    """
    report: dict[str, Any] = {}
    for reader, reads in readers.items():
        pairs = [compare(c.text, r.text) for c, r in zip(crops, reads, strict=True)]
        for title, group in GROUPS.items():
            for value in sorted({group(c) for c in crops} - {""}):
                part = [p for c, p in zip(crops, pairs, strict=True) if group(c) == value]
                place = report.setdefault(title, {}).setdefault(value, {})
                place[reader] = Score.of(part).as_dict()
        whole = Score.of(pairs)
        for name, (wrong, total) in sorted(whole.classes.items()):
            place = report.setdefault("class", {}).setdefault(name, {})
            place[reader] = {"error": round(wrong / total, 4), "characters": total}
        report.setdefault("auroc", {})[reader] = auroc(marks(reads, pairs))
    return report


def lines_of(report: dict[str, Any]) -> Iterable[str]:
    """The report as Markdown."""
    for title in (*GROUPS, "class"):
        rows = report[title]
        readers = list(next(iter(rows.values())))
        measures = ("error",) if title == "class" else ("cer", "exact")
        heads = [f"{r} {m}" for m in measures for r in readers]
        yield f"\n| {title} | characters | " + " | ".join(heads) + " |"
        yield "|---|---|" + "---|" * len(heads)
        for value, cells in rows.items():
            shown = [f"{cells[r][m]:.1%}" for m in measures for r in readers]
            yield f"| {value} | {cells[readers[0]]['characters']} | " + " | ".join(shown) + " |"
    for reader, value in report["auroc"].items():
        yield f"\nAUROC of the confidence of {reader}: " + (
            "none" if value is None else f"{value:.3f}"
        )


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    import torch  # noqa: PLC0415

    from ocr_pipeline.pocket.keep import open_model  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog="python -m ocr_pipeline.pocket.evaluate", description=__doc__
    )
    parser.add_argument("model", help="`pocket`, a checkpoint, or the folder of a training run")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--practice", action="store_true", help="all characters, not only orders'")
    parser.add_argument("--fonts", choices=("packaged", "any"), default="packaged")
    parser.add_argument("--steps", type=int, default=SAMPLING.steps)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    try:
        model, processor = open_model(given.model)
        crops = unseen(given.count, practice=given.practice, pool=given.fonts)
        sampling = Sampling(steps=given.steps, canvases=1, most_canvases=1)
        images = [c.image for c in crops]
        readers = {
            "pocket": read_crops(model, processor, images, sampling=sampling),
            "ppocr": read_with_ppocr(crops, given.threads),
        }
    except OcrPipelineError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    report = tables(crops, readers)
    print("\n".join(lines_of(report)))
    if given.json:
        given.json.write_text(json.dumps(report, ensure_ascii=False, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
