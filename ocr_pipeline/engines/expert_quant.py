"""DiffusionGemma in 8 or 4 bits, quantised while it is read.

Nine tenths of its weights are 3-D tensors of experts, which the quantisers for linear layers skip.
Here the experts and the linear layers of the text model are replaced before loading by modules that
hold packed weights (`packing`); `from_pretrained` hands each tensor of the checkpoint to
`_Quantise`, one after the other, so that the full-precision model is never in memory. A module
unpacks its weights each time they are asked for and leaves computing to the class it stands in for:
the experts' own forward, grouped or eager.

The text model exists twice, as encoder and as decoder over tied weights. Both get the *same*
module.

What stays as it is: embeddings, vision tower, router, norms. With `int4` only the experts have 4
bits: attention and dense layers at 8 cost 3 % more memory, and a 4-bit attention was found to make
the sampler need more steps (Blaizzy/mlx-vlm, pull request 1359).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.core_model_loading import ConversionOps, WeightRenaming
from transformers.models.diffusion_gemma.modeling_diffusion_gemma import DiffusionGemmaTextExperts
from transformers.quantizers.auto import register_quantization_config, register_quantizer
from transformers.quantizers.base import HfQuantizer
from transformers.utils.quantization_config import QuantizationConfigMixin

from ocr_pipeline.engines.packing import pack, packed_shapes, unpack

Precision = Literal["int8", "int4"]
METHOD = "ocr_pipeline_grouped"
"""Names our quantisation in the `config.json` of a saved checkpoint."""
LINEAR_BITS = 8
_FULL = r"(layers\.\d+\.(?:experts\.\w+_proj|(?:self_attn|mlp)\.\w+_proj\.weight))$"
_PACKED = r"\1_packed"


@register_quantization_config(METHOD)
class GroupedConfig(QuantizationConfigMixin):
    """What `from_pretrained(quantization_config=…)` takes: the bits of the experts, 8 or 4."""

    def __init__(self, bits: int = 8, **_: Any) -> None:
        self.quant_method: Any = METHOD
        self.bits = bits


def quantisation(precision: Precision) -> GroupedConfig:
    """The configuration of a precision."""
    return GroupedConfig(bits=int(precision.removeprefix("int")))


class _Packed(nn.Module):
    """Holds weights packed: parameters `NAME_packed` and `NAME_scale` for each weight NAME."""

    bits: dict[str, int]

    def pack_empty(self, name: str, bits: int) -> None:
        """Put empty packed parameters in the place of the weight `name`."""
        weight = getattr(self, name)
        values, scales, kind = packed_shapes(tuple(weight.shape), bits)
        empty = torch.empty(values, dtype=kind, device=weight.device)
        scale = torch.empty(scales, dtype=weight.dtype, device=weight.device)
        delattr(self, name)
        self.register_parameter(f"{name}_packed", nn.Parameter(empty, requires_grad=False))
        self.register_parameter(f"{name}_scale", nn.Parameter(scale, requires_grad=False))
        self.bits = {**self.__dict__.get("bits", {}), name: bits}
        # Keeps `from_pretrained` from drawing random weights that nobody reads.
        self._is_hf_initialized = True

    def unpacked(self, name: str) -> Tensor:
        """The weight `name` in full; a copy at every call."""
        values, scale = getattr(self, f"{name}_packed"), getattr(self, f"{name}_scale")
        return unpack(values, scale, self.bits[name])


class PackedExperts(DiffusionGemmaTextExperts, _Packed):
    """All experts of a layer."""

    def __init__(self, config: Any, bits: int) -> None:
        super().__init__(config)
        self.pack_empty("gate_up_proj", bits)
        self.pack_empty("down_proj", bits)

    @property
    def gate_up_proj(self) -> Tensor:  # type: ignore[override]
        """(experts, 2·width, hidden)."""
        return self.unpacked("gate_up_proj")

    @property
    def down_proj(self) -> Tensor:  # type: ignore[override]
        """(experts, hidden, width)."""
        return self.unpacked("down_proj")


class PackedLinear(nn.Linear, _Packed):
    """A linear layer."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(
            linear.in_features,
            linear.out_features,
            linear.bias is not None,
            device=linear.weight.device,
            dtype=linear.weight.dtype,
        )
        self.pack_empty("weight", LINEAR_BITS)

    @property
    def weight(self) -> Tensor:  # type: ignore[override]
        """(out, in)."""
        return self.unpacked("weight")


class _Quantise(ConversionOps):
    """One tensor of the checkpoint → its packed values and their scales."""

    def convert(
        self,
        input_dict: dict[str, Any],
        source_patterns: list[str],
        target_patterns: list[str],
        **kwargs: Any,
    ) -> dict[str, Any]:
        found = next(iter(input_dict.values()))
        weight = found[0] if isinstance(found, list) else found
        name = kwargs["full_layer_name"].removesuffix("_packed")
        path, _, own = name.rpartition(".")
        values, scale = pack(weight, kwargs["model"].get_submodule(path).bits[own])
        kwargs["missing_keys"].discard(f"{name}_scale")
        return {f"{name}_packed": values, f"{name}_scale": scale}


@register_quantizer(METHOD)
class GroupedQuantizer(HfQuantizer):
    """What transformers calls while it loads."""

    requires_calibration = False

    def param_needs_quantization(  # noqa: D102
        self, model: PreTrainedModel, param_name: str, **kwargs: Any
    ) -> bool:
        return param_name.endswith("_packed")

    def get_quantize_ops(self) -> ConversionOps:  # noqa: D102
        return _Quantise()

    def update_weight_conversions(  # noqa: D102
        self, weight_conversions: list[Any], model: PreTrainedModel
    ) -> list[Any]:
        fresh = [] if self.pre_quantized else [WeightRenaming(_FULL, _PACKED)]
        return [*weight_conversions, *fresh]

    def _process_model_before_weight_loading(self, model: PreTrainedModel, **kwargs: Any) -> None:
        config: Any = self.quantization_config
        replace_layers(model, config.bits)

    def _process_model_after_weight_loading(self, model: Any, **kwargs: Any) -> PreTrainedModel:
        # Saving would undo the renaming, and give packed weights the names of full ones.
        model._weight_conversions = [
            c for c in model._weight_conversions or () if c.target_patterns != [_PACKED]
        ]
        return cast(PreTrainedModel, model)

    def is_serializable(self) -> bool:  # noqa: D102
        return True

    @property
    def is_trainable(self) -> bool:  # noqa: D102
        return False

    @property
    def is_compileable(self) -> bool:  # noqa: D102
        return True


def replace_layers(model: Any, bits: int) -> None:
    """Replace experts and linear layers of the text model by empty packed ones, in place.

    Args:
        model: a `DiffusionGemmaForBlockDiffusion`, fresh, with weights on the meta device.
        bits: of the experts; linear layers get `LINEAR_BITS`.
    """
    pairs = zip(model.model.encoder.language_model.layers, model.model.decoder.layers, strict=True)
    for encoder, decoder in pairs:
        encoder.experts = decoder.experts = PackedExperts(model.config.text_config, bits)
        for path, linear in list(_linears(decoder)):
            packed = PackedLinear(linear)
            parent, _, name = path.rpartition(".")
            for layer in (encoder, decoder):
                setattr(layer.get_submodule(parent), name, packed)
    model.all_tied_weights_keys = model.get_expanded_tied_weights_keys(all_submodels=True)


def _linears(layer: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    """Attention and dense layers; the router is small, and decides."""
    for path, module in layer.named_modules():
        if isinstance(module, nn.Linear) and path.startswith(("self_attn.", "mlp.")):
            yield path, module
