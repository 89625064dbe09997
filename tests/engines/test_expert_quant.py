from __future__ import annotations

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file
from transformers import DiffusionGemmaForBlockDiffusion

from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.diffusion_load import load
from ocr_pipeline.engines.expert_quant import (
    METHOD,
    PackedExperts,
    PackedLinear,
    _Quantise,
    quantisation,
)
from ocr_pipeline.engines.packing import pack, unpack
from ocr_pipeline.pocket.build import TINY, build_model, build_processor, save

VOCABULARY = "abcdefghij0123456789|- \n"
SHAPE = replace(
    TINY, hidden=64, heads=2, intermediate=96, experts=6, expert_width=64, layers=2, canvas=16
)
PRECISION = pytest.mark.parametrize("precision", ["int8", "int4"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint")
    model = build_model(SHAPE, VOCABULARY, seed=1).to(torch.bfloat16)
    save(path, model, build_processor(SHAPE, VOCABULARY), Card())
    return path


@pytest.fixture(scope="module")
def models(folder):
    kinds = ("none", "int8", "int4")
    return {k: load(str(folder), dtype="bfloat16", quantise=k).model for k in kinds}


def layers(model):
    return zip(model.model.encoder.language_model.layers, model.model.decoder.layers, strict=True)


def bytes_of(model, *parts: str) -> int:
    """Bytes of the weights whose name holds one of the parts, each storage once."""
    found = {
        p.data_ptr(): p.nbytes for n, p in model.named_parameters() if any(q in n for q in parts)
    }
    return sum(found.values())


@torch.no_grad()
def logits(model):
    ids = torch.arange(14, 26)[None]
    canvas = torch.randint(0, 30, (1, 16), generator=torch.Generator().manual_seed(0))
    return model(input_ids=ids, decoder_input_ids=canvas).logits


class TestShrinking:
    @pytest.mark.parametrize(("precision", "bits"), [("int8", 8.25), ("int4", 4.5)])
    def test_experts_take_the_bits_they_should(self, models, precision, bits):
        full, packed = (bytes_of(models[k], "experts") for k in ("none", precision))
        assert packed == full * bits / 16

    @PRECISION
    def test_linear_layers_take_a_byte(self, models, precision):
        full, packed = (bytes_of(models[k], "self_attn", "mlp") for k in ("none", precision))
        assert packed < 0.75 * full  # the vision tower's, which stay, have the same names

    @PRECISION
    def test_nothing_is_held_twice_or_in_full(self, models, precision):
        model = models[precision]
        names = dict(model.named_parameters(remove_duplicate=False))
        assert not [n for n in names if n.endswith(("gate_up_proj", "experts.down_proj"))]
        for encoder, decoder in layers(model):
            assert isinstance(decoder.experts, PackedExperts)
            assert encoder.experts is decoder.experts
            for a, b in zip(encoder.modules(), decoder.modules(), strict=True):
                if isinstance(b, PackedLinear):
                    assert a is b
            assert not isinstance(decoder.router.proj, PackedLinear)

    @PRECISION
    def test_every_text_layer_is_packed(self, models, precision):
        for _, decoder in layers(models[precision]):
            packed = {n for n, m in decoder.named_modules() if isinstance(m, PackedLinear)}
            attention = {n for n in packed if n.startswith("self_attn")}
            assert packed - attention == {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}
            assert {f"self_attn.{k}_proj" for k in "qko"} <= attention

    @PRECISION
    def test_weights_are_packed_one_after_the_other_while_reading(
        self, folder, monkeypatch, precision
    ):
        in_full, at_once, convert = [], [], _Quantise.convert

        def watched(self, input_dict, *args, **kwargs):
            for name, weight in kwargs["model"].named_parameters():
                if weight.ndim == 3 and weight.device.type != "meta" and "_scale" not in name:
                    in_full.append(weight.is_floating_point())
            (found,) = input_dict.values()
            at_once.append(len(found) if isinstance(found, list) else 1)
            return convert(self, input_dict, *args, **kwargs)

        monkeypatch.setattr(_Quantise, "convert", watched)
        model = load(str(folder), quantise=precision).model
        experts = [m for m in model.modules() if isinstance(m, PackedExperts)]
        linears = [m for m in model.modules() if isinstance(m, PackedLinear)]
        assert at_once == [1] * (2 * len(experts) + len(linears))
        assert in_full
        assert not any(in_full)


class TestComputing:
    @pytest.mark.parametrize(("precision", "most"), [("int8", 0.05), ("int4", 0.25)])
    def test_logits_are_close(self, models, precision, most):
        full, packed = logits(models["none"])[0], logits(models[precision])[0]
        off = (full - packed).norm(dim=-1) / full.norm(dim=-1)
        # Random routers are undecided: now and then a token goes to other experts.
        assert 0 < float(off.median()) < most

    @PRECISION
    def test_they_are_those_of_the_rounded_weights(self, folder, models, precision):
        """Unpacking and the experts' own forward add nothing to the rounding itself."""
        full = load(str(folder), dtype="bfloat16").model
        bits = int(precision[-1])
        with torch.no_grad():
            for _, decoder in layers(full):
                for name, weight in decoder.named_parameters():
                    wanted = bits if ".experts." in f".{name}" else 8
                    if name.endswith("_proj") or name.endswith("_proj.weight"):
                        weight.copy_(unpack(*pack(weight, wanted), wanted))
        assert torch.equal(logits(full), logits(models[precision]))

    @pytest.mark.parametrize("implementation", ["eager", "grouped_mm", "batched_mm"])
    def test_every_way_to_run_experts_works(self, models, implementation):
        model = models["int4"]
        before = logits(model)
        old = model.config.text_config._experts_implementation
        model.set_experts_implementation(implementation)
        try:
            after = logits(model)
        finally:
            model.set_experts_implementation(old)
        assert float((before - after).norm() / before.norm()) < 0.02

    @pytest.mark.slow
    @PRECISION
    def test_generate_works(self, models, precision):
        ids = torch.arange(14, 22)[None]
        made = models[precision].generate(ids, max_new_tokens=32, max_denoising_steps=3)
        assert made.sequences.shape[1] in (24, 40)

    @pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")
    @PRECISION
    def test_it_can_be_traced(self, models, precision):
        """As `torch.compile` does; the backend that runs the graph as it is needs no compiler."""
        experts = next(m for m in models[precision].modules() if isinstance(m, PackedExperts))
        hidden = torch.randn(5, 64, dtype=torch.bfloat16)
        index, weights = torch.tensor([[0, 3]] * 5), torch.ones(5, 2, dtype=torch.bfloat16)
        compiled = torch.compile(experts, backend="eager", fullgraph=True)
        with torch.no_grad():
            plain, traced = experts(hidden, index, weights), compiled(hidden, index, weights)
        torch.testing.assert_close(plain, traced)


class TestSaving:
    @PRECISION
    def test_a_saved_model_is_small_and_comes_back_the_same(
        self, folder, models, precision, tmp_path
    ):
        model = models[precision]
        save(tmp_path, model, build_processor(SHAPE, VOCABULARY), Card())
        stored = load_file(tmp_path / "model.safetensors")
        assert len({t.data_ptr() for t in stored.values()}) == len(stored)
        text = [n for n in stored if n.startswith("model.encoder.language_model.layers")]
        assert all(n.endswith("layer_scalar") for n in text)  # the one thing that is not shared
        whole = (folder / "model.safetensors").stat().st_size
        assert (tmp_path / "model.safetensors").stat().st_size < 0.8 * whole
        config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        saved = config["quantization_config"]
        assert (saved["quant_method"], saved["bits"]) == (METHOD, int(precision[-1]))
        again = load(str(tmp_path), dtype="bfloat16").model
        assert torch.equal(logits(model), logits(again))
        for encoder, decoder in layers(again):
            assert encoder.experts is decoder.experts

    def test_it_loads_without_this_engine_too(self, folder):
        """The loading code is that of transformers, so its own options work."""
        model = DiffusionGemmaForBlockDiffusion.from_pretrained(
            folder, dtype=torch.float32, quantization_config=quantisation("int8")
        )
        assert model.is_quantized
        assert model.hf_quantizer.is_compileable
        assert not model.hf_quantizer.is_trainable
