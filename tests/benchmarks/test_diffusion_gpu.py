from __future__ import annotations

import json
import re
import time

import pytest

torch = pytest.importorskip("torch")

from transformers import DiffusionGemmaForBlockDiffusion

from benchmarks import diffusion_gpu
from benchmarks.diffusion_gpu import (
    GRIDS,
    PROMPT_TEXT,
    page_inputs,
    published_config,
    random_model,
    small_config,
)
from ocr_pipeline.engines.diffusion_memory import PUBLISHED, measure


class TestShapes:
    @pytest.mark.slow
    def test_the_published_one_has_the_published_numbers(self):
        """25.2 B parameters, 3.8 B of them active, 0.55 B in the vision tower (model card)."""
        config = published_config()
        assert measure(config) == PUBLISHED
        with torch.device("meta"):
            model = DiffusionGemmaForBlockDiffusion(config)
        sizes = {n: p.numel() for n, p in model.named_parameters()}
        vision = sum(count for name, count in sizes.items() if "vision" in name)
        # The number is that of Gemma 4, which knows no self-conditioning.
        new = sum(count for name, count in sizes.items() if "self_conditioning" in name)
        text = PUBLISHED.total - vision - new
        active = text - PUBLISHED.experts * (1 - 8 / 128)
        assert [round(n / 1e9, 1) for n in (text, active)] == [25.2, 3.8]
        assert vision / 1e9 == pytest.approx(0.55, abs=0.03)

    @pytest.mark.parametrize("soft_tokens", [280, 1120])
    def test_a_page_has_the_image_tokens_it_should(self, soft_tokens):
        config = small_config()
        inputs = page_inputs(config, soft_tokens)
        images = inputs["input_ids"] == config.image_token_id
        assert int(images.sum()) == soft_tokens == GRIDS[soft_tokens][0] * GRIDS[soft_tokens][1]
        assert torch.equal(images.long(), inputs["mm_token_type_ids"])
        assert inputs["pixel_values"].shape[1] == soft_tokens * 9
        assert inputs["input_ids"].shape == (1, soft_tokens + PROMPT_TEXT)


class TestRandomModel:
    @pytest.mark.parametrize("quantise", ["none", "int8", "int4"])
    def test_every_weight_is_there_and_tied(self, quantise):
        model = random_model(small_config(), "cpu", torch.bfloat16, quantise)
        assert {p.device.type for p in model.parameters()} == {"cpu"}
        for name, other in model.all_tied_weights_keys.items():
            assert model.get_parameter(name) is model.get_parameter(other)
        weights = [p for p in model.parameters() if p.ndim > 1 and p.is_floating_point()]
        assert all(
            bool(p.isfinite().all()) and float(p.detach().float().std()) > 0 for p in weights
        )
        kinds = {p.dtype for n, p in model.named_parameters() if "experts.gate_up" in n}
        expected = {"none": torch.bfloat16, "int8": torch.int8, "int4": torch.uint8}
        assert expected[quantise] in kinds


@pytest.fixture
def quick(monkeypatch):
    """Smaller pages; an image of 1120 tokens takes seconds on a CPU."""
    monkeypatch.setattr(diffusion_gpu, "GRIDS", {280: (5, 4), 1120: (8, 6)})


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
class TestMain:
    def test_what_is_printed_and_written(self, capsys, tmp_path):
        monotonic = time.monotonic()
        path = tmp_path / "out.json"
        diffusion_gpu.main(
            ["--device", "cpu", "--batches", "2", "--steps", "1", "--json", str(path)]
        )
        assert time.monotonic() - monotonic < 300
        lines = capsys.readouterr().out.splitlines()
        starts = [re.split(r" {2,}", line)[0] for line in lines[1:]]
        assert starts == [
            "random weights",
            "prefill, 280 image tokens",
            "prefill, 1120 image tokens",
            "denoise, 1 run",
            "denoise, 2 runs",
            "denoise, 5 runs",
            "five runs over one, 1120 image tokens",
        ]
        written = json.loads(path.read_text(encoding="utf-8"))
        assert (written["shape"], written["precision"]) == ("small", "float32")
        five = written["results"]["five runs over one, 1120 image tokens"]
        assert five["prefill_seconds"] > 0
        assert five["denoise_seconds_1"] > 0
        assert five["times"] > 0
        assert written["results"]["denoise, 2 runs"]["tokens_per_second"] > 0

    def test_what_has_no_time_is_named(self, capsys):
        diffusion_gpu.main(["--device", "cpu", "--seconds", "0.001", "--compile"])
        out = capsys.readouterr().out
        assert out.count("no time left") == 5

    def test_what_does_not_fit_is_named(self, capsys, monkeypatch):
        monkeypatch.setattr(diffusion_gpu, "free_memory", lambda _: 1.05e9)
        diffusion_gpu.main(["--device", "cpu", "--steps", "1"])
        assert "does not fit" in capsys.readouterr().out

    def test_a_machine_that_is_too_small(self, monkeypatch):
        monkeypatch.setattr(diffusion_gpu, "free_memory", lambda _: 1e9)
        with pytest.raises(SystemExit, match=r"float32 needs 1\.0 GB, 1\.0 GB are free"):
            diffusion_gpu.main(["--device", "cpu"])
