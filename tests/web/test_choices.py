"""Engines that may be chosen, and options that may be set."""

import pytest

from ocr_pipeline.engines import registry
from ocr_pipeline.errors import MissingExtraError, UsageError
from ocr_pipeline.web.choices import OFFERED, checked, choose
from ocr_pipeline.web.errors import Refused
from ocr_pipeline.web.jobs import Slot
from ocr_pipeline.web.serve import settings_of
from ocr_pipeline.web.settings import EngineChoice, Limits, Setting

FLAG = Setting("second_look", "flag", True)
KIND = Setting("tiling", "choice", "", ("page", "lines"))
COUNT = Setting("steps", "count", "")
NUMBER = Setting("bound", "number", 0.1)
CHOICE = EngineChoice("e", lambda *_: None, settings=(FLAG, KIND, COUNT, NUMBER))


def test_without_a_name_there_is_what_can_be_had():
    choices = {c.name: c for c in choose([], {})}
    assert "ppocr" in choices
    assert "scripted" not in choices  # it would have to be told its replies
    assert choices["ppocr"].problem == ""
    assert {s.name: s.kind for s in choices["ppocr"].settings} == {
        "second_look": "flag",
        "det_threshold": "number",
        "box_threshold": "number",
    }


def test_the_usual_engine_is_not_a_download(monkeypatch):
    monkeypatch.setitem(registry.ENGINES, "diffusiongemma", lambda m, o: pytest.fail(m))
    monkeypatch.setattr("ocr_pipeline.web.choices.pocket_folder", lambda: None)
    assert "diffusiongemma" not in [c.name for c in choose([], {})]


def test_a_missing_extra_is_a_choice_that_says_so(monkeypatch):
    def missing(model, options):
        raise MissingExtraError("no torch", extra="gemma")

    monkeypatch.setitem(registry.ENGINES, "diffusiongemma", missing)
    (choice,) = choose([("diffusiongemma", "x")], {})
    assert "no torch" in choice.problem
    assert "pip install" in choice.problem


def test_what_is_offered_exists():
    for name in OFFERED:
        if name in registry.ENGINES:
            (choice,) = choose([(name, "")], {})
            assert {s.name for s in choice.settings} == set(OFFERED[name][1])


def test_options_of_the_command_line_are_defaults():
    (choice,) = choose([("ppocr", "")], {"ppocr": {"second_look": "false", "box_threshold": "0.6"}})
    found = {s.name: s.default for s in choice.settings}
    assert found == {"second_look": False, "det_threshold": 0.3, "box_threshold": "0.6"}


@pytest.mark.parametrize(("engine", "options"), [("nil", {}), ("ppocr", {"nil": "1"})])
def test_what_does_not_exist(engine, options):
    with pytest.raises(UsageError):
        choose([(engine, "")], {engine: options})


@pytest.mark.parametrize(
    ("named", "engine"), [([], "ppocr"), ([], "diffusiongemma"), ([("ppocr", "")], "scripted")]
)
def test_no_option_is_passed_over(named, engine, monkeypatch):
    monkeypatch.setattr("ocr_pipeline.web.choices.pocket_folder", lambda: None)
    with pytest.raises(UsageError, match=engine):
        choose(named, {engine: {"nil": "1"}})


@pytest.mark.parametrize("option", ["x", "ppocr=1", ".x=1", "nil.x=1", "ppocr.=1"])
def test_options_that_set_nothing(option):
    with pytest.raises(UsageError):
        settings_of(["ppocr"], [option], schema="purchase_order")


def test_settings_of_the_command_line(tmp_path):
    settings = settings_of(
        ["ppocr"], ["ppocr.threads=1"], schema="purchase_order", token="t", out=tmp_path
    )
    assert [c.name for c in settings.engines] == ["ppocr"]
    assert (settings.token, settings.out) == ("t", tmp_path)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {}),
        ({"second_look": "True"}, {}),
        ({"second_look": "false", "steps": "12"}, {"second_look": "false", "steps": "12"}),
        ({"tiling": "lines", "bound": " 0.2 "}, {"tiling": "lines", "bound": "0.2"}),
        ({"steps": ""}, {}),
    ],
)
def test_what_a_visitor_may_set(given, kept):
    assert checked(CHOICE, given) == kept


@pytest.mark.parametrize(
    "given",
    [
        {"device": "cuda"},
        {"second_look": "maybe"},
        {"tiling": "/etc/passwd"},
        {"steps": "0"},
        {"steps": "99999999999"},
        {"steps": "٣"},
        {"bound": "nan"},
        {"bound": "inf"},
        {"bound": "-1"},
        {"bound": "x" * 100},
    ],
)
def test_what_a_visitor_may_not(given):
    with pytest.raises(Refused) as refused:
        checked(CHOICE, given)
    assert refused.value.status == 422


class Weights:
    """An engine that is slow to load, and can be told other options."""

    name = "weights"
    loads = 0

    def __init__(self, options):
        self.options = options

    def with_options(self, options):
        return Weights(options)


def test_weights_are_loaded_once(monkeypatch):
    def factory(model, options):
        def start():
            Weights.loads += 1
            return Weights(options)

        return start

    monkeypatch.setitem(registry.ENGINES, "weights", factory)
    (choice,) = choose([("weights", "")], {"weights": {"device": "cpu"}})
    slot = Slot(choice, Limits())
    first = slot.engine({})
    assert slot.engine({}) is first
    assert slot.engine({"steps": "4"}).options == {"device": "cpu", "steps": "4"}
    assert slot.engine({}).options == {"device": "cpu"}
    assert Weights.loads == 1
    slot.close()


def test_an_engine_without_weights_of_its_own_is_made_anew():
    class Plain:
        name = "plain"

    slot = Slot(EngineChoice("plain", lambda options, loaded: (loaded, Plain())[1]), Limits())
    first = slot.engine({})
    assert slot.engine({}) is first
    assert slot.engine({"a": "1"}) is not first
    slot.close()
