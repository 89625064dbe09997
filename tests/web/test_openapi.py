"""What /openapi.json promises, tried out by schemathesis: nothing makes the server fail."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from ocr_pipeline.engines.scripted import Script, ScriptedEngine
from ocr_pipeline.web.settings import EngineChoice, Setting, WebSettings


@pytest.fixture(scope="module")
def served(tmp_path_factory, scan, schema, serving):
    samples = tmp_path_factory.mktemp("samples")
    (samples / "one.png").write_bytes(scan.read_bytes())
    engine = ScriptedEngine([Script("発注書", steps=2)])
    choice = EngineChoice("scripted", lambda *_: engine, settings=(Setting("steps", "count", ""),))
    with serving(WebSettings([choice], schema, samples=samples)) as served:
        yield served


@pytest.fixture(scope="module")
def contract(served):
    return schemathesis.openapi.from_url(f"{served.url}/openapi.json")


PATHS = {
    "/api/health": "GET",
    "/api/engines": "GET",
    "/api/transcribe": "POST",
    "/api/chat": "POST",
    "/api/jobs/{job}/stop": "POST",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "mode"),
    [
        (path, mode)
        for path in PATHS
        for mode in schemathesis.GenerationMode
        # Without a body there is nothing that could be wrong.
        if path in ("/api/transcribe", "/api/chat") or mode.is_positive
    ],
)
def test_nothing_makes_the_server_fail(contract, path, mode):
    operation = contract[path][PATHS[path]]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    def run(case):
        response = case.call()
        assert response.status_code < 500, response.text

    run()


def test_it_names_all_that_there_is(served):
    document = served.app.openapi()
    assert set(document["paths"]) == set(PATHS)
    for path in ("/api/transcribe", "/api/chat"):
        answers = document["paths"][path]["post"]["responses"]
        assert list(answers["200"]["content"]) == ["text/event-stream"]
        assert {"401", "413", "415", "422", "429"} <= set(answers)
