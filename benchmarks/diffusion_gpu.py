"""Speed and memory of DiffusionGemma in its real shape, with random weights.

    python -m benchmarks.diffusion_gpu                      # the published shape on a GPU
    python -m benchmarks.diffusion_gpu --quantise int4 --json out.json

Random weights cost what trained ones cost, except that nothing ever settles: every canvas takes all
of its steps, which makes times comparable. How many steps a page really needs only the trained
model can tell. On a CPU a small shape is run instead; its times show that all of it works.

What is measured: prefill (vision tower and encoder) for 280 and 1120 image tokens, one denoising
step for several runs at once, what five runs cost over one, eager code and transformers' own
compiled path (static cache, CUDA graphs). Parts that do not fit in memory or in `--seconds` are
left out, and named.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion
from transformers.utils import logging

from ocr_pipeline.engines.diffusion_generate import Prefill, prefill
from ocr_pipeline.engines.diffusion_memory import PUBLISHED, Precision, Size, free_memory, measure

GRIDS = {280: (20, 14), 1120: (40, 28)}
"""Soft tokens down and across, near the shape of an A4 page."""
PROMPT_TEXT = 256
"""Tokens of a prompt beside the image."""
COMPILE_SECONDS = 150
"""Compiling is not begun with less than this left."""


def published_config() -> DiffusionGemmaConfig:
    """google/diffusiongemma-26B-A4B-it, from its `config.json`: 25.2 B without the vision tower."""
    text = {
        "hidden_size": 2816,
        "intermediate_size": 2112,
        "moe_intermediate_size": 704,
        "num_hidden_layers": 30,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "num_global_key_value_heads": 2,
        "head_dim": 256,
        "global_head_dim": 512,
        "num_experts": 128,
        "top_k_experts": 8,
        "vocab_size": 262_144,
        "sliding_window": 1024,
        "max_position_embeddings": 262_144,
        "use_bidirectional_attention": "vision",
    }
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "head_dim": 72,
        "standardize": True,
    }
    return DiffusionGemmaConfig(text_config=text, vision_config=vision, canvas_length=256)


def small_config() -> DiffusionGemmaConfig:
    """The same architecture at a size for a CPU."""
    text = {
        "hidden_size": 128,
        "intermediate_size": 256,
        "moe_intermediate_size": 64,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_global_key_value_heads": 2,
        "head_dim": 32,
        "global_head_dim": 32,
        "num_experts": 16,
        "top_k_experts": 2,
        "vocab_size": 4096,
        "sliding_window": 1024,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "use_bidirectional_attention": "vision",
    }
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 16,
        "position_embedding_size": 256,
    }
    ids = {"image_token_id": 4000, "boi_token_id": 4001, "eoi_token_id": 4002}
    return DiffusionGemmaConfig(text_config=text, vision_config=vision, canvas_length=64, **ids)


@dataclass(frozen=True)
class RandomWeight:
    """A tensor of a checkpoint that is drawn when it is read; the loader takes it for a file's."""

    shape: torch.Size
    dtype: torch.dtype
    device: str

    def get_dtype(self) -> str:
        """As safetensors names types."""
        return {torch.bfloat16: "BF16", torch.float32: "F32"}[self.dtype]

    def get_shape(self) -> list[int]:
        """As safetensors gives shapes."""
        return list(self.shape)

    def __getitem__(self, _: object) -> Tensor:
        if len(self.shape) < 2:  # norms and scales
            return torch.ones(self.shape, dtype=self.dtype, device=self.device)
        drawn = torch.empty(self.shape, dtype=self.dtype, device=self.device)
        return drawn.normal_(std=0.02)


def random_model(
    config: DiffusionGemmaConfig, device: str, dtype: torch.dtype, quantise: str = "none"
) -> Any:
    """A model made of random weights by the code that loads checkpoints, one tensor at a time."""
    with torch.device("meta"):
        model: Any = DiffusionGemmaForBlockDiffusion(config)
    tied = set(model.all_tied_weights_keys)
    weights = {
        name: RandomWeight(tensor.shape, dtype, device)
        for name, tensor in model.state_dict().items()
        if name not in tied
    }
    options: dict[str, Any] = {}
    if quantise != "none":
        from ocr_pipeline.engines.expert_quant import quantisation  # noqa: PLC0415

        options["quantization_config"] = quantisation(quantise)
    start: Any = DiffusionGemmaForBlockDiffusion.from_pretrained
    made, found = start(
        None,
        config=config,
        state_dict=weights,
        dtype=dtype,
        device_map={"": device},
        output_loading_info=True,
        **options,
    )
    if found["missing_keys"]:
        raise RuntimeError(f"weights were not filled in: {sorted(found['missing_keys'])[:3]}")
    return made


def page_inputs(config: Any, soft_tokens: int) -> dict[str, Tensor]:
    """A prompt with one image of noise, as the processor would make it."""
    down, across = GRIDS[soft_tokens]
    side = config.vision_config.pooling_kernel_size
    rows, columns = down * side, across * side
    image = torch.full((1, down * across), config.image_token_id)
    text = torch.full((1, PROMPT_TEXT), 7)
    ids = torch.cat([image, text], dim=1)
    grid = torch.cartesian_prod(torch.arange(columns), torch.arange(rows))
    pixels = torch.rand(1, rows * columns, 3 * config.vision_config.patch_size**2)
    return {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "mm_token_type_ids": (ids == config.image_token_id).long(),
        "pixel_values": pixels,
        "image_position_ids": grid[None],
    }


class Bench:
    """Times parts of one model.

    Args:
        model: on its device.
        steps: denoising steps that are timed.
    """

    def __init__(self, model: Any, steps: int) -> None:
        self._model, self._steps = model, steps
        self._cuda = model.device.type == "cuda"
        self._encoded: Prefill | None = None

    def prefill(self, soft_tokens: int) -> float:
        """Seconds to encode a page once."""
        inputs = page_inputs(self._model.config, soft_tokens)
        prefill(self._model, inputs)
        repeats = 3 if self._cuda else 1
        return min(self._timed(lambda: prefill(self._model, inputs)) for _ in range(repeats))

    def denoise(self, runs: int, soft_tokens: int = 1120) -> tuple[float, float]:
        """Seconds of one step, and of a whole canvas, for runs that share a prefill."""
        if self._encoded is None:
            self._encoded = prefill(self._model, page_inputs(self._model.config, soft_tokens))
        encoded = self._encoded

        def canvas(steps: int) -> float:
            ready = replace(encoded, cache=deepcopy(encoded.cache)).repeated(runs)
            return self._timed(lambda: self._generate(steps, **_from(ready)))

        return self._difference(canvas)

    def whole_prompt(self, runs: int, *, compiled: bool, soft_tokens: int = 1120) -> float:
        """Seconds of one step when nothing is shared; compiled by transformers or not."""
        inputs = page_inputs(self._model.config, soft_tokens)
        del inputs["attention_mask"]
        here = {k: v.to(self._model.device) for k, v in inputs.items()}
        here["pixel_values"] = here["pixel_values"].to(self._model.dtype)
        rows = {k: v.repeat(runs, *[1] * (v.ndim - 1)) for k, v in here.items()}
        kind = {"cache_implementation": "static"} if compiled else {}
        return self._difference(lambda n: self._timed(lambda: self._generate(n, **rows, **kind)))[0]

    def peak(self) -> float:
        """Bytes at the highest, since the last call where the device can tell."""
        if self._cuda:
            highest = torch.cuda.max_memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            return float(highest)
        unit = 1 if sys.platform == "darwin" else 1024
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)

    def _difference(self, canvas: Callable[[int], float]) -> tuple[float, float]:
        """Time of a step from two canvases, which leaves out what they have in common."""
        canvas(2)  # imports, kernels that are built and chosen the first time
        short, long = canvas(2), canvas(2 + self._steps)
        return max(long - short, 0.0) / self._steps, long

    def _generate(self, steps: int, **inputs: Any) -> None:
        config = self._model.config
        self._model.generate(
            **inputs, max_new_tokens=config.canvas_length, max_denoising_steps=steps
        )

    def _timed(self, work: Callable[[], object]) -> float:
        self._wait()
        started = time.perf_counter()
        work()
        self._wait()
        return time.perf_counter() - started

    def _wait(self) -> None:
        if self._cuda:
            torch.cuda.synchronize()


def _from(ready: Prefill) -> dict[str, Any]:
    return {"input_ids": ready.last, "attention_mask": ready.mask, "cache": ready.cache}


def run(
    bench: Bench,
    *,
    canvas: int,
    batches: Sequence[int],
    most_rows: int,
    compiled: bool,
    deadline: float,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Do all parts in turn; yields each with what was measured, or with why it was left out."""
    prefills = {}
    for soft_tokens in GRIDS:
        prefills[soft_tokens] = bench.prefill(soft_tokens)
        yield (
            f"prefill, {soft_tokens} image tokens",
            {"seconds": prefills[soft_tokens], "peak_bytes": bench.peak()},
        )
    canvases: dict[int, float] = {}
    steps: dict[int, float] = {}
    for runs in sorted({*batches, 1, 5}):
        part = f"denoise, {runs} run{'s' * (runs > 1)}"
        if runs > most_rows:
            yield part, {"left_out": f"does not fit: {most_rows} runs at most"}
        elif time.monotonic() > deadline:
            yield part, {"left_out": "no time left"}
        else:
            steps[runs], canvases[runs] = bench.denoise(runs)
            yield (
                part,
                {
                    "seconds_per_step": steps[runs],
                    "seconds_per_canvas": canvases[runs],
                    "tokens_per_second": runs * canvas / canvases[runs],
                    "peak_bytes": bench.peak(),
                },
            )
    if 5 in canvases:
        one, five = (prefills[1120] + canvases[runs] for runs in (1, 5))
        yield (
            "five runs over one, 1120 image tokens",
            {
                "prefill_seconds": prefills[1120],
                "denoise_seconds_1": canvases[1],
                "denoise_seconds_5": canvases[5],
                "times": five / one,
            },
        )
    for runs in (1, 5) if compiled else ():
        part = f"compiled, {runs} run{'s' * (runs > 1)}"
        if runs > most_rows:
            yield part, {"left_out": f"does not fit: {most_rows} runs at most"}
        elif time.monotonic() > deadline - COMPILE_SECONDS:
            yield part, {"left_out": "no time left"}
        else:
            eager = bench.whole_prompt(runs, compiled=False)
            try:
                fast = bench.whole_prompt(runs, compiled=True)
            except Exception as e:  # a compiler that is not there, or a graph that cannot be traced
                yield part, {"left_out": f"failed: {type(e).__name__}: {str(e)[:200]}"}
            else:
                yield (
                    part,
                    {
                        "seconds_per_step": fast,
                        "seconds_per_step_eager": eager,
                        "peak_bytes": bench.peak(),
                    },
                )


def shown(values: dict[str, Any]) -> str:
    """One line for people."""
    words = []
    for name, value in values.items():
        if name.startswith("seconds_per_step"):
            words.append(f"{value * 1e3:.1f} ms/step{name.removeprefix('seconds_per_step')}")
        elif "seconds" in name:
            words.append(f"{name.replace('_', ' ')} {value:.3f}")
        elif name == "peak_bytes":
            words.append(f"peak {value / 1e9:.2f} GB")
        elif isinstance(value, float):
            words.append(f"{name.replace('_', ' ')} {value:.2f}")
        else:
            words.append(str(value))
    return ", ".join(words)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--shape", choices=("published", "small"), help="default: as the device")
    parser.add_argument("--quantise", choices=("none", "int8", "int4"), default="none")
    parser.add_argument("--batches", help="runs denoised together; default: 1,2,4,8,16 on a GPU")
    parser.add_argument("--steps", type=int, help="denoising steps that are timed")
    parser.add_argument("--seconds", type=float, help="no part begins after that")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(argv)
    logging.set_verbosity_error()
    logging.disable_progress_bar()

    cuda = given.device.startswith("cuda")
    deadline = time.monotonic() + (given.seconds or (420 if cuda else 40))
    steps = given.steps or (16 if cuda else 4)
    batches = given.batches or ("1,2,4,8,16" if cuda else "1,2")
    shape = given.shape or ("published" if cuda else "small")
    config: Any = published_config() if shape == "published" else small_config()
    dtype = torch.bfloat16 if cuda else torch.float32
    name = str(dtype).removeprefix("torch.")
    precision: Precision = name if given.quantise == "none" else given.quantise
    size: Size = PUBLISHED if shape == "published" else measure(config)
    rows = size.rows(precision, free_memory(given.device))
    if not rows:
        needed, free = size.needed(precision) / 1e9, free_memory(given.device) / 1e9
        sys.exit(f"error: {precision} needs {needed:.1f} GB, {free:.1f} GB are free")
    device = torch.cuda.get_device_name() if cuda else given.device
    head = {
        "device": device,
        "torch": torch.__version__,
        "shape": shape,
        "weights": size.total,
        "precision": precision,
        "timed_steps": steps,
    }
    print(", ".join(f"{k} {v}" for k, v in head.items()), flush=True)
    started = time.perf_counter()
    model = random_model(config, given.device, dtype, given.quantise)
    results: dict[str, Any] = {"made": {"seconds": time.perf_counter() - started}}
    bench = Bench(model, steps)
    results["made"]["peak_bytes"] = bench.peak()
    print(f"{'random weights':40s} {shown(results['made'])}", flush=True)
    parts = run(
        bench,
        canvas=config.canvas_length,
        batches=[int(b) for b in batches.split(",")],
        most_rows=rows,
        compiled=cuda if given.compile is None else given.compile,
        deadline=deadline,
    )
    for part, values in parts:
        results[part] = values
        print(f"{part:40s} {shown(values)}", flush=True)
        if given.json:  # at once, for a machine may be taken away
            text = json.dumps({**head, "size": asdict(size), "results": results}, indent=2)
            given.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)  # torch's own import of itself
    main()
