"""How much memory DiffusionGemma needs, in which precision, and what would fit.

Needs no torch, so that `doctor` can ask; only `measure` and `free_memory` do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from ocr_pipeline.errors import EngineError

Precision = Literal["float32", "float16", "bfloat16", "int8", "int4"]

_BITS: dict[Precision, tuple[float, float, float]] = {
    "float32": (32, 32, 32),
    "float16": (16, 16, 16),
    "bfloat16": (16, 16, 16),
    "int8": (8.25, 8.25, 16),
    "int4": (4.5, 8.25, 16),
}
"""Bits of a weight of the experts, of the text model's linear layers, and of the rest. A group of
32 (4 bits) or 64 weights (8 bits) has a scale of 16 bits."""
_LOGITS = 8
"""Copies of a canvas' logits in 32 bits that `generate` holds at its peak (transformers 5.24; as
measured by the growth of a process from one row to four, vocabulary 262,144). In 16 bits one copy
is half as large, which leaves room for the keys and values of a row (0.25 GB)."""
_CONTEXT = 1.0e9
"""Bytes for keys and values, activations, and the driver."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a model's memory is made of.

    Attributes:
        experts: weights of all experts of all layers.
        linears: weights of attention and dense layers of the text model.
        rest: all other weights: embeddings, vision tower, router, norms.
        layer: weights of the experts of one layer, which are unpacked together.
        logits: numbers that one denoising step writes for one row: canvas × vocabulary.
    """

    experts: int
    linears: int
    rest: int
    layer: int
    logits: int

    @property
    def total(self) -> int:
        """All weights, each counted once: encoder and decoder share theirs."""
        return self.experts + self.linears + self.rest

    def weights(self, precision: Precision) -> float:
        """Bytes of the weights."""
        parts = (self.experts, self.linears, self.rest)
        return sum(n * b for n, b in zip(parts, _BITS[precision], strict=True)) / 8

    def working(self, precision: Precision) -> float:
        """Bytes beside the weights, before the first row is denoised."""
        return _CONTEXT + (2.5 * self.layer if precision in ("int8", "int4") else 0)

    def row(self) -> float:
        """Bytes for each row (a run of a tile) that is denoised in the same batch."""
        return float(_LOGITS * 4 * self.logits)

    def needed(self, precision: Precision) -> float:
        """Bytes to read one page once."""
        return self.weights(precision) + self.working(precision) + self.row()

    def rows(self, precision: Precision, free: float) -> int:
        """Rows that can be denoised together in `free` bytes, weights included; 0: it won't fit."""
        left = free - self.weights(precision) - self.working(precision)
        return max(0, int(left / self.row()))


PUBLISHED = Size(
    experts=22_837_985_280,
    linears=1_645_445_120,
    rest=1_340_348_464,
    layer=761_266_176,
    logits=256 * 262_144,
)
"""google/diffusiongemma-26B-A4B-it: 25.8 billion weights, 0.6 of them in the vision tower."""
ON_A_GPU: tuple[Precision, ...] = ("bfloat16", "int8", "int4")
"""Best first."""


def fitting(size: Size, free: float) -> Precision | None:
    """The best precision for a GPU with `free` bytes."""
    return next((p for p in ON_A_GPU if size.needed(p) <= free), None)


def describe(size: Size, precisions: tuple[Precision, ...] = ON_A_GPU) -> str:
    """`bfloat16 54.8 GB, int8 …`: what each precision needs for one run."""
    return ", ".join(f"{p} {size.needed(p) / 1e9:.1f} GB" for p in precisions)


def check(name: str, size: Size, precision: Precision, free: float, device: str) -> None:
    """Make sure that a model fits, before it is downloaded or read.

    Raises:
        EngineError: it does not; says how much there is, what is needed, and what would fit.
    """
    if size.needed(precision) <= free:
        return
    weights, needed = size.weights(precision) / 1e9, size.needed(precision) / 1e9
    smaller = [p for p in ON_A_GPU if size.needed(p) <= free and p != precision]
    if smaller:
        option = "dtype" if smaller[0] == "bfloat16" else "quantise"
        remedy = f"what fits: -O {option}={smaller[0]}"
    else:
        remedy = f"nothing fits there ({describe(size)}); take a larger GPU or --engine ppocr"
    raise EngineError(
        f"{name} needs {needed:.1f} GB in {precision} ({weights:.1f} GB of weights, the rest to "
        f"work), and {device} has {free / 1e9:.1f} GB free",
        remedy=remedy,
    )


def measure(config: Any) -> Size:
    """Count the weights of a `DiffusionGemmaConfig`, without any memory for them."""
    import torch  # noqa: PLC0415
    from transformers import DiffusionGemmaForBlockDiffusion  # noqa: PLC0415

    with torch.device("meta"):
        model: Any = DiffusionGemmaForBlockDiffusion(config)
    counts = {"experts": 0, "linears": 0, "rest": 0}
    for name, weight in model.named_parameters():  # tied ones come once
        counts[_part(name)] += weight.numel()
    text: Any = config.text_config
    return Size(
        **counts,
        layer=counts["experts"] // text.num_hidden_layers,
        logits=config.canvas_length * text.vocab_size,
    )


def _part(name: str) -> str:
    if re.search(r"\.experts\.\w+_proj$", name):
        return "experts"
    if re.search(r"(language_model|decoder)\.layers\.\d+\.(self_attn|mlp)\.\w+_proj\.", name):
        return "linears"
    return "rest"


def free_memory(device: str) -> float:
    """Bytes that are free on a device: `cuda`, `cuda:1`, `mps` or `cpu`."""
    import torch  # noqa: PLC0415

    if device.startswith("cuda"):
        return float(torch.cuda.mem_get_info(torch.device(device))[0])
    if device == "mps":
        held = torch.mps.driver_allocated_memory()
        return float(torch.mps.recommended_max_memory() - held)
    import psutil  # type: ignore[import-untyped]  # noqa: PLC0415  (comes with accelerate)

    return float(psutil.virtual_memory().available)
