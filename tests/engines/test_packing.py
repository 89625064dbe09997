from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.engines.packing import GROUPS, group_size, pack, packed_shapes, unpack

BITS = pytest.mark.parametrize("bits", [4, 8])


def weights(*shape: int, seed: int = 0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def error(weight, bits: int) -> float:
    again = unpack(*pack(weight, bits), bits)
    return float((again - weight).float().norm() / weight.float().norm())


class TestSizes:
    def test_a_group_never_straddles_the_halves_of_a_row(self):
        assert [group_size(w, 4) for w in (2816, 704, 64, 48, 32, 2)] == [32, 32, 32, 8, 16, 1]
        assert [group_size(w, 8) for w in (2816, 704, 192, 48, 7)] == [64, 64, 64, 16, 1]

    def test_pairs_need_an_even_row(self):
        with pytest.raises(ValueError, match="rows of 7"):
            group_size(7, 4)

    @BITS
    def test_what_is_promised_is_what_is_made(self, bits):
        values, scales = pack(weights(3, 8, 64, dtype=torch.bfloat16), bits)
        assert packed_shapes((3, 8, 64), bits) == (values.shape, scales.shape, values.dtype)
        assert scales.dtype == torch.bfloat16

    @pytest.mark.parametrize(("bits", "expected"), [(4, 4.5), (8, 8.25)])
    def test_bits_of_a_weight(self, bits, expected):
        parts = pack(weights(2, 16, 2816, dtype=torch.bfloat16), bits)
        assert sum(p.nbytes for p in parts) * 8 / (2 * 16 * 2816) == expected


class TestRoundTrip:
    @pytest.mark.parametrize(("bits", "most"), [(4, 0.09), (8, 0.007)])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
    def test_it_is_close(self, bits, most, dtype):
        weight = weights(4, 32, 704, dtype=dtype)
        again = unpack(*pack(weight, bits), bits)
        assert (again.shape, again.dtype) == (weight.shape, dtype)
        assert 0 < error(weight, bits) < most

    @BITS
    @given(data=st.data())
    @settings(max_examples=40, deadline=None)
    def test_no_weight_is_off_by_more_than_its_group_allows(self, bits, data):
        shape = data.draw(st.tuples(*[st.integers(1, 3)] * 2, st.sampled_from([2, 6, 16, 64, 96])))
        spread = data.draw(st.sampled_from([1e-3, 1.0, 1e3]))
        weight = weights(*shape, seed=data.draw(st.integers(0, 99))) * spread
        values, scales = pack(weight, bits)
        again = unpack(values, scales, bits)
        largest = weight.reshape(*scales.shape, -1).abs().amax(-1, keepdim=True)
        # Half a step, or what the tightest scale cuts off the largest weight of a group.
        step = largest / 2 ** (bits - 1)
        allowed = torch.maximum(0.51 * step, 0.16 * largest if bits == 4 else 1.02 * step)
        off = (again - weight).reshape(*scales.shape, -1).abs()
        assert bool((off <= allowed).all())

    @BITS
    def test_what_is_on_the_grid_comes_back_exactly(self, bits):
        grid = torch.arange(-(2 ** (bits - 1)), 2 ** (bits - 1)).float()
        weight = grid.repeat(2)[None] if bits == 4 else grid[None]
        weight[:, :: GROUPS[bits]] = -(2 ** (bits - 1))  # each group reaches its end
        assert torch.equal(unpack(*pack(weight, bits), bits), weight)

    @BITS
    def test_zeros_stay_zero(self, bits):
        weight = torch.zeros(2, 4, 64)
        assert torch.equal(unpack(*pack(weight, bits), bits), weight)

    @BITS
    def test_the_sign_of_the_largest_does_not_matter(self, bits):
        weight = weights(4, 64).abs()
        assert error(weight, bits) == pytest.approx(error(-weight, bits), rel=1e-6)

    def test_a_tighter_scale_is_taken_where_it_helps(self):
        weight = torch.linspace(-1, 1, 32)[None].repeat(1, 2)
        weight[:, 0] = weight[:, 32] = 1.25
        _, scales = pack(weight, 4)
        assert float(scales.abs().max()) < 1.25 / 8

    @BITS
    def test_a_compiled_unpack_gives_the_same(self, bits, monkeypatch):
        values, scales = pack(weights(2, 8, 64), bits)
        plain = unpack(values, scales, bits)
        monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
        assert torch.equal(unpack(values, scales, bits), plain)
