"""Images and a prompt → replies: one prefill for all runs of an image, one batch to denoise."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import DynamicCache, LogitsProcessorList, StoppingCriteriaList
from transformers.models.diffusion_gemma.generation_diffusion_gemma import (
    EntropyBoundSamplerConfig,
)

from ocr_pipeline.engines.base import Cancel
from ocr_pipeline.engines.diffusion_stream import Budget, Cancelled, Canvas, Listener, Stream
from ocr_pipeline.engines.token_chars import TokenProb
from ocr_pipeline.errors import EngineError
from ocr_pipeline.pages.page import Gray

Loops = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is denoised.

    Attributes:
        steps: most denoising steps of a canvas.
        t_min: temperature of the last step.
        t_max: temperature of the first step.
        entropy_bound: nats of joint entropy up to which tokens are accepted together.
        stability: steps for which a canvas must stay the same before it is finished.
        confidence: mean entropy (nats) below which it may be.
        canvases: canvases a reply may use whatever it says.
        most_canvases: canvases it may use as long as it does not loop.
    """

    steps: int = 48
    t_min: float = 0.4
    t_max: float = 0.8
    entropy_bound: float = 0.1
    stability: int = 1
    confidence: float = 0.005
    canvases: int = 8
    most_canvases: int = 32


@dataclass(frozen=True, eq=False, slots=True)
class Tokens:
    """The reply of one run, token by token, up to and without the end of the sequence.

    Attributes:
        ids: the tokens; special ones are still among them.
        probability, entropy, runner_up, runner_up_probability, changes: of each, as in `Canvas`.
        finished: it ended by itself.
        steps: decoder passes it needed.
        canvases: canvases it used.
    """

    ids: NDArray[np.int64]
    probability: NDArray[np.float32]
    entropy: NDArray[np.float32]
    runner_up: NDArray[np.int64]
    runner_up_probability: NDArray[np.float32]
    changes: NDArray[np.int64]
    finished: bool
    steps: int
    canvases: int

    def probs(self) -> list[TokenProb]:
        """The same token by token."""
        columns = (self.ids, self.probability, self.entropy)
        others = (self.runner_up, self.runner_up_probability, self.changes)
        return [
            TokenProb(int(t), float(p), float(e), int(o), float(q), int(c))
            for t, p, e, o, q, c in zip(*columns, *others, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Generation:
    """The replies of a batch, `replies[image][run]`, and what they cost.

    Attributes:
        replies: empty lists where the generation was cancelled before its first canvas.
        cancelled: the listener left; what was committed until then is in `replies`.
        image_tokens: soft tokens of one image.
        prompt_tokens: tokens of one prompt, the image's included.
        prefill_seconds: vision tower and encoder, once for all runs.
        denoise_seconds: everything after.
    """

    replies: list[list[Tokens]]
    cancelled: bool
    image_tokens: int
    prompt_tokens: int
    prefill_seconds: float
    denoise_seconds: float


@dataclass(frozen=True, eq=False, slots=True)
class Prefill:
    """Prompts in the cache, but for their last token.

    Attributes:
        cache: of B prompts, S - 1 positions.
        last: B×1, the last token of each.
        mask: B×S, false on padding.
        image_tokens: soft tokens of the first image; 0 without images.
    """

    cache: DynamicCache
    last: torch.Tensor
    mask: torch.Tensor
    image_tokens: int

    def repeated(self, times: int) -> Prefill:
        """For that many runs of each prompt, which stand side by side. The cache is used up."""
        if times > 1:
            self.cache.batch_repeat_interleave(times)
        return Prefill(
            self.cache,
            self.last.repeat_interleave(times, 0),
            self.mask.repeat_interleave(times, 0),
            self.image_tokens,
        )


def prompt_inputs(
    processor: Any, images: Sequence[Gray], prompt: str, *, soft_tokens: int, resize: bool = True
) -> dict[str, torch.Tensor]:
    """Chat prompts, image before text, as the model takes them.

    Args:
        processor: of the checkpoint.
        images: H×W uint8; none gives one prompt of text alone.
        prompt: may be empty when there are images.
        soft_tokens: the most an image may take.
        resize: let the processor fill the budget; else an image keeps its size, and its sides must
            be multiples of patch × pooling.

    Raises:
        EngineError: the prompt does not hold the image tokens that were asked for.
    """
    text = [{"type": "text", "text": prompt}] if prompt else []
    chats = [
        [{"role": "user", "content": [{"type": "image", "image": _rgb(image)}, *text]}]
        for image in images
    ] or [[{"role": "user", "content": text}]]
    options = {"max_soft_tokens": soft_tokens, "do_resize": resize} if images else {}
    inputs = dict(
        processor.apply_chat_template(
            chats,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"images_kwargs": options, "padding": True},
        )
    )
    if images:
        real = (
            (inputs["image_position_ids"] >= 0).all(-1).sum(-1)
        )  # patches that are none: (-1, -1)
        longest = int(real.max())
        for name in ("pixel_values", "image_position_ids"):
            inputs[name] = inputs[name][:, :longest]
        _check_image_tokens(inputs, processor, images, real, soft_tokens, resize)
    return inputs


def _rgb(image: Gray) -> Image.Image:
    return Image.fromarray(image).convert("RGB")


def _check_image_tokens(
    inputs: dict[str, torch.Tensor],
    processor: Any,
    images: Sequence[Gray],
    patches: torch.Tensor,
    soft_tokens: int,
    resize: bool,
) -> None:
    """A prompt that silently holds a smaller image reads like a model that cannot see."""
    pooled = processor.image_processor.pooling_kernel_size**2
    there = (inputs["input_ids"] == processor.image_token_id).sum(-1)
    for image, expected, found in zip(images, patches // pooled, there, strict=True):
        height, width = image.shape
        # Both sides are rounded down to whole soft tokens, so a long thin image uses fewer.
        ratio = max(height / width, width / height)
        short = (soft_tokens / ratio) ** 0.5
        least = max(int(short) * int(short * ratio) - int(short), 1) if resize else 1
        if found != expected or not least <= found <= soft_tokens:
            raise EngineError(
                f"the prompt holds {int(found)} image tokens for an image of {width}×{height} "
                f"pixels; {soft_tokens} were asked for",
                remedy="processor and model do not belong together; load both from one place",
            )


def encode(
    model: Any,
    ids: torch.Tensor,
    *,
    types: torch.Tensor | None,
    mask: torch.Tensor | None = None,
    **image: Any,
) -> DynamicCache:
    """Keys and values of B prompts of S tokens, under the masks that `generate` makes.

    The encoder, called by itself, throws its own mask away (transformers 5.24), and image tokens
    would see only what comes before them. Reading and training both come through here, so that a
    model is trained on what it will see.

    Args:
        model: the model.
        ids: B×S.
        types: B×S, 1 at image tokens; None without images.
        mask: B×S, false on padding; None where there is none.
        image: what the encoder takes of the image, `pixel_values` and `image_position_ids`, or
            `mm_encoder_outputs`.
    """
    count, length = ids.shape
    encoder = model.model.encoder
    cache = DynamicCache(config=model.config.get_text_config(decoder=True))
    positions = torch.arange(length, device=ids.device, dtype=torch.int32).unsqueeze(0)
    masks = encoder.create_masks_for_generate(
        config=model.config,
        inputs_embeds=torch.empty((count, length, 0), dtype=model.dtype, device=ids.device),
        attention_mask=mask,
        cache=cache,
        position_ids=positions,
        mm_token_type_ids=types,
    )
    encoder(input_ids=ids, attention_mask=masks, cache=cache, position_ids=positions, **image)
    return cache


@torch.no_grad()
def prefill(model: Any, inputs: dict[str, torch.Tensor]) -> Prefill:
    """Encode all of the prompts but their last token, once."""
    device = model.device
    ids = inputs["input_ids"].to(device)
    mask = inputs["attention_mask"].to(device).bool()
    types = inputs.get("mm_token_type_ids")
    images = {}
    if "pixel_values" in inputs:
        images["pixel_values"] = inputs["pixel_values"].to(device, model.dtype)
        images["image_position_ids"] = inputs["image_position_ids"].to(device)
    cache = encode(
        model,
        ids[:, :-1],
        types=None if types is None else types[:, :-1].to(device),
        mask=mask[:, :-1],
        **images,
    )
    image_tokens = int((ids[0] == model.config.image_token_id).sum())
    return Prefill(cache, ids[:, -1:], mask, image_tokens)


def generate(
    model: Any,
    processor: Any,
    inputs: dict[str, torch.Tensor],
    seeds: Sequence[int],
    sampling: Sampling,
    *,
    loops: Loops,
    listener: Listener | None = None,
    cancel: Cancel | None = None,
) -> Generation:
    """Denoise every prompt once per seed, as one batch.

    Everything random comes from one seed made of all of them, for `generate` draws for the whole
    batch at once: the same seeds in the same batch give the same replies.

    Args:
        model: the model.
        processor: its processor.
        inputs: of B prompts, from `prompt_inputs`.
        seeds: of the R runs.
        sampling: how.
        loops: whether a reply runs in circles.
        listener: gets drafts and canvases of B·R rows; the runs of a prompt stand side by side.
        cancel: asked after every step.

    Raises:
        NotFiniteError: the logits are NaN or infinite.
    """
    started = _clock(model)
    ready = prefill(model, inputs)
    filled = _clock(model)
    runs, prompts = len(seeds), ready.last.shape[0]
    ready = ready.repeated(runs)
    tokenizer = processor.tokenizer
    stream = Stream(tokenizer, listener or Listener(), cancel)
    canvas = model.config.canvas_length
    budget = Budget(
        sampling.canvases, 1, lambda ids: loops(tokenizer.decode(ids, skip_special_tokens=True))
    )
    cancelled = False
    passes = torch.zeros(prompts * runs)
    with torch.random.fork_rng(devices=[model.device] if model.device.type == "cuda" else []):
        torch.manual_seed(_one_seed(seeds))
        try:
            output = model.generate(
                input_ids=ready.last,
                attention_mask=ready.mask,
                cache=ready.cache,
                streamer=stream.streamer(),
                logits_processor=LogitsProcessorList([stream.probe]),
                stopping_criteria=StoppingCriteriaList([budget]),
                max_new_tokens=max(sampling.canvases, sampling.most_canvases) * canvas,
                max_denoising_steps=sampling.steps,
                t_min=sampling.t_min,
                t_max=sampling.t_max,
                sampler_config=EntropyBoundSamplerConfig(sampling.entropy_bound),
                stability_threshold=sampling.stability,
                confidence_threshold=sampling.confidence,
            )
            new = (output.sequences[:, 1:] != model.config.text_config.pad_token_id).sum(-1)
            passes = (new / output.tokens_per_forward.clamp(min=1e-9)).cpu()
        except Cancelled:
            cancelled = True
    replies = [_reply(model, stream.canvases, row, passes) for row in range(prompts * runs)]
    return Generation(
        replies=[replies[i * runs : (i + 1) * runs] for i in range(prompts)],
        cancelled=cancelled,
        image_tokens=ready.image_tokens,
        prompt_tokens=int(ready.mask[0].sum()),
        prefill_seconds=filled - started,
        denoise_seconds=_clock(model) - filled,
    )


def _clock(model: Any) -> float:
    if model.device.type == "cuda":
        torch.cuda.synchronize(model.device)
    return time.perf_counter()


def _one_seed(seeds: Sequence[int]) -> int:
    """One seed of many; a single one stands for itself."""
    if len(seeds) == 1:
        return seeds[0]
    digest = hashlib.sha256(",".join(map(str, seeds)).encode()).digest()
    return int.from_bytes(digest[:7], "big")


def end_tokens(model: Any) -> set[int]:
    """Tokens that end a reply."""
    ids = model.generation_config.eos_token_id
    if ids is None:
        ids = model.config.text_config.eos_token_id
    return set(ids) if isinstance(ids, list) else {ids}


def _reply(model: Any, canvases: Sequence[Canvas], row: int, passes: torch.Tensor) -> Tokens:
    """Cut a row out of all canvases, up to the end of its reply."""

    def whole(name: str) -> NDArray[Any]:
        parts = [getattr(canvas, name)[row] for canvas in canvases]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    ids = whole("tokens")
    stop = np.flatnonzero(np.isin(ids, list(end_tokens(model))))
    # A reply that was stopped is padded while the others of its batch go on.
    said = np.flatnonzero(ids != model.config.text_config.pad_token_id)
    length = int(stop[0]) if stop.size else int(said[-1]) + 1 if said.size else 0
    width = model.config.canvas_length
    return Tokens(
        ids=ids[:length],
        probability=whole("probability")[:length],
        entropy=whole("entropy")[:length],
        runner_up=whole("runner_up")[:length],
        runner_up_probability=whole("runner_up_probability")[:length],
        changes=whole("changes")[:length],
        finished=bool(stop.size),
        steps=round(float(passes[row])),
        canvases=min(len(canvases), (length + int(bool(stop.size)) + width - 1) // width or 1),
    )
