"""A DiffusionGemma checkpoint, from the hub or a folder, ready to be used on this machine."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from logging import CRITICAL
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ocr_pipeline.engines import diffusion_files as checkpoint
from ocr_pipeline.engines import diffusion_memory as memory
from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.errors import EngineError, MissingExtraError, OcrPipelineError, UsageError

if TYPE_CHECKING:
    from transformers import DiffusionGemmaConfig

    from ocr_pipeline.engines.expert_quant import Precision

DTYPES = ("auto", "bfloat16", "float16", "float32")
QUANTISE = ("none", "int8", "int4")
_SLOW = 4e9
"""Bytes; loading more than this is worth a progress bar."""


@dataclass(frozen=True, eq=False, slots=True)
class Loaded:
    """A model and what goes with it.

    Attributes:
        model: in evaluation mode, on its device.
        processor: of the same checkpoint.
        card: how it wants to be asked.
        device: where inputs go: `cuda:0`, `mps`, `cpu`.
        dtype: of the weights that are not quantised.
        name: as it was asked for.
        rows: runs of tiles that can be denoised together in the memory that is left.
    """

    model: Any
    processor: Any
    card: Card
    device: str
    dtype: str
    name: str
    rows: int


def load(name: str, *, device: str = "auto", dtype: str = "auto", quantise: str = "none") -> Loaded:
    """Load a checkpoint.

    Args:
        name: hub id, folder, or `pocket`.
        device: `auto` takes the CUDA device with the most free memory, else Apple's GPU, else the
            CPU; a model too large for one CUDA device is spread over all.
        dtype: `auto` is `bfloat16`, and `float32` on a CPU with twice the room for it.
        quantise: `none`, `int8`, or `int4` (experts in 4 bits, linear layers in 8). A checkpoint
            that was saved quantised stays as it is.

    Raises:
        MissingExtraError: torch, transformers or accelerate is missing or too old.
        UsageError: there is no such device or precision.
        EngineError: everything else, with what to do about it.
    """
    if dtype not in DTYPES or quantise not in QUANTISE:
        raise UsageError(
            f"there is no precision {dtype if dtype not in DTYPES else quantise}",
            remedy=f"dtype: {', '.join(DTYPES)}; quantise: {', '.join(QUANTISE)}",
        )
    _require()
    try:
        return _load(name, device, dtype, quantise)
    except OcrPipelineError:
        raise
    except Exception as e:  # files hold what nobody thought of
        raise EngineError(
            f"{name} cannot be loaded: {type(e).__name__}: {_first_line(e)}",
            remedy="its files are damaged; copy the checkpoint again",
        ) from e


def _load(name: str, device: str, dtype: str, quantise: str) -> Loaded:
    with _quiet():
        where = _device(device)
        source = checkpoint.locate(name)
        config, bits = _configuration(name, source)
        size = memory.measure(config)
        free = memory.free_memory(where)
        kind = _dtype(dtype, where, size, free)
        quantise = {0: quantise, 4: "int4", 8: "int8"}[bits]
        precision = cast("memory.Precision", kind if quantise == "none" else quantise)
        spread = device == "auto" and quantise == "none" and _fits_together(size, precision, free)
        if not spread:
            memory.check(name, size, precision, free, where)
    folder = checkpoint.fetch(source)
    with _quiet(progress=size.weights(precision) > _SLOW and sys.stderr.isatty()):
        card = checkpoint.read_card(folder)
        checkpoint.verify(name, folder)
        processor = _processor(name, folder)
        fresh = None if bits or quantise == "none" else cast("Precision", quantise)
        model = _model(name, folder, kind, fresh, "auto" if spread else where)
        _ask_in_vain(name, processor, model)
    rows = max(1, size.rows(precision, free))
    return Loaded(model, processor, card, where, kind, name, rows)


def _require() -> None:
    """Import what the extra brings.

    Raises:
        MissingExtraError: a package is missing, or transformers does not know the model.
    """
    try:
        import accelerate  # type: ignore[import-untyped]  # noqa: F401, PLC0415
        import torch  # noqa: F401, PLC0415
        import transformers  # noqa: PLC0415
    except ImportError as e:
        missing = e.name or str(e)
        raise MissingExtraError(f"DiffusionGemma needs {missing}", extra="gemma") from e
    if not hasattr(transformers, "DiffusionGemmaForBlockDiffusion"):
        raise MissingExtraError(
            f"transformers {transformers.__version__} does not know DiffusionGemma; 5.11 does",
            extra="gemma",
        )


def _device(wanted: str) -> str:
    import torch  # noqa: PLC0415

    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if wanted == "auto":
        if cuda:
            every = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
            return max(every, key=memory.free_memory)
        return "mps" if mps else "cpu"
    kind, _, number = wanted.partition(":")
    there = {"cuda": cuda, "mps": mps, "cpu": True}
    if kind not in there or (number and not (kind == "cuda" and number.isdigit())):
        raise UsageError(
            f"there is no device {wanted!r}", remedy="give auto, cuda, cuda:1, mps or cpu"
        )
    if not there[kind] or (kind == "cuda" and int(number or 0) >= torch.cuda.device_count()):
        raise EngineError(
            f"torch {torch.__version__} sees no device {wanted} here",
            remedy="ocr-pipeline doctor says what there is; -O device=cpu always works",
        )
    return f"cuda:{number or 0}" if kind == "cuda" else kind


def _dtype(wanted: str, device: str, size: memory.Size, free: float) -> str:
    if wanted != "auto":
        return wanted
    roomy = device == "cpu" and 2 * size.needed("float32") <= free
    return "float32" if roomy else "bfloat16"


def _fits_together(size: memory.Size, precision: memory.Precision, free: float) -> bool:
    """Whether a model that is too large for one CUDA device fits on all of them."""
    import torch  # noqa: PLC0415

    count = torch.cuda.device_count()
    if count < 2 or size.needed(precision) <= free:
        return False
    return size.needed(precision) <= sum(memory.free_memory(f"cuda:{i}") for i in range(count))


def _configuration(name: str, source: Path | str) -> tuple[DiffusionGemmaConfig, int]:
    """The configuration, and the bits of experts that were saved in our packing (else 0).

    Raises:
        EngineError: it is none of this model's, or quantised by others.
    """
    from transformers import DiffusionGemmaConfig  # noqa: PLC0415

    from ocr_pipeline.engines.expert_quant import METHOD  # noqa: PLC0415

    content = checkpoint.read_config(name, source)
    saved = content.get("quantization_config") or {}
    method = saved.get("quant_method")
    if method not in (None, METHOD) or (method and saved.get("bits") not in (4, 8)):
        raise EngineError(
            f"{name} was quantised with {method}, which this engine does not read",
            remedy="take the original checkpoint with -O quantise=int8 or int4",
        )
    try:
        return DiffusionGemmaConfig.from_dict(content), saved.get("bits", 0)
    except Exception as e:  # whatever validation transformers has in this version
        raise EngineError(
            f"config.json of {name} does not describe a DiffusionGemma: {_first_line(e)}",
            remedy="copy that file again, or update transformers",
        ) from e


def _processor(name: str, folder: Path) -> Any:
    from ocr_pipeline.engines.diffusion_processor import PageProcessor  # noqa: PLC0415

    try:
        processor = PageProcessor.from_pretrained(folder)
    except Exception as e:  # tokenizers and transformers raise whatever their parsers raise
        raise EngineError(
            f"the processor of {name} cannot be loaded: {_first_line(e)}",
            remedy="copy tokenizer and processor files of the checkpoint again",
        ) from e
    if not processor.chat_template:
        raise EngineError(
            f"{name} has no chat template", remedy="add its chat_template.jinja to the folder"
        )
    return processor


def _ask_in_vain(name: str, processor: Any, model: Any) -> None:
    """Make a prompt, and see that the model would find the image in it.

    Raises:
        EngineError: the template is broken, or processor and model number the image differently.
    """
    from ocr_pipeline.engines.diffusion_generate import prompt_inputs  # noqa: PLC0415

    paper = np.full((480, 480), 255, np.uint8)
    try:
        inputs = prompt_inputs(processor, [paper], "", soft_tokens=70)
    except Exception as e:  # templates raise whatever their authors wrote
        raise EngineError(
            f"{name} makes no prompt: {_first_line(e)}",
            remedy="copy its chat_template.jinja, tokenizer and processor files again",
        ) from e
    if not (inputs["input_ids"] == model.config.image_token_id).any():
        raise EngineError(
            f"the model of {name} would not find the image in its prompt",
            remedy="config.json and tokenizer do not belong together; copy the checkpoint again",
        )


def _model(name: str, folder: Path, dtype: str, quantise: Precision | None, device: str) -> Any:
    import torch  # noqa: PLC0415
    from transformers import DiffusionGemmaForBlockDiffusion  # noqa: PLC0415

    options: dict[str, Any] = {}
    if quantise:
        from ocr_pipeline.engines.expert_quant import quantisation  # noqa: PLC0415

        options["quantization_config"] = quantisation(quantise)
    start: Any = DiffusionGemmaForBlockDiffusion.from_pretrained
    try:
        model, found = start(
            folder,
            dtype=getattr(torch, dtype),
            device_map="auto" if device == "auto" else {"": device},
            use_safetensors=True,
            local_files_only=True,
            ignore_mismatched_sizes=True,  # they are refused below, with their names
            output_loading_info=True,
            **options,
        )
    except (torch.OutOfMemoryError, MemoryError) as e:
        raise EngineError(
            f"{name} does not fit on {device}: {_first_line(e)}",
            remedy="end what else uses that memory, or give -O quantise=int4",
        ) from e
    except Exception as e:  # a file that changed meanwhile, a driver, a fault of transformers
        raise EngineError(
            f"{name} cannot be loaded: {_first_line(e)}",
            remedy="download or copy the checkpoint again, or update transformers",
        ) from e
    wrong = sorted(found["missing_keys"]) + sorted(k for k, *_ in found["mismatched_keys"])
    if wrong:
        raise EngineError(
            f"{len(wrong)} weights of {name} are missing or of another shape, {wrong[0]} for one; "
            "random ones would take their place",
            remedy="its config.json and weights do not belong together; copy the checkpoint again",
        )
    return model


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


@contextmanager
def _quiet(progress: bool = False) -> Iterator[None]:
    """Keep the chatter of transformers off the terminal; what matters becomes an error."""
    import huggingface_hub.utils.logging as hub  # noqa: PLC0415
    import transformers.utils.logging as own  # noqa: PLC0415

    levels, bar = (own.get_verbosity(), hub.get_verbosity()), own.is_progress_bar_enabled()
    own.set_verbosity(CRITICAL)
    hub.set_verbosity(CRITICAL)
    _progress_bar(progress)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        own.set_verbosity(levels[0])
        hub.set_verbosity(levels[1])
        _progress_bar(bar)


def _progress_bar(shown: bool) -> None:
    import transformers.utils.logging as own  # noqa: PLC0415

    switch: Any = own.enable_progress_bar if shown else own.disable_progress_bar
    switch()
