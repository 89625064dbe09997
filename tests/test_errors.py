from __future__ import annotations

import inspect
import pickle
from copy import copy

import pytest

from ocr_pipeline import errors
from ocr_pipeline.errors import EngineError, MissingExtraError, OcrPipelineError

KINDS = [
    c
    for _, c in inspect.getmembers(errors, inspect.isclass)
    if issubclass(c, OcrPipelineError) and c.__module__ == errors.__name__
]


def test_all_kinds_are_in_the_tree_of_the_module() -> None:
    assert len(KINDS) == 9
    assert all(k.__name__ in (errors.__doc__ or "") for k in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_message_says_what_to_do(kind: type[OcrPipelineError]) -> None:
    error = kind("it broke", remedy="mend it")
    assert (error.message, error.remedy) == ("it broke", "mend it")
    assert str(error) == "it broke\n  → mend it"
    assert str(kind("it broke")) == "it broke"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("send", [lambda e: pickle.loads(pickle.dumps(e)), copy])
def test_errors_survive_the_way_between_processes(kind: type[OcrPipelineError], send) -> None:
    sent = send(kind("it broke", remedy="mend it"))
    assert type(sent) is kind
    assert str(sent) == "it broke\n  → mend it"
    assert sent.exit_code == kind.exit_code


def test_exit_codes() -> None:
    codes = {k.exit_code for k in KINDS} | {errors.EXIT_SOME_FAILED, errors.EXIT_OK}
    assert codes == {0, 1, 2, 3, 4, 5, 6, 10}
    # Each branch of the tree has its own, and its leaves share it.
    branches = [k for k in KINDS if k.__base__ is OcrPipelineError]
    assert len({k.exit_code for k in branches}) == len(branches)
    assert MissingExtraError.exit_code == EngineError.exit_code


def test_a_missing_extra_names_the_command_that_installs_it() -> None:
    error = MissingExtraError("torch is not installed", extra="gemma")
    assert 'pip install "ocr-pipeline[gemma]"' in error.remedy
    assert pickle.loads(pickle.dumps(error)).remedy == error.remedy
    assert MissingExtraError("x", extra="gemma", remedy="another way").remedy == "another way"
    assert MissingExtraError("x").remedy == ""
