from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import DynamicCache

from ocr_pipeline.engines.diffusion_generate import (
    Generation,
    Sampling,
    generate,
    prefill,
    prompt_inputs,
)
from ocr_pipeline.engines.diffusion_stream import Canvas, Listener, NotFiniteError
from ocr_pipeline.errors import EngineError

QUICK = Sampling(steps=4, canvases=2, most_canvases=3)


def never(_: str) -> bool:
    return False


def ask(small: Any, images: list[Any], seeds: list[int], **options: Any) -> Generation:
    sampling = options.pop("sampling", QUICK)
    inputs = prompt_inputs(small.processor, images, "abc", soft_tokens=70)
    return generate(
        small.model, small.processor, inputs, seeds, sampling, **{"loops": never, **options}
    )


def ids(made: Generation) -> list[list[list[int]]]:
    return [[reply.ids.tolist() for reply in runs] for runs in made.replies]


def encoded_by_itself(model: Any, inputs: dict[str, Any], row: int) -> DynamicCache:
    """What `generate` does with one prompt of its own: the reference."""
    one = {k: v[row : row + 1] for k, v in inputs.items()}
    count, length = one["input_ids"].shape
    cache = DynamicCache(config=model.config.get_text_config(decoder=True))
    positions = torch.arange(length)[None]
    encoder = model.model.encoder
    masks = encoder.create_masks_for_generate(
        config=model.config,
        inputs_embeds=torch.empty((count, length, 0)),
        attention_mask=one["attention_mask"].bool(),
        cache=cache,
        position_ids=positions,
        mm_token_type_ids=one["mm_token_type_ids"],
    )
    encoder(
        input_ids=one["input_ids"],
        attention_mask=masks,
        cache=cache,
        position_ids=positions,
        pixel_values=one["pixel_values"],
        image_position_ids=one["image_position_ids"],
    )
    return cache


def test_logits_after_a_shared_prefill_are_those_of_prompts_encoded_one_by_one(
    small: Any, noise: Any
) -> None:
    model = small.model
    images = [noise, np.flipud(noise).copy()]
    inputs = prompt_inputs(small.processor, images, "abc", soft_tokens=70)
    canvas = torch.randint(0, 20, (1, 16), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        ready = prefill(model, inputs).repeated(3)
        position = torch.tensor([[inputs["input_ids"].shape[1] - 1]])
        model.model.encoder(
            input_ids=ready.last,
            attention_mask=model.model.encoder.create_masks_for_generate(
                config=model.config,
                inputs_embeds=torch.empty((6, 1, 0)),
                attention_mask=ready.mask,
                cache=ready.cache,
                position_ids=position,
            ),
            cache=ready.cache,
            position_ids=position,
        )
        shared = model(decoder_input_ids=canvas.expand(6, -1), cache=ready.cache).logits
        for i in range(2):
            alone = model(
                decoder_input_ids=canvas, cache=encoded_by_itself(model, inputs, i)
            ).logits
            for row in range(3 * i, 3 * i + 3):
                torch.testing.assert_close(shared[row], alone[0], atol=1e-4, rtol=0)


def test_image_tokens_see_each_other_in_both_directions(small: Any, noise: Any) -> None:
    """The last row of the image changes what the first one means, as in `generate`."""
    changed = noise.copy()
    changed[-60:] = 255
    caches = []
    for image in (noise, changed):
        inputs = prompt_inputs(small.processor, [image], "abc", soft_tokens=70)
        caches.append(prefill(small.model, inputs).cache.layers[-1].keys)
    first_image_token = 3
    assert not torch.allclose(
        caches[0][:, :, first_image_token], caches[1][:, :, first_image_token], atol=1e-5
    )


@pytest.mark.parametrize("runs", [1, 5])
def test_runs_share_one_encoding_of_the_image(small: Any, noise: Any, runs: int) -> None:
    encoder = small.model.model.encoder
    seen: list[int] = []
    hooks = [
        encoder.vision_tower.register_forward_hook(lambda *_: seen.append(0)),
        encoder.register_forward_hook(
            lambda *args: seen.append(args[2].last_hidden_state.shape[1])
        ),
    ]
    try:
        made = ask(
            small,
            [noise],
            list(range(runs)),
            sampling=Sampling(steps=2, canvases=1, most_canvases=1),
        )
    finally:
        for hook in hooks:
            hook.remove()
    assert seen.count(0) == 1  # the vision tower, once
    assert [n for n in seen if n] == [made.prompt_tokens - 1, 1]  # the prompt once; its last token
    assert len(made.replies[0]) == runs


def test_the_same_seeds_in_the_same_batch_give_the_same_replies(small: Any, noise: Any) -> None:
    images = [noise, np.fliplr(noise).copy()]
    first, second = ask(small, images, [1, 2, 3]), ask(small, images, [1, 2, 3])
    assert ids(first) == ids(second)
    assert ids(first) != ids(ask(small, images, [1, 2, 4]))
    assert first.replies[0][0].ids.tolist() != first.replies[0][1].ids.tolist()


def test_only_small_tensors_leave_the_device(
    small: Any, noise: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a whole generation no logits are copied to the CPU or turned into Python values."""
    left: list[tuple[int, ...]] = []

    def watch(name: str, leaves: Any = lambda *a, **k: True) -> None:
        original = getattr(torch.Tensor, name)

        def watched(self: Any, *args: Any, **options: Any) -> Any:
            if leaves(*args, **options):
                left.append(tuple(self.shape))
            return original(self, *args, **options)

        monkeypatch.setattr(torch.Tensor, name, watched)

    for name in ("cpu", "numpy", "tolist", "item", "__array__"):
        watch(name)
    watch("to", lambda *a, **k: "cpu" in map(str, (*a, k.get("device", ""))))
    ask(small, [noise], [1, 2], listener=Listener(lambda _: None, lambda _: None))
    canvas, vocabulary = small.model.config.canvas_length, small.model.config.text_config.vocab_size
    assert left.count((2, canvas)) > 4  # drafts, and what the probe has seen
    assert [shape for shape in left if vocabulary in shape] == []


def test_the_global_random_state_is_left_alone(small: Any, noise: Any) -> None:
    before = torch.random.get_rng_state()
    ask(small, [noise], [1])
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_prompt_that_is_padded_means_the_same_as_alone(small: Any, noise: Any) -> None:
    wide = np.hstack([noise, noise, noise])
    both = prompt_inputs(small.processor, [noise, wide], "abc", soft_tokens=70)
    lengths = both["attention_mask"].sum(-1)
    short = int(lengths.argmin())
    assert lengths[short] < both["input_ids"].shape[1]
    alone = prompt_inputs(small.processor, [(noise, wide)[short]], "abc", soft_tokens=70)
    padding = both["input_ids"].shape[1] - int(lengths[short])
    # Values have no positions: those of the first layer are the same, those of the last only if
    # nothing looked at the padding.
    for layer in (0, -1):
        together = prefill(small.model, both).cache.layers[layer].values[short, :, padding:]
        by_itself = prefill(small.model, alone).cache.layers[layer].values[0]
        torch.testing.assert_close(together, by_itself, atol=1e-4, rtol=0)
    made = generate(small.model, small.processor, both, [1, 2], QUICK, loops=never)
    assert [len(r) for r in made.replies] == [2, 2]


def test_stops_within_a_step_when_nobody_listens(small: Any, noise: Any) -> None:
    steps: list[int] = []
    made = ask(
        small,
        [noise],
        [1, 2],
        listener=Listener(draft=lambda d: steps.append(d.step)),
        cancel=lambda: len(steps) >= 2,
    )
    assert made.cancelled
    assert steps == [1, 2]
    assert ids(made) == [[[], []]]
    assert not made.replies[0][0].finished


def test_what_was_committed_before_the_stop_is_kept(small: Any, noise: Any) -> None:
    canvases: list[Canvas] = []
    made = ask(
        small,
        [noise],
        [1, 2],
        listener=Listener(canvas=canvases.append),
        cancel=lambda: len(canvases) >= 1,
        sampling=Sampling(steps=2, canvases=3, most_canvases=3),
    )
    assert made.cancelled
    assert max(len(r.ids) for r in made.replies[0]) > 0


def test_broken_weights_are_an_error_and_no_text(own_small: Any, noise: Any) -> None:
    with torch.no_grad():
        own_small.model.model.decoder.norm.weight.fill_(float("nan"))
    with pytest.raises(NotFiniteError, match="not finite"):
        ask(own_small, [noise], [1])


def test_a_reply_may_grow_until_it_loops(own_small: Any, noise: Any) -> None:
    own_small.model.generation_config.eos_token_id = 12  # <|turn>model, which is never drawn first
    own_small.model.config.text_config.eos_token_id = 12
    with torch.no_grad():  # and can hardly win
        own_small.model.model.decoder.embed_tokens.weight[12] = 0
    sampling = Sampling(steps=2, canvases=2, most_canvases=4)
    long = ask(own_small, [noise], [1], sampling=sampling)
    looping = ask(own_small, [noise], [1], sampling=sampling, loops=lambda _: True)
    assert len(looping.replies[0][0].ids) <= 2 * 16
    assert len(long.replies[0][0].ids) > len(looping.replies[0][0].ids)


def test_the_budget_is_asserted(small: Any, noise: Any) -> None:
    good = prompt_inputs(small.processor, [noise], "a", soft_tokens=280)
    count = int((good["input_ids"] == small.processor.image_token_id).sum())
    assert 240 < count <= 280

    class Shrinking:
        """A processor that has its own idea of the budget."""

        def __getattr__(self, name: str) -> Any:
            return getattr(small.processor, name)

        def apply_chat_template(self, chats: Any, **options: Any) -> Any:
            options["processor_kwargs"]["images_kwargs"]["max_soft_tokens"] = 70
            return small.processor.apply_chat_template(chats, **options)

    with pytest.raises(EngineError, match="280 were asked for"):
        prompt_inputs(Shrinking(), [noise], "a", soft_tokens=280)


def test_image_stands_before_text_and_a_crop_keeps_its_size(small: Any) -> None:
    crop = np.full((32, 128), 255, np.uint8)
    inputs = prompt_inputs(small.processor, [crop] * 2, "ab", soft_tokens=70, resize=False)
    text = small.processor.tokenizer.decode(inputs["input_ids"][0])
    assert (
        text == "<bos><|turn>user\n<|image>" + "<|image|>" * 4 + "<image|>ab<turn|>\n<|turn>model\n"
    )
    assert inputs["pixel_values"].shape == (2, 16, 768)  # no padded patches
    assert int((inputs["mm_token_type_ids"][0] == 1).sum()) == 4


def test_text_alone_is_answered(small: Any) -> None:
    inputs = prompt_inputs(small.processor, [], "abc", soft_tokens=70)
    made = generate(small.model, small.processor, inputs, [7], QUICK, loops=never)
    assert made.image_tokens == 0
    assert len(made.replies) == 1
