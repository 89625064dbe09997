from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from ocr_pipeline.pocket.build import TINY, build_model
from ocr_pipeline.pocket.experts import NAME, use_blocks, whole_blocks


def test_blocks_are_whole() -> None:
    assert whole_blocks(torch.tensor([5, 6, 7]), 4).tolist() == [5, 6, 7, 5]
    assert whole_blocks(torch.tensor([5, 6]), 2).tolist() == [5, 6]
    assert whole_blocks(torch.tensor([], dtype=torch.long), 4).tolist() == []


@pytest.mark.parametrize("tokens", [1, 7, 300])
def test_experts_in_blocks_compute_and_learn_the_same(tokens: int) -> None:
    model = build_model(TINY, "abc")
    experts = model.model.decoder.layers[0].experts
    generator = torch.Generator().manual_seed(tokens)
    states = torch.randn(tokens, TINY.hidden, generator=generator)
    weights = torch.rand(tokens, TINY.top_k, generator=generator)
    # Expert 2 gets nothing.
    chosen = torch.tensor([[0, 1]]).expand(tokens, -1)
    results = []
    for implementation in ("eager", NAME):
        use_blocks(model)
        model.set_experts_implementation(implementation)
        model.zero_grad()
        leaf = states.clone().requires_grad_()
        out = experts(leaf, chosen, weights)
        out.pow(2).sum().backward()
        results.append((out, leaf.grad, experts.gate_up_proj.grad, experts.down_proj.grad))
    for expected, found in zip(*results, strict=True):
        assert torch.allclose(expected, found, atol=1e-5)
