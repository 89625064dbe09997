"""Teach a small checkpoint a handful of pages by heart.

This is no reader: it knows its pages and nothing else. It is there so that the whole way from a
scan through chat template, image tokens, canvases, parser and extraction can be walked with real
weights, in minutes on two cores.

```
ocr-pipeline sheets -n 3 --severity 0 --lines 2-3 --layout full_grid --seed 11 -o SHEETS
python -m ocr_pipeline.pocket.memorise SHEETS --out MODEL
ocr-pipeline read SHEETS --engine diffusiongemma --model MODEL
```
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
import torch.nn.functional as F
import typer
from torch import Tensor

from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.diffusion_generate import Sampling, encode, generate, prompt_inputs
from ocr_pipeline.orders.schema import Schema, load_schema
from ocr_pipeline.pages.load import load_pages
from ocr_pipeline.pages.page import Gray
from ocr_pipeline.pocket.build import PAGE, build_model, build_processor, save
from ocr_pipeline.pocket.optim import Rates, optimisers, set_rates

CARD = Card(
    tiling="page",
    prompt="",
    soft_tokens=PAGE.soft_tokens,
    steps=24,
    canvases=4,
    most_canvases=8,
)


@dataclass(frozen=True, eq=False)
class Lesson:
    """A page and what to say of it."""

    image: Gray
    reply: str


def ideal_reply(truth: Mapping[str, Any], schema: Schema) -> str:
    """What the prompt asks for: the header as one table, the items as another, all as printed.

    Args:
        truth: of a sheet, as `truth/<file>.json` has it.
        schema: names the fields.
    """
    header = [s for s in schema.fields if truth["fields"].get(s.name, {}).get("prints")]
    lines = ["| 項目 | 値 |", "| --- | --- |"]
    lines += [f"| {s.label} | {_printed(truth['fields'][s.name])} |" for s in header]
    columns = [s for s in schema.rows if any(s.name in row for row in truth["rows"])]
    lines += ["", "| " + " | ".join(s.label for s in columns) + " |"]
    lines.append("|" + " --- |" * len(columns))
    for row in truth["rows"]:
        cells = (_printed(row[s.name]) if s.name in row else "" for s in columns)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _printed(value: Mapping[str, Any]) -> str:
    """The first place where a value is printed."""
    prints = value["prints"]
    return str(prints[0]["text"]).replace("|", "\\|") if prints else ""


def load_lessons(sheets: Path) -> list[Lesson]:
    """The sheets of a folder that `synth` wrote, as `read` sees them; one page each."""
    schema = load_schema("purchase_order")
    lessons = []
    for path in sorted((sheets / "truth").glob("*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        (page,) = load_pages(sheets / truth["file"], truth["file"])
        lessons.append(Lesson(page.image, ideal_reply(truth, schema)))
    return lessons


def targets(lessons: Sequence[Lesson], tokenizer: Any, canvas: int) -> list[Tensor]:
    """The tokens of each reply, ended, padded to whole canvases."""
    end, pad = tokenizer.eos_token_id, tokenizer.pad_token_id
    made = []
    for lesson in lessons:
        ids = [*tokenizer(lesson.reply, add_special_tokens=False)["input_ids"], end]
        made.append(torch.tensor(ids + [pad] * (-len(ids) % canvas)))
    return made


def train(
    model: Any,
    processor: Any,
    lessons: Sequence[Lesson],
    *,
    minutes: float,
    good: float = 0.05,
    seed: int = 0,
    report: Any = print,
) -> int:
    """Overfit a model until it knows the lessons, or the time is up.

    Every step takes every canvas of every lesson once: the prompt and the canvases before it go
    through the encoder, the canvas itself is corrupted at a random rate and has to be restored.

    Returns:
        The number of steps.
    """
    canvas, vocabulary = model.config.canvas_length, model.config.text_config.vocab_size
    random = torch.Generator().manual_seed(seed)
    prompts = prompt_inputs(processor, [x.image for x in lessons], "", soft_tokens=PAGE.soft_tokens)
    wanted = targets(lessons, processor.tokenizer, canvas)
    groups = _by_depth(wanted, canvas)
    rates = Rates(warm_up=30, decay=0.0, clip=1.0)
    pair = optimisers(model, torch.nn.Identity(), rates)
    model.train()
    started, step, average = time.monotonic(), 0, 1.0
    while (spent := time.monotonic() - started) < minutes * 60 and average > good:
        # The slower, the closer it comes to knowing them.
        set_rates(pair, rates, step, cooling=min(1.0, max(average, 0.02) * 2))
        for optimiser in pair:
            optimiser.zero_grad()
        total = 0.0
        for depth, members in groups.items():
            x0 = torch.stack([wanted[i][depth * canvas :][:canvas] for i in members])
            rate = torch.rand(len(members), 1, generator=random).sqrt()
            noisy = torch.rand(x0.shape, generator=random) < rate
            noise = torch.randint(0, vocabulary, x0.shape, generator=random)
            xt = torch.where(noisy, noise, x0)
            before = [wanted[i][: depth * canvas] for i in members]
            loss = _loss(model, prompts, members, before, xt, x0, random)
            (loss / len(groups)).backward()
            total += float(loss.detach()) / len(groups)
        torch.nn.utils.clip_grad_norm_(model.parameters(), rates.clip)
        for optimiser in pair:
            optimiser.step()
        step += 1
        average = 0.95 * average + 0.05 * total if step > 1 else total
        if step % 25 == 0:
            report(f"{spent:5.0f} s, step {step}, loss {average:.4f}", flush=True)
    model.eval()
    return step


def _by_depth(wanted: Sequence[Tensor], canvas: int) -> dict[int, list[int]]:
    """Canvas number → the lessons that have one; they share a batch."""
    most = max(len(w) for w in wanted) // canvas
    return {d: [i for i, w in enumerate(wanted) if len(w) > d * canvas] for d in range(most)}


def _loss(
    model: Any,
    prompts: dict[str, Tensor],
    members: Sequence[int],
    before: Sequence[Tensor],
    xt: Tensor,
    x0: Tensor,
    random: torch.Generator,
) -> Tensor:
    rows = list(members)
    ids = torch.cat([prompts["input_ids"][rows], torch.stack(list(before))], 1)
    types = F.pad(
        prompts["mm_token_type_ids"][rows], (0, ids.shape[1] - prompts["input_ids"].shape[1])
    )
    cache = encode(
        model,
        ids,
        types=types,
        pixel_values=prompts["pixel_values"][rows],
        image_position_ids=prompts["image_position_ids"][rows],
    )
    condition = None
    if float(torch.rand((), generator=random)) < 0.5:
        with torch.no_grad():
            condition = model(decoder_input_ids=xt, cache=cache).logits
    logits = model(decoder_input_ids=xt, cache=cache, self_conditioning_logits=condition).logits
    return F.cross_entropy(logits.flatten(0, 1).float(), x0.flatten())


def knows(model: Any, processor: Any, lessons: Sequence[Lesson], seeds: Sequence[int]) -> bool:
    """Whether every run of every page is said without a mistake."""
    sampling = Sampling(steps=CARD.steps, canvases=CARD.canvases, most_canvases=32)
    for lesson in lessons:
        inputs = prompt_inputs(processor, [lesson.image], "", soft_tokens=PAGE.soft_tokens)
        made = generate(model, processor, inputs, seeds, sampling, loops=lambda _: False)
        for reply in made.replies[0]:
            said = processor.tokenizer.decode(reply.ids.tolist(), skip_special_tokens=True)
            if said != lesson.reply or not reply.finished:
                return False
    return True


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    sheets: Annotated[Path, typer.Argument(help="Folder that `ocr-pipeline sheets` wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the checkpoint.")],
    minutes: Annotated[float, typer.Option(help="The most it may take.")] = 15.0,
) -> None:
    """Teach a small checkpoint the pages of a folder by heart."""
    lessons = load_lessons(sheets)
    vocabulary = "".join(sorted(set("".join(x.reply for x in lessons))))
    model, processor = build_model(PAGE, vocabulary), build_processor(PAGE, vocabulary)
    train(model, processor, lessons, minutes=minutes)
    # bfloat16 is how it is kept and half the size; it has to know its pages in that form.
    model = model.bfloat16()
    save(out, model, processor, CARD)
    known = knows(model.float(), processor, lessons, seeds=range(5))
    print(f"{out}: {'knows its pages' if known else 'does not know its pages yet'}")
    raise typer.Exit(0 if known else 1)


if __name__ == "__main__":
    app()
