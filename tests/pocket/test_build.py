from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import DiffusionGemmaForBlockDiffusion

from ocr_pipeline.engines.diffusion_card import CARD_FILE, Card
from ocr_pipeline.engines.diffusion_generate import prompt_inputs
from ocr_pipeline.engines.diffusion_processor import PageProcessor
from ocr_pipeline.pocket.build import POCKET, TINY, build_model, build_processor, save
from ocr_pipeline.pocket.tokenizer import characters

VOCABULARY = "abc|-\nカガ"


def test_every_part_of_the_large_model_is_there() -> None:
    model = build_model(TINY, VOCABULARY)
    names = {name for name, _ in model.named_parameters()}
    for part in (
        "vision_tower.patch_embedder",
        "embed_vision",
        "router.proj",
        "experts.gate_up_proj",
        "self_conditioning",
    ):
        assert any(part in name for name in names), part


def test_the_pocket_model_fits_the_package() -> None:
    count = sum(p.numel() for p in build_model(POCKET, characters()).parameters())
    assert 5e6 <= count <= 12e6
    assert 2 * count <= 25e6  # bytes in bfloat16


def test_a_saved_checkpoint_is_the_same_model(tmp_path: Path) -> None:
    model, processor = build_model(TINY, VOCABULARY), build_processor(TINY, VOCABULARY)
    save(tmp_path, model, processor, Card(tiling="lines", widths=(128, 256)))
    again, info = DiffusionGemmaForBlockDiffusion.from_pretrained(
        tmp_path, output_loading_info=True
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    for (name, a), (_, b) in zip(
        model.state_dict().items(), again.state_dict().items(), strict=True
    ):
        assert torch.equal(a, b), name
    loaded = PageProcessor.from_pretrained(tmp_path)
    image = np.full((200, 150), 255, np.uint8)
    first, second = (prompt_inputs(p, [image], "a", soft_tokens=70) for p in (processor, loaded))
    assert all(torch.equal(first[k], second[k]) for k in first)
    assert json.loads((tmp_path / "processor_config.json").read_text())["processor_class"] == (
        "Gemma4Processor"
    )
    assert json.loads((tmp_path / CARD_FILE).read_text())["widths"] == [128, 256]


def test_weights_come_from_the_seed_alone() -> None:
    torch.manual_seed(1)
    first = build_model(TINY, VOCABULARY, seed=4)
    before = torch.random.get_rng_state()
    second = build_model(TINY, VOCABULARY, seed=4)
    assert torch.equal(before, torch.random.get_rng_state())
    other = build_model(TINY, VOCABULARY, seed=5)
    pairs = list(zip(first.parameters(), second.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs)
    assert not all(torch.equal(a, c) for a, _, c in pairs)
