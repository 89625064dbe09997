from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from ocr_pipeline.engines.diffusion_stream import (
    WATCHED,
    Budget,
    Cancelled,
    Canvas,
    Draft,
    Listener,
    NotFiniteError,
    Probe,
    Stream,
)


def steps(*winners: list[list[int]], vocabulary: int = 7) -> list[Any]:
    """Logits whose winners are these tokens (one B×L table a step)."""
    made = []
    for number, table in enumerate(winners):
        random = torch.Generator().manual_seed(number)
        ids = torch.tensor(table)
        logits = torch.randn(*ids.shape, vocabulary, generator=random)
        made.append(logits.scatter_add(-1, ids[..., None], torch.full((*ids.shape, 1), 9.0)))
    return made


def feed(probe: Probe, logits: list[Any]) -> None:
    for i, scores in enumerate(logits):
        passed = probe(torch.zeros(1, 1), scores, cur_step=torch.tensor(len(logits) - i))
        assert passed is scores


def test_the_probe_agrees_with_the_full_logits() -> None:
    logits = torch.randn(3, 5, 50, generator=torch.Generator().manual_seed(0)) * 4
    probe = Probe()
    feed(probe, [logits])
    p = logits.double().softmax(-1)
    entropy = -(p * p.log()).sum(-1)
    ranked = logits.argsort(-1, descending=True)
    np.testing.assert_allclose(probe.entropy(), entropy.numpy(), atol=1e-5)
    canvas = probe.read(0, ranked[..., 0])
    np.testing.assert_array_equal(canvas.runner_up, ranked[..., 1].numpy())
    np.testing.assert_allclose(canvas.probability, p.max(-1).values.numpy(), atol=1e-6)
    second = p.gather(-1, ranked[..., 1:2]).squeeze(-1).numpy()
    np.testing.assert_allclose(canvas.runner_up_probability, second, atol=1e-6)


def test_an_excluded_token_does_not_spoil_the_entropy() -> None:
    logits = torch.tensor([[[0.0, 0.0, -torch.inf]]])
    probe = Probe()
    feed(probe, [logits])
    np.testing.assert_allclose(probe.entropy(), [[np.log(2)]], atol=1e-6)


def test_a_row_that_finished_early_keeps_what_it_was_sure_of_then() -> None:
    first, second = [[1, 2]], [[1, 3]]
    logits = steps(first, second)
    probe = Probe()
    feed(probe, logits)
    canvas = probe.read(0, torch.tensor([[1, 2]]))
    p = [x.softmax(-1) for x in logits]
    np.testing.assert_allclose(
        canvas.probability, [[float(p[1][0, 0, 1]), float(p[0][0, 1, 2])]], atol=1e-6
    )


def test_changes_are_counted_in_the_last_steps_only() -> None:
    table = [[[1, 1, 1]], [[2, 1, 1]], [[2, 1, 1]], [[2, 2, 1]], [[2, 1, 1]], [[2, 1, 1]]]
    probe = Probe()
    feed(probe, steps(*table))
    canvas = probe.read(0, torch.tensor([[2, 1, 1]]))
    assert WATCHED == 4
    assert canvas.changes.tolist() == [[0, 2, 0]]
    assert canvas.steps == 6
    assert probe.steps == 0


def test_a_token_that_never_won_has_no_probability() -> None:
    probe = Probe()
    feed(probe, steps([[1, 2]]))
    canvas = probe.read(0, torch.tensor([[1, 0]]))
    assert canvas.probability[0, 1] == 0
    assert canvas.probability[0, 0] > 0.9


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_logits_that_are_no_numbers_are_an_error(bad: float) -> None:
    logits = torch.zeros(1, 2, 4)
    logits[0, 1, 2] = bad
    with pytest.raises(NotFiniteError, match="not finite at step 1"):
        feed(Probe(), [logits])


def play(stream: Stream, prompt: int = 3) -> None:
    streamer = stream.streamer()
    streamer.put(torch.zeros(1, prompt, dtype=torch.long))
    for logits in steps([[4, 5]], [[4, 6]]):
        stream.probe(torch.zeros(1, 1), logits, cur_step=torch.tensor(1))
        streamer.put_draft(value=logits.argmax(-1))
    streamer.put(torch.tensor([[4, 6]]))
    streamer.end()


def test_drafts_and_canvases_reach_the_listener(capsys: pytest.CaptureFixture[str]) -> None:
    drafts: list[Draft] = []
    canvases: list[Canvas] = []
    stream = Stream(None, Listener(drafts.append, canvases.append))
    play(stream)
    assert [(d.canvas, d.step, d.tokens.tolist()) for d in drafts] == [
        (0, 1, [[4, 5]]),
        (0, 2, [[4, 6]]),
    ]
    assert [c.tokens.tolist() for c in canvases] == [[[4, 6]]]
    assert stream.canvases == canvases
    assert capsys.readouterr().out == ""  # the original prints


def test_nobody_listening_stops_it_within_a_step() -> None:
    asked = iter([False, True])
    drafts: list[Draft] = []
    stream = Stream(None, Listener(drafts.append), cancel=lambda: next(asked))
    with pytest.raises(Cancelled):
        play(stream)
    assert len(drafts) == 2
    assert stream.canvases == []


def test_a_long_reply_grows_and_a_looping_one_does_not() -> None:
    budget = Budget(2, prompt=1, loops=lambda ids: len(set(ids)) == 1)
    ids = torch.tensor([[9, 1, 1, 1, 1], [9, 1, 2, 3, 4]])
    short = budget(ids[:, :3], None, new_token_length=2)
    assert short.tolist() == [False, False]
    assert budget(ids, None, new_token_length=2).tolist() == [True, False]
