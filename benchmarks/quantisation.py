"""Ways to load DiffusionGemma in fewer bits: do the experts shrink, and what does it cost?

    python -m benchmarks.quantisation

A small model of the real class (random weights with heavy tails, as trained ones have) is saved and
loaded in each way. Packages other than our own dependencies are tried where they are installed:

    pip install torchao optimum-quanto hqq bitsandbytes

Columns: bytes a weight of the experts and of the whole text model (each storage once, scales
included), and against the same weights in float32 the relative error of the logits (median over
positions), their divergence in nats, and how often the most probable token is the same.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion
from transformers.utils import logging

from ocr_pipeline.engines.expert_quant import quantisation

Make = Callable[[], Any]
"""Gives a `quantization_config`, or nothing."""


def config() -> DiffusionGemmaConfig:
    """Most weights are in the experts, and sides suit every method's groups."""
    text = {
        "vocab_size": 2048,
        "hidden_size": 256,
        "intermediate_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "global_head_dim": 64,
        "num_global_key_value_heads": 2,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "num_experts": 32,
        "top_k_experts": 4,
        "moe_intermediate_size": 128,
        "use_bidirectional_attention": "vision",
    }
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 16,
        "position_embedding_size": 64,
    }
    ids = {"image_token_id": 2000, "boi_token_id": 2001, "eoi_token_id": 2002}
    return DiffusionGemmaConfig(text_config=text, vision_config=vision, canvas_length=64, **ids)


def build(seed: int = 0) -> Any:
    """A model whose matrices follow Student's t with five degrees of freedom."""
    torch.manual_seed(seed)
    model: Any = DiffusionGemmaForBlockDiffusion(config())
    tails = torch.distributions.StudentT(torch.tensor(5.0))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                width = weight.shape[-1]
                weight.copy_(tails.sample(weight.shape) * (0.775 / width**0.5))
        for name, weight in model.named_parameters():
            # As training leaves it: decided routers, attention to more than one place.
            if name.endswith("router.proj.weight"):
                weight.mul_(4)
            if name.endswith("q_norm.weight"):
                weight.fill_(model.config.text_config.head_dim**-0.5)
    return model.eval()


@dataclass(frozen=True)
class Method:
    """A way to load the model.

    Attributes:
        name: shown in the table.
        package: distribution that it needs.
        make: its `quantization_config`.
        experts: how transformers runs experts; None is its own choice, a grouped product.
    """

    name: str
    package: str
    make: Make
    experts: str | None = None


def _torchao(bits: int, *, tied: bool = True, experts: bool = False) -> Any:
    from torchao.quantization import (  # noqa: PLC0415
        FqnToConfig,
        Int4WeightOnlyConfig,
        Int8WeightOnlyConfig,
    )
    from transformers import TorchAoConfig  # noqa: PLC0415

    kind = Int8WeightOnlyConfig() if bits == 8 else Int4WeightOnlyConfig(group_size=64)
    if experts:
        names = {rf"re:.*\.experts\.{n}": kind for n in ("gate_up_proj", "down_proj")}
        kind = FqnToConfig({**names, "_default": kind})
    return TorchAoConfig(kind, modules_to_not_convert=KEPT if tied else None)


def _quanto(weights: str) -> Any:
    from transformers import QuantoConfig  # noqa: PLC0415

    return QuantoConfig(weights=weights, modules_to_not_convert=KEPT)


def _hqq(bits: int) -> Any:
    from transformers import HqqConfig  # noqa: PLC0415

    return HqqConfig(nbits=bits, group_size=64, skip_modules=KEPT)


def _bitsandbytes(bits: int) -> Any:
    from transformers import BitsAndBytesConfig  # noqa: PLC0415

    if bits == 8:
        return BitsAndBytesConfig(load_in_8bit=True, llm_int8_skip_modules=KEPT)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.float32,
        llm_int8_skip_modules=KEPT,
    )


def _fp8() -> Any:
    from transformers import FineGrainedFP8Config  # noqa: PLC0415

    return FineGrainedFP8Config(modules_to_not_convert=KEPT)


KEPT = ["lm_head", "vision_tower", "embed_vision", "router"]
"""What others are told to leave alone. By themselves they leave everything that is tied, and with
it the whole text model: its layers are those of the encoder and of the decoder."""
METHODS = (
    Method("bfloat16", "transformers", lambda: None),
    Method("ours, int8", "transformers", lambda: quantisation("int8")),
    Method("ours, int4", "transformers", lambda: quantisation("int4")),
    Method("torchao int8, as it comes", "torchao", lambda: _torchao(8, tied=False)),
    Method("torchao int8", "torchao", lambda: _torchao(8)),
    Method("torchao int4", "torchao", lambda: _torchao(4)),
    Method("torchao int8, experts named", "torchao", lambda: _torchao(8, experts=True)),
    Method("the same, one by one", "torchao", lambda: _torchao(8, experts=True), "eager"),
    Method("torchao int4, experts named", "torchao", lambda: _torchao(4, experts=True), "eager"),
    Method("quanto int8", "optimum-quanto", lambda: _quanto("int8")),
    Method("quanto int4", "optimum-quanto", lambda: _quanto("int4")),
    Method("hqq 4 bits", "hqq", lambda: _hqq(4)),
    Method("bitsandbytes int8", "bitsandbytes", lambda: _bitsandbytes(8)),
    Method("bitsandbytes nf4", "bitsandbytes", lambda: _bitsandbytes(4)),
    Method("fp8, blocks of 128", "transformers", _fp8),
)


def tensors(value: object, depth: int = 4) -> Iterator[Tensor]:
    """All plain tensors that a value holds, through the wrappers that quantisers use."""
    if depth == 0:
        return
    if isinstance(value, Tensor):
        inner = getattr(value, "__tensor_flatten__", None)
        if inner is not None and type(value) is not nn.Parameter:
            for name in inner()[0]:
                yield from tensors(getattr(value, name), depth - 1)
        else:
            yield value
        for name in ("quant_state", "CB", "SCB"):  # bitsandbytes
            yield from tensors(getattr(value, name, None), depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item, depth - 1)
    elif type(value).__module__.startswith("bitsandbytes") and hasattr(value, "__dict__"):
        yield from tensors(vars(value), depth - 1)


def held(modules: Iterator[nn.Module]) -> int:
    """Bytes of all tensors that modules hold, each storage once."""
    found: dict[int, int] = {}
    for module in modules:
        own = {k: v for k, v in vars(module).items() if k != "_modules"}
        for tensor in tensors(own):
            storage = tensor.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
    return sum(found.values())


@torch.no_grad()
def logits(model: Any) -> Tensor:
    """(positions, vocabulary) for fixed prompts and canvases."""
    drawn = torch.Generator().manual_seed(1)
    ids = torch.randint(3, 1900, (4, 24), generator=drawn)
    canvas = torch.randint(3, 1900, (4, 64), generator=drawn)
    return model(input_ids=ids, decoder_input_ids=canvas).logits.float().flatten(0, 1)


def compare(reference: Tensor, found: Tensor) -> tuple[float, float, float]:
    """Relative error (median over positions), mean divergence in nats, share of the same winner."""
    off = (found - reference).norm(dim=-1) / reference.norm(dim=-1)
    true = reference.log_softmax(-1)
    nats = (true.exp() * (true - found.log_softmax(-1))).sum(-1)
    same = (found.argmax(-1) == reference.argmax(-1)).float()
    return float(off.median()), float(nats.mean()), float(same.mean())


def load(method: Method, folder: Path, dtype: torch.dtype) -> Any:
    """The saved model, as a method loads it."""
    start: Any = DiffusionGemmaForBlockDiffusion.from_pretrained
    return start(
        folder,
        dtype=dtype,
        device_map=None if method.package == "hqq" else {"": "cpu"},
        quantization_config=method.make(),
        experts_implementation=method.experts,
    )


def sizes(model: Any) -> tuple[float, float]:
    """Bytes a weight: of the experts, and of the text model."""
    experts = [m for m in model.modules() if "Experts" in type(m).__name__]
    text = [m for name, m in model.named_modules() if "vision" not in name]
    full = [(n, p.numel()) for n, p in build().named_parameters() if "vision" not in n]
    return (
        held(iter(experts)) / sum(count for name, count in full if ".experts." in name),
        held(iter(text)) / sum(count for _, count in full),
    )


def measure(method: Method, folder: Path, reference: Tensor) -> list[str]:
    """A row of the table."""
    try:
        installed = version(method.package)
    except PackageNotFoundError:
        return [method.name, "not installed", *["" for _ in range(5)]]
    row = [method.name, "" if method.package == "transformers" else installed]
    try:
        row += [f"{size:.3f}" for size in sizes(load(method, folder, torch.bfloat16))]
        # Computing in 32 bits leaves only the error of the weights.
        error, nats, same = compare(reference, logits(load(method, folder, torch.float32)))
        row += [f"{error:.4f}", f"{nats:.5f}", f"{same:.3f}"]
    except Exception as e:  # whatever a package does with a model that it was not made for
        reason = (str(e).strip() or type(e).__name__).splitlines()[0]
        row.append(f"fails: {reason[:110]}")
    return row + [""] * (7 - len(row))


def main() -> None:
    """Print the table as Markdown, row by row."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="methods whose name holds this")
    given = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    print(f"torch {torch.__version__}, transformers {transformers.__version__}\n")
    head = ["method", "version", "bytes/expert weight", "bytes/text weight"]
    head += ["logit error", "divergence", "same winner"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    model = build()
    with tempfile.TemporaryDirectory() as folder:
        model.to(torch.bfloat16).save_pretrained(folder)
        reference = logits(load(METHODS[0], Path(folder), torch.float32))
        for method in METHODS:
            if given.only in method.name:
                row = measure(method, Path(folder), reference)
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
