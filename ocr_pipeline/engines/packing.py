"""Weights in 4 or 8 bits: groups of neighbours along the last axis share one scale.

A group is scaled so that its largest magnitude becomes -8 (-128), the end of the two's complement
range, and keeps the sign that this takes (the `Q4_0` idea of ggml). Of a few slightly smaller
scales the one with the least squared error is taken. The stored scale is the rounded one that
unpacking uses, so rounding it costs nothing.

In 4 bits one byte holds two values that are half a row apart: the value of the first half in the
low nibble, that of the second half in the high one. Unpacking is then two multiplications into two
halves of a row, with no interleaving.
"""

from __future__ import annotations

from math import gcd

import torch
from torch import Tensor

GROUPS = {4: 32, 8: 64}
"""Weights that share a scale, by bits: 4.5 and 8.25 bits a weight with a 16-bit scale."""
_SHRINK = {4: (1.0, 0.95, 0.9, 0.85), 8: (1.0,)}
"""Factors of the scale that are tried; at 8 bits clipping never pays."""


def group_size(width: int, bits: int) -> int:
    """Weights of one group in a row of `width`: the widest that fits, at most `GROUPS[bits]`.

    Raises:
        ValueError: two values would have to share a byte, and the width is odd.
    """
    if bits == 4 and width % 2:
        raise ValueError(f"rows of {width} weights cannot be packed in pairs")
    return gcd(width // 2 if bits == 4 else width, GROUPS[bits])


def packed_shapes(
    shape: tuple[int, ...], bits: int
) -> tuple[tuple[int, ...], tuple[int, ...], torch.dtype]:
    """Shapes of the packed values and of the scales for weights of `shape`, and the former's type.

    8 bits: `int8` of the same shape. 4 bits: `uint8`, half as wide.
    """
    *rows, width = shape
    groups = width // group_size(width, bits)
    values = (*rows, width // 2) if bits == 4 else (*rows, width)
    return values, (*rows, groups), torch.uint8 if bits == 4 else torch.int8


def pack(weight: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Quantise weights of any shape (…, width), row by row of the first axis.

    Only one slice of the first axis (an expert) is ever held in float32.

    Returns:
        The packed values and the scales, the latter in the type of `weight`; see `packed_shapes`.
    """
    values_shape, scales_shape, kind = packed_shapes(tuple(weight.shape), bits)
    values = torch.empty(values_shape, dtype=kind, device=weight.device)
    scales = torch.empty(scales_shape, dtype=weight.dtype, device=weight.device)
    if weight.ndim > 2:
        for i, part in enumerate(weight):
            values[i], scales[i] = pack(part, bits)
        return values, scales
    low = -(2 ** (bits - 1))
    groups = weight.float().reshape(*scales_shape, -1)
    largest = groups.gather(-1, groups.abs().argmax(-1, keepdim=True))
    best = torch.full_like(largest, torch.inf)
    rounded = torch.zeros_like(groups)
    kept = torch.ones_like(largest)
    for factor in _SHRINK[bits]:
        scale = (largest * (factor / low)).to(weight.dtype).float()
        scale = torch.where(scale == 0, 1.0, scale)
        trial = (groups / scale).round().clamp_(low, -low - 1)
        error = (trial * scale - groups).square().sum(-1, keepdim=True)
        better = error < best
        best = torch.where(better, error, best)
        rounded = torch.where(better, trial, rounded)
        kept = torch.where(better, scale, kept)
    whole = rounded.flatten(-2).to(torch.int8)
    scales.copy_(kept.squeeze(-1))
    if bits == 4:
        first, second = whole.chunk(2, dim=-1)
        values.copy_((first & 15).view(torch.uint8) | (second << 4).view(torch.uint8))
    else:
        values.copy_(whole)
    return values, scales


def unpack(values: Tensor, scales: Tensor, bits: int) -> Tensor:
    """The weights again, (…, width), in the type of the scales."""
    scales = scales.unsqueeze(-1)
    if bits == 8:
        return torch.mul(values.reshape(*scales.shape[:-1], -1), scales).flatten(-2)
    # A nibble in the upper half of a signed byte is 16 times its value, and a sixteenth of a scale
    # is exact: no shifting back.
    scales = scales / 16
    pairs = values.reshape(*scales.shape[:-2], scales.shape[-2] // 2, -1)
    nibbles = (pairs << 4).view(torch.int8), (pairs & 240).view(torch.int8)
    halves = scales.chunk(2, dim=-2)
    if torch.compiler.is_compiling():  # knows no `out` with gaps, and joins all this in one kernel
        parts = [n * s for n, s in zip(nibbles, halves, strict=True)]
        return torch.cat(parts, dim=-2).flatten(-2)
    weight = scales.new_empty((*scales.shape[:-1], pairs.shape[-1]))
    for n, s, half in zip(nibbles, halves, weight.chunk(2, dim=-2), strict=True):
        torch.mul(n, s, out=half)
    return weight.flatten(-2)
