from __future__ import annotations

import builtins
import errno
import json
import shutil
import sys
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

import huggingface_hub
import transformers
from huggingface_hub import errors
from safetensors.torch import load_file, save_file
from transformers import DiffusionGemmaForBlockDiffusion

from ocr_pipeline.engines import diffusion_memory as memory
from ocr_pipeline.engines.diffusion_card import Card
from ocr_pipeline.engines.diffusion_load import load
from ocr_pipeline.errors import EngineError, MissingExtraError, UsageError
from ocr_pipeline.pocket.build import TINY, build_model, build_processor, save

VOCABULARY = "abcdefghij0123456789|- \n"
CARD = Card(tiling="lines", prompt="", line_height=32, widths=(128, 256), canvases=1)
HUB_ID = "somebody/diffusiongemma"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint")
    model = build_model(TINY, VOCABULARY, seed=1).to(torch.bfloat16)
    save(path, model, build_processor(TINY, VOCABULARY), CARD)
    return path


@pytest.fixture
def folder(whole, tmp_path):
    """A copy that a test may spoil."""
    return shutil.copytree(whole, tmp_path / "checkpoint")


def refused(name, kind=EngineError, **options):
    with pytest.raises(kind) as caught:
        load(str(name), **options)
    assert caught.value.remedy
    return caught.value


def change(path, **entries):
    content = json.loads(path.read_text(encoding="utf-8")) | entries
    path.write_text(json.dumps(content), encoding="utf-8")


class TestLoaded:
    def test_a_folder(self, whole):
        loaded = load(str(whole))
        assert isinstance(loaded.model, DiffusionGemmaForBlockDiffusion)
        assert not loaded.model.training
        assert loaded.processor.chat_template
        assert (loaded.card, loaded.name) == (CARD, str(whole))
        assert loaded.rows > 64

    def test_the_weights_are_those_of_the_file(self, whole):
        stored = load_file(whole / "model.safetensors")
        for dtype in ("bfloat16", "float32"):
            mine = dict(load(str(whole), dtype=dtype).model.named_parameters())
            assert all(torch.equal(mine[n].bfloat16(), w) for n, w in stored.items() if n in mine)

    def test_a_cpu_with_room_computes_in_float32(self, whole):
        loaded = load(str(whole), device="cpu")
        assert (loaded.device, loaded.dtype) == ("cpu", "float32")
        assert loaded.model.dtype == torch.float32

    def test_a_cpu_with_little_room_computes_in_bfloat16(self, whole, monkeypatch):
        size = memory.measure(transformers.AutoConfig.from_pretrained(whole))
        free = 1.5 * size.needed("float32")
        monkeypatch.setattr(memory, "free_memory", lambda _: free)
        loaded = load(str(whole), device="cpu")
        assert (loaded.dtype, loaded.model.dtype) == ("bfloat16", torch.bfloat16)
        assert loaded.rows == size.rows("bfloat16", free)

    def test_the_pocket_model_is_a_folder_of_the_package(self, whole, monkeypatch):
        monkeypatch.setattr(
            "ocr_pipeline.engines.diffusion_files.files", lambda _: SimpleFolder(whole)
        )
        assert load("pocket").card == CARD

    def test_a_checkpoint_without_a_card_is_asked_like_the_published_one(self, folder):
        (folder / "ocr_pipeline.json").unlink()
        assert load(str(folder)).card == Card()

    def test_it_says_nothing(self, folder, capfd):
        tensors = load_file(folder / "model.safetensors")
        tensors["model.something.else"] = torch.zeros(2)  # transformers would report it
        save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        before = transformers.logging.get_verbosity()
        load(str(folder))
        assert capfd.readouterr() == ("", "")
        assert transformers.logging.get_verbosity() == before


class SimpleFolder:
    """Stands in for `importlib.resources.files`."""

    def __init__(self, path):
        self._path = path

    def __truediv__(self, name):
        assert name == "weights"
        return self._path


class TestNames:
    def test_no_pocket_model(self, tmp_path, monkeypatch):
        nowhere = SimpleFolder(tmp_path / "none")
        monkeypatch.setattr("ocr_pipeline.engines.diffusion_files.files", lambda _: nowhere)
        assert "pocket" in refused("pocket").message

    @pytest.mark.parametrize("name", ["nothing", "/no/such/folder", "./a/b", "", "a/b/c", "../x"])
    def test_neither_folder_nor_hub_id(self, name):
        error = refused(name)
        assert "no folder" in error.message
        assert "google/diffusiongemma-26B-A4B-it" in error.remedy

    def test_a_file(self, folder):
        assert "is a file" in refused(folder / "model.safetensors").message

    def test_a_folder_that_is_no_checkpoint(self, tmp_path):
        assert "no config.json" in refused(tmp_path).message

    def test_a_folder_with_a_gguf_file(self, tmp_path):
        (tmp_path / "diffusiongemma-Q8_0.gguf").touch()
        assert "GGUF" in refused(tmp_path).message


class TestFiles:
    def test_another_class_of_models(self, folder):
        change(folder / "config.json", model_type="gemma4")
        error = refused(folder)
        assert "is a gemma4 model" in error.message
        assert "google/diffusiongemma-26B-A4B-it" in error.remedy

    def test_a_configuration_that_says_nothing(self, folder):
        (folder / "config.json").write_text("{}", encoding="utf-8")
        assert "nameless" in refused(folder).message

    @pytest.mark.parametrize("text", ["", "{", "[]", "\x00"])
    def test_a_broken_configuration(self, folder, text):
        (folder / "config.json").write_text(text, encoding="utf-8")
        assert "config.json" in refused(folder).message

    def test_a_configuration_that_makes_no_sense(self, folder):
        change(folder / "config.json", text_config={"hidden_size": "wide"})
        assert "does not describe a DiffusionGemma" in refused(folder).message

    def test_weights_missing(self, folder):
        (folder / "model.safetensors").unlink()
        assert "model.safetensors missing" in refused(folder).message

    def test_weights_of_old_kind_only(self, folder):
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        assert "must be safetensors" in refused(folder).remedy

    def test_shards_missing(self, folder):
        names = [f"model-{i:05d}-of-00005.safetensors" for i in range(1, 6)]
        index = {"weight_map": {f"w{i}": n for i, n in enumerate(names)}}
        path = folder / "model.safetensors.index.json"
        path.write_text(json.dumps(index), encoding="utf-8")
        (folder / "model.safetensors").rename(folder / names[0])
        assert f"{names[1]}, {names[2]}, {names[3]} and 1 more missing" in refused(folder).message

    def test_an_index_of_nothing(self, folder):
        path = folder / "model.safetensors.index.json"
        path.write_text('{"weight_map": {}}', encoding="utf-8")
        assert "no weights" in refused(folder).message

    def test_shards(self, folder):
        tensors = load_file(folder / "model.safetensors")
        (folder / "model.safetensors").unlink()
        names = sorted(tensors)
        halves = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
        for file, mine in halves.items():
            save_file({n: tensors[n] for n in mine}, folder / file, {"format": "pt"})
        index = {"metadata": {}, "weight_map": {n: f for f, mine in halves.items() for n in mine}}
        path = folder / "model.safetensors.index.json"
        path.write_text(json.dumps(index), encoding="utf-8")
        assert load(str(folder)).card == CARD

    @pytest.mark.parametrize("kept", [0, 4, 100, 0.5, 0.999])
    def test_a_truncated_file(self, folder, kept):
        path = folder / "model.safetensors"
        content = path.read_bytes()
        path.write_bytes(content[: int(kept * len(content)) if kept < 1 else kept])
        error = refused(folder)
        assert "model.safetensors is not whole" in error.message
        assert "again" in error.remedy

    def test_a_corrupt_header(self, folder):
        path = folder / "model.safetensors"
        content = bytearray(path.read_bytes())
        content[8:40] = b"\xff" * 32
        path.write_bytes(bytes(content))
        assert "not whole" in refused(folder).message

    def test_a_pointer_instead_of_the_file(self, folder):
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
        (folder / "model.safetensors").write_text(pointer, encoding="utf-8")
        error = refused(folder)
        assert "Git LFS pointer" in error.message
        assert "git lfs pull" in error.remedy

    @pytest.mark.parametrize("quantise", ["none", "int4"])
    @pytest.mark.parametrize(
        "part", ["layers.1.experts.down_proj", "vision_tower", "layers.0.self_attn.q_proj.weight"]
    )
    def test_missing_weights_are_never_made_up(self, folder, part, quantise):
        path = folder / "model.safetensors"
        tensors = {n: t for n, t in load_file(path).items() if part not in n}
        save_file(tensors, path, {"format": "pt"})
        error = refused(folder, quantise=quantise)
        assert part in error.message
        assert "random" in error.message

    @pytest.mark.parametrize("quantise", ["none", "int8"])
    def test_weights_of_another_shape(self, folder, quantise):
        path = folder / "model.safetensors"
        tensors = load_file(path)
        name = next(n for n in tensors if n.endswith("experts.gate_up_proj"))
        tensors[name] = tensors[name][:-1].clone()
        save_file(tensors, path, {"format": "pt"})
        assert refused(folder, quantise=quantise).message

    @pytest.mark.parametrize(
        ("file", "what"), [("tokenizer.json", "tokenizer"), ("processor_config.json", "processor")]
    )
    def test_a_missing_processor(self, folder, file, what):
        (folder / file).unlink()
        assert f"has no {'image ' * (what == 'processor')}{what}" in refused(folder).message

    @pytest.mark.parametrize("file", ["tokenizer.json", "processor_config.json"])
    def test_a_broken_processor(self, folder, file):
        (folder / file).write_text('{"a": ', encoding="utf-8")
        assert "processor" in refused(folder).message

    def test_a_missing_chat_template(self, folder):
        (folder / "chat_template.jinja").unlink()
        assert "no chat template" in refused(folder).message

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ({"tiling": "squares"}, "tiling"),
            ({"steps": "many"}, "steps"),
            ({"rotation": 1}, "does not know: rotation"),
        ],
    )
    def test_a_card_that_is_wrong(self, folder, entry, message):
        change(folder / "ocr_pipeline.json", **entry)
        assert message in refused(folder).message

    def test_quantised_by_others(self, folder):
        change(folder / "config.json", quantization_config={"quant_method": "nvfp4"})
        error = refused(folder)
        assert "nvfp4" in error.message
        assert "quantise=int8" in error.remedy


class TestMemory:
    @pytest.mark.parametrize(
        ("gigabytes", "remedy"),
        [
            (40, "-O quantise=int8"),
            (24, "-O quantise=int4"),
            (8, "nothing fits there"),
        ],
    )
    def test_too_little_of_it(self, whole, monkeypatch, gigabytes, remedy):
        monkeypatch.setattr(memory, "measure", lambda _: memory.PUBLISHED)
        monkeypatch.setattr(memory, "free_memory", lambda _: gigabytes * 1e9)
        error = refused(whole, device="cpu", dtype="bfloat16")
        assert f"has {gigabytes}.0 GB free" in error.message
        assert "needs 54.8 GB in bfloat16 (51.6 GB of weights" in error.message
        assert error.remedy.startswith((remedy, f"what fits: {remedy}"))

    def test_it_is_found_out_before_weights_are_read(self, folder, monkeypatch):
        (folder / "model.safetensors").unlink()
        monkeypatch.setattr(memory, "free_memory", lambda _: 1e6)
        assert "GB free" in refused(folder).message

    def test_running_out_of_it_on_the_way(self, whole, monkeypatch):
        def full(*_, **__):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB\nmore")

        monkeypatch.setattr(DiffusionGemmaForBlockDiffusion, "from_pretrained", full)
        error = refused(whole)
        assert "Tried to allocate" in error.message
        assert "quantise=int4" in error.remedy
        assert "\n" not in error.message

    def test_every_weight_is_counted_once(self):
        model = build_model(TINY, VOCABULARY)
        size = memory.measure(model.config)
        assert size.total == sum(p.numel() for p in model.parameters())
        assert size.experts == TINY.layers * TINY.experts * 3 * TINY.hidden * TINY.expert_width
        assert size.layer * TINY.layers == size.experts
        assert size.logits == TINY.canvas * model.config.text_config.vocab_size
        linears = [
            weight.numel()
            for name, weight in model.model.decoder.layers.named_parameters()
            if name.endswith("_proj.weight") and (".self_attn." in name or ".mlp." in name)
        ]
        assert size.linears == sum(linears)

    def test_the_memory_of_this_machine(self):
        assert 1e6 < memory.free_memory("cpu") < 1e15


class TestDevices:
    @pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", "tpu", ""])
    def test_devices_that_do_not_exist(self, whole, device):
        assert refused(whole, UsageError, device=device).exit_code == 2

    @pytest.mark.parametrize("options", [{"dtype": "int8"}, {"quantise": "int2"}])
    def test_precisions_that_do_not_exist(self, whole, options):
        assert next(iter(options.values())) in refused(whole, UsageError, **options).message

    @pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps"])
    def test_devices_that_are_not_here(self, whole, device, monkeypatch):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
        error = refused(whole, device=device)
        assert device in error.message
        assert "doctor" in error.remedy

    def test_the_gpu_with_the_most_room_is_taken(self, whole, monkeypatch):
        places = self._gpus(monkeypatch, [20e9, 70e9, 60e9])
        assert load(str(whole)).device == "cuda:1"
        assert places == [{"": "cuda:1"}]
        assert load(str(whole), device="cuda").device == "cuda:0"

    def test_a_gpu_computes_in_bfloat16(self, whole, monkeypatch):
        self._gpus(monkeypatch, [70e9])
        assert load(str(whole)).dtype == "bfloat16"

    def test_a_model_too_large_for_one_is_spread(self, whole, monkeypatch):
        places = self._gpus(monkeypatch, [30e9, 30e9])
        monkeypatch.setattr(memory, "measure", lambda _: memory.PUBLISHED)
        assert load(str(whole)).device == "cuda:0"
        assert places == ["auto"]
        assert "54.8 GB" in refused(whole, device="cuda:0").message

    def _gpus(self, monkeypatch, free):
        """Pretend to have GPUs; returns where models are sent (they stay on the CPU)."""
        places, real = [], DiffusionGemmaForBlockDiffusion.from_pretrained

        def start(*args, device_map, **kwargs):
            places.append(device_map)
            return real(*args, device_map={"": "cpu"}, **kwargs)

        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(free))
        monkeypatch.setattr(memory, "free_memory", lambda d: free[int(d.partition(":")[2])])
        monkeypatch.setattr(DiffusionGemmaForBlockDiffusion, "from_pretrained", start)
        return places


class TestPackages:
    @pytest.mark.parametrize("package", ["torch", "transformers", "accelerate"])
    def test_a_missing_package(self, whole, monkeypatch, package):
        monkeypatch.setitem(sys.modules, package, None)
        error = refused(whole, MissingExtraError)
        assert package in error.message
        assert "ocr-pipeline[gemma]" in error.remedy

    def test_an_old_transformers(self, whole, monkeypatch):
        old = SimpleNamespace(__version__="5.2.0")
        monkeypatch.setitem(sys.modules, "transformers", old)
        error = refused(whole, MissingExtraError)
        assert "5.2.0 does not know DiffusionGemma" in error.message

    def test_naming_it_needs_none_of_them(self, monkeypatch):
        """The module itself is imported before anybody knows whether the extra is there."""
        for name in [m for m in sys.modules if m.startswith("ocr_pipeline.engines.diffusion_")]:
            monkeypatch.delitem(sys.modules, name)
        real = builtins.__import__

        def without(name, *args, **kwargs):
            if name.partition(".")[0] in ("torch", "transformers", "accelerate", "safetensors"):
                raise ImportError(name=name.partition(".")[0])
            return real(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", without)
        from ocr_pipeline.engines.diffusion_load import load as fresh

        with pytest.raises(MissingExtraError, match="accelerate"):
            fresh("pocket")


def http(kind, status):
    return kind("no", response=SimpleNamespace(status_code=status, headers={}, request=None))


class TestHub:
    @pytest.fixture
    def hub(self, monkeypatch, whole):
        """A hub with the small checkpoint; `hub.fails` lets the next call go wrong."""
        state = SimpleNamespace(fails=None, asked=[], patterns=None)

        def answer(what, path):
            state.asked.append(what)
            if state.fails is not None:
                raise state.fails
            return str(path)

        def snapshot(_, allow_patterns):
            state.patterns = allow_patterns
            return answer("all", whole)

        monkeypatch.setattr(
            huggingface_hub, "hf_hub_download", lambda _, file: answer(file, whole / file)
        )
        monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
        return state

    def test_a_hub_id(self, hub):
        assert load(HUB_ID).name == HUB_ID
        assert hub.asked == ["config.json", "all"]
        assert {"*.safetensors", "*.json", "*.jinja"} <= set(hub.patterns)

    def test_nothing_is_downloaded_for_a_machine_that_is_too_small(self, hub, monkeypatch):
        monkeypatch.setattr(memory, "free_memory", lambda _: 1e6)
        assert "GB free" in refused(HUB_ID).message
        assert hub.asked == ["config.json"]

    @pytest.mark.parametrize(
        ("failure", "message", "remedy"),
        [
            (http(errors.GatedRepoError, 403), "accept its licence", "hf auth login"),
            (http(errors.RepositoryNotFoundError, 404), "no somebody/diff", "spelling"),
            (http(errors.RemoteEntryNotFoundError, 404), "no config.json", "google/"),
            (http(errors.HfHubHTTPError, 401), "answers 401", "hf auth login"),
            (http(errors.HfHubHTTPError, 503), "answers 503", "later"),
            (errors.LocalEntryNotFoundError("gone"), "cannot be reached", "connect once"),
            (OSError(errno.ENOSPC, "No space left on device"), "No space left", "HF_HOME"),
            (ConnectionError("reset"), "reset", "connection"),
        ],
        ids=lambda v: type(v).__name__ if isinstance(v, Exception) else None,
    )
    def test_what_goes_wrong(self, hub, failure, message, remedy):
        hub.fails = failure
        error = refused(HUB_ID)
        assert message in error.message
        assert remedy in error.remedy

    def test_offline_by_wish(self, monkeypatch, tmp_path):
        """The real client, which does not even try."""
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
        error = refused(HUB_ID)
        assert "HF_HUB_OFFLINE is set" in error.message
        assert "unset it once" in error.remedy


class TestFilesThatNobodyThoughtOf:
    def edit(self, path, **changes):
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes))

    @pytest.mark.parametrize(
        "changes",
        [
            {"steps": 0},
            {"soft_tokens": 33},
            {"widths": [-5]},
            {"canvases": -2},
            {"line_height": -1},
            {"tiling": "stripes"},
        ],
    )
    def test_a_card_out_of_bounds(self, folder, changes):
        self.edit(folder / "ocr_pipeline.json", **changes)
        with pytest.raises(EngineError, match=r"ocr_pipeline\.json"):
            load(str(folder))

    def test_a_broken_template(self, folder):
        (folder / "chat_template.jinja").write_text("{% if %}{{")
        with pytest.raises(EngineError, match="makes no prompt"):
            load(str(folder))

    def test_an_image_token_that_the_model_does_not_know(self, folder):
        self.edit(folder / "config.json", image_token_id=99)
        with pytest.raises(EngineError, match="would not find the image"):
            load(str(folder))

    def test_a_canvas_of_nothing(self, folder):
        self.edit(folder / "config.json", canvas_length=0)
        with pytest.raises(EngineError):
            load(str(folder))

    @pytest.mark.parametrize("entries", [[], {"a": 5}, {"a": "../../elsewhere"}])
    def test_an_index_that_is_none(self, folder, entries):
        index = folder / "model.safetensors.index.json"
        index.write_text(json.dumps({"weight_map": entries}))
        with pytest.raises(EngineError, match=r"index\.json"):
            load(str(folder))
