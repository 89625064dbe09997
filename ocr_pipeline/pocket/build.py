"""Small DiffusionGemma checkpoints: configuration, random weights, processor, chat template, card.

What `save` writes is loaded by the code that loads the published model: the same classes, the same
file names. A checkpoint of ours also carries a card (`ocr_pipeline.json`) that says how it wants to
be asked.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

from ocr_pipeline.engines.diffusion_card import CARD_FILE, Card
from ocr_pipeline.engines.diffusion_processor import Gemma4ImageProcessorPil, PageProcessor
from ocr_pipeline.pocket.tokenizer import SPECIALS, build_tokenizer

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{%- for message in messages -%}"
    "{{ '<|turn>user\n' if message['role'] == 'user' else '<|turn>model\n' }}"
    "{%- if message['content'] is string -%}{{ message['content'] }}"
    "{%- else -%}{%- for part in message['content'] -%}"
    "{{ '<|image|>' if part['type'] == 'image' else part['text'] }}"
    "{%- endfor -%}{%- endif -%}"
    "{{ '<turn|>\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|turn>model\n' }}{%- endif -%}"
)
"""The turns of Gemma 4, without system prompt, tools and thinking."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a small model; every part of the large one is there.

    Attributes:
        hidden: width of the text model; a multiple of 2·heads, for rotary positions.
        layers: text layers, sliding and full attention by turns.
        heads: attention heads, twice as many as key-value heads.
        intermediate: width of the dense feed-forward layers.
        experts: experts of a layer.
        top_k: experts that a token goes through.
        expert_width: width of an expert.
        vision_hidden, vision_layers, vision_intermediate: the same of the vision tower.
        patch: pixels of a patch's side.
        pooling: patches of a soft token's side; 1 drops every patch (a fault of transformers 5.24).
        canvas: tokens that are denoised together.
        soft_tokens: default image budget of the processor.
    """

    hidden: int = 192
    layers: int = 4
    heads: int = 4
    intermediate: int = 384
    experts: int = 4
    top_k: int = 1
    expert_width: int = 192
    vision_hidden: int = 192
    vision_layers: int = 5
    vision_intermediate: int = 512
    patch: int = 16
    pooling: int = 2
    canvas: int = 24
    soft_tokens: int = 70


POCKET = Shape()
"""The model that ships: line crops, 32 pixels high."""
PAGE = Shape(
    hidden=96,
    layers=2,
    heads=4,
    intermediate=192,
    experts=2,
    expert_width=96,
    vision_hidden=64,
    vision_layers=1,
    vision_intermediate=128,
    pooling=3,
    canvas=128,
)
"""Reads whole (small) pages; for tests that overfit a few."""
TINY = Shape(
    hidden=32,
    layers=2,
    heads=2,
    intermediate=48,
    experts=3,
    top_k=2,
    expert_width=16,
    vision_hidden=32,
    vision_layers=1,
    vision_intermediate=48,
    canvas=16,
)
"""For tests of everything but reading."""


def config(shape: Shape, vocabulary: int) -> DiffusionGemmaConfig:
    """The configuration for a vocabulary of that many tokens, special ones included."""
    head = shape.hidden // shape.heads
    text = {
        "vocab_size": vocabulary,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads // 2,
        "head_dim": head,
        "global_head_dim": head,
        "num_global_key_value_heads": shape.heads // 2,
        "sliding_window": 512,
        "layer_types": ["sliding_attention", "full_attention"] * (shape.layers // 2),
        "num_experts": shape.experts,
        "top_k_experts": shape.top_k,
        "moe_intermediate_size": shape.expert_width,
        "pad_token_id": SPECIALS.index("<pad>"),
        "eos_token_id": SPECIALS.index("<eos>"),
        "bos_token_id": SPECIALS.index("<bos>"),
        "max_position_embeddings": 8192,
        "use_bidirectional_attention": "vision",
    }
    vision = {
        "model_type": "gemma4_vision",
        "hidden_size": shape.vision_hidden,
        "intermediate_size": shape.vision_intermediate,
        "num_hidden_layers": shape.vision_layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "head_dim": shape.vision_hidden // shape.heads,
        "patch_size": shape.patch,
        "pooling_kernel_size": shape.pooling,
        "position_embedding_size": 256,
    }
    return DiffusionGemmaConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=SPECIALS.index("<|image|>"),
        boi_token_id=SPECIALS.index("<|image>"),
        eoi_token_id=SPECIALS.index("<image|>"),
        canvas_length=shape.canvas,
    )


def build_model(shape: Shape, vocabulary: str, seed: int = 0) -> DiffusionGemmaForBlockDiffusion:
    """A model with random weights.

    Args:
        shape: its sizes.
        vocabulary: its characters, as for `build_tokenizer`.
        seed: of the weights; the global random state is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: DiffusionGemmaForBlockDiffusion = DiffusionGemmaForBlockDiffusion(
            config(shape, len(SPECIALS) + len(vocabulary))
        )
    model.generation_config.pad_token_id = SPECIALS.index("<pad>")
    model.generation_config.eos_token_id = SPECIALS.index("<eos>")
    model.generation_config.bos_token_id = SPECIALS.index("<bos>")
    model.eval()
    return model


def build_processor(shape: Shape, vocabulary: str) -> PageProcessor:
    """The processor that goes with it."""
    images = Gemma4ImageProcessorPil(
        patch_size=shape.patch,
        pooling_kernel_size=shape.pooling,
        max_soft_tokens=shape.soft_tokens,
    )
    return PageProcessor(images, build_tokenizer(vocabulary), CHAT_TEMPLATE)


def save(
    folder: Path, model: DiffusionGemmaForBlockDiffusion, processor: PageProcessor, card: Card
) -> None:
    """Write a checkpoint: weights as they are (cast before, to save them smaller), and its card."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    _name_original(folder / "processor_config.json")
    text = json.dumps(asdict(card), ensure_ascii=False, indent=2)
    (folder / CARD_FILE).write_text(text + "\n", encoding="utf-8")


def _name_original(path: Path) -> None:
    """Name the class that everybody has, as the published checkpoint does."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    data["processor_class"] = "Gemma4Processor"
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
