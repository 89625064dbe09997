"""Where a DiffusionGemma checkpoint lies, and whether it is whole, before any weight is read."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ocr_pipeline.engines.diffusion_card import CARD_FILE, Card
from ocr_pipeline.errors import EngineError

POCKET = "pocket"
MODEL_TYPE = "diffusion_gemma"
EXAMPLE = "name a DiffusionGemma checkpoint, such as google/diffusiongemma-26B-A4B-it"
_INDEX = "model.safetensors.index.json"
_WANTED = ["*.json", "*.jinja", "*.safetensors", "*.model"]
_TOKENIZER = ("tokenizer.json", "tokenizer.model")
_PROCESSOR = ("processor_config.json", "preprocessor_config.json")


def pocket_folder() -> Path | None:
    """The checkpoint that ships with the package; None where it does not."""
    folder = Path(str(files("ocr_pipeline.pocket") / "weights"))
    return folder if folder.is_dir() else None


def locate(name: str) -> Path | str:
    """The folder that a name stands for, or the hub id that it is.

    Raises:
        EngineError: it is neither.
    """
    if name == POCKET:
        folder = pocket_folder()
        if folder is None:
            raise EngineError(
                "the pocket model is not in this installation",
                remedy="install the project again, or name another checkpoint",
            )
        return folder
    path = Path(name).expanduser()
    if name and path.is_dir():
        return path
    if name and path.exists():
        raise EngineError(
            f"{name} is a file; a checkpoint is a folder",
            remedy="give the folder that holds config.json",
        )
    if re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", name):
        return name
    raise EngineError(f"there is no folder {name!r}, and it is no hub id either", remedy=EXAMPLE)


def read_config(name: str, source: Path | str) -> dict[str, Any]:
    """`config.json` of a checkpoint; of a hub id only this file is downloaded.

    Raises:
        EngineError: it is not there, not readable, or of another class of models.
    """
    if isinstance(source, Path):
        path = source / "config.json"
        if not path.is_file():
            raise EngineError(_no_config(name, source), remedy=EXAMPLE)
    else:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415

        with hub_errors(source):
            path = Path(hf_hub_download(source, "config.json"))
    config = _read_json(path)
    found = config.get("model_type")
    if found != MODEL_TYPE:
        raise EngineError(
            f"{name} is a {found or 'nameless'} model; this engine reads {MODEL_TYPE}",
            remedy=EXAMPLE,
        )
    return config


def _no_config(name: str, folder: Path) -> str:
    if any(folder.glob("*.gguf")):
        return f"{name} holds a GGUF file, which is read by llama.cpp only (and without images)"
    return f"{name} is not a checkpoint: it has no config.json"


def fetch(source: Path | str) -> Path:
    """The folder with everything in it; of a hub id, what is missing in the cache is downloaded.

    Raises:
        EngineError: it cannot be downloaded.
    """
    if isinstance(source, Path):
        return source
    from huggingface_hub import snapshot_download  # noqa: PLC0415

    with hub_errors(source):
        return Path(snapshot_download(source, allow_patterns=_WANTED))


def read_card(folder: Path) -> Card:
    """The checkpoint's card, or that of the published model when it has none.

    Raises:
        EngineError: the card cannot be read.
    """
    path = folder / CARD_FILE
    if not path.is_file():
        return Card()
    content = _read_json(path)
    unknown = sorted(set(content) - set(Card.__dataclass_fields__))
    if unknown:
        raise EngineError(
            f"{path} has entries that this version does not know: {', '.join(unknown)}",
            remedy="update ocr-pipeline, or take them out",
        )
    try:
        return TypeAdapter(Card).validate_python(content)
    except ValidationError as e:
        first = e.errors()[0]
        where = ".".join(map(str, ("", *first["loc"]))).lstrip(".")
        raise EngineError(
            f"{path}{', ' if where else ''}{where}: {first['msg']}", remedy="correct the file"
        ) from e


def verify(name: str, folder: Path) -> list[Path]:
    """The files with the weights, all there and whole.

    Raises:
        EngineError: weights, tokenizer, processor or chat template are missing, or a file with
            weights is cut short.
    """
    shards = _shards(name, folder)
    for shard in shards:
        _check_shard(shard)
    for kind, names in (("tokenizer", _TOKENIZER), ("image processor", _PROCESSOR)):
        if not any((folder / n).is_file() for n in names):
            raise EngineError(
                f"{name} has no {kind} ({' or '.join(names)})",
                remedy="copy the whole checkpoint, not only its weights",
            )
    return shards


def _shards(name: str, folder: Path) -> list[Path]:
    if (folder / _INDEX).is_file():
        entries = _read_json(folder / _INDEX).get("weight_map", {})
        names = entries.values() if isinstance(entries, dict) else [None]
        if not all(isinstance(n, str) and n == Path(n).name for n in names):
            raise EngineError(
                f"{folder / _INDEX} is no index of weights", remedy="copy that file again"
            )
        shards = [folder / n for n in sorted(set(names))]
    else:
        shards = [folder / "model.safetensors"]
    missing = [s.name for s in shards if not s.is_file()]
    if missing or not shards:
        shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if missing[3:] else "")
        raise EngineError(
            f"{name} has no weights: {shown or _INDEX} missing",
            remedy="download or copy the checkpoint again; weights must be safetensors",
        )
    return shards


def _check_shard(path: Path) -> None:
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415

    try:
        with safe_open(path, framework="pt"):
            return
    except SafetensorError as e:
        with path.open("rb") as file:
            pointer = file.read(20).startswith(b"version https://git")
        raise EngineError(
            f"{path} is not whole: {'a Git LFS pointer, not the file' if pointer else e}",
            remedy="run `git lfs pull` there" if pointer else "download or copy that file again",
        ) from e
    except OSError as e:
        raise EngineError(f"{path} cannot be read: {e}", remedy="check its permissions") from e


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise EngineError(f"{path} cannot be read: {e}", remedy="copy that file again") from e
    if not isinstance(content, dict):
        raise EngineError(f"{path} holds no JSON object", remedy="copy that file again")
    return content


@contextmanager
def hub_errors(name: str) -> Iterator[None]:
    """What can go wrong with a download, in words."""
    from huggingface_hub import constants, errors  # noqa: PLC0415

    page = f"https://huggingface.co/{name}"
    try:
        yield
    except errors.GatedRepoError as e:
        raise EngineError(
            f"{name} is given out only to those who accept its licence",
            remedy=f"accept it at {page}, then log in: hf auth login",
        ) from e
    except errors.RepositoryNotFoundError as e:
        raise EngineError(
            f"the hub has no {name}, or it is private",
            remedy="check the spelling; for a private one log in: hf auth login",
        ) from e
    except errors.RemoteEntryNotFoundError as e:
        raise EngineError(f"{name} has no config.json on the hub", remedy=EXAMPLE) from e
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as e:
        offline = constants.HF_HUB_OFFLINE
        why = "HF_HUB_OFFLINE is set" if offline else "the hub cannot be reached"
        raise EngineError(
            f"{name} is not complete in the cache of this machine, and {why}",
            remedy=("unset it" if offline else "connect")
            + f" once to download it, or copy the folder from {page} and name that",
        ) from e
    except errors.HfHubHTTPError as e:
        code = e.response.status_code
        raise EngineError(
            f"the hub answers {code} for {name}",
            remedy="log in: hf auth login" if code in (401, 403) else "try again later",
        ) from e
    except OSError as e:
        full = e.errno == errno.ENOSPC
        folder = os.environ.get("HF_HOME", constants.HF_HOME)
        raise EngineError(
            f"{name} cannot be downloaded: {e}",
            remedy=f"make room in {folder}, or set HF_HOME to a larger disk"
            if full
            else "check the connection to https://huggingface.co",
        ) from e
