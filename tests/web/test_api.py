"""The interface: streams, refusals, and that nothing is kept."""

import io
import json
import time

import jsonschema
import numpy as np
import pytest
from PIL import Image

from ocr_pipeline.engines.event_log import from_plain
from ocr_pipeline.export.record import from_json, json_schema

SLOW = {"steps": 10, "pause": 0.05}
FORM = {"Content-Type": "multipart/form-data; boundary=x"}
BEGUN = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.tif"\r\n\r\n'


def post(client, scan, name="scan.png", **fields):
    files = {"file": (name, scan if isinstance(scan, bytes) else scan.read_bytes())}
    return client.post("/api/transcribe", files=files, data=fields)


def stream(client, scan, name="scan.png", **fields):
    files = {"file": (name, scan.read_bytes())}
    return client.stream("POST", "/api/transcribe", files=files, data=fields)


def nothing_kept(served):
    served.wait(lambda: not served.state.jobs)
    return list(served.state.folder.iterdir()) == []


class TestTranscribe:
    def test_the_whole_of_it(self, serve, watched, scan, read_messages):
        with serve(watched()) as served, served.client() as client:
            with stream(client, scan, runs=2, pictures="true") as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                got = list(read_messages(response))
            assert nothing_kept(served)
        kinds = [kind for kind, _, _ in got]
        assert kinds[0] == "job"
        assert kinds[-3:] == ["record", "report", "end"]
        assert [k for k in kinds if k in ("queued", "picture", "upright")] == [
            "picture",
            "queued",
            "upright",
            "upright",
        ]
        drafts = [d["data"]["text"] for k, d, _ in got if k == "draft"]
        assert len(set(drafts)) > 10
        text = "".join(d["data"]["text"] for k, d, _ in got if k == "committed" and d["run"] == 0)
        assert "PO-2026-0415" in text
        done = [d for k, d, _ in got if k == "done"]
        assert [(d["run"], d["data"]["status"]) for d in done] == [(0, "ok"), (1, "ok")]
        assert got[-1][1] == {"outcome": "ok", "dropped": 0}
        about = got[0][1]
        assert (about["source"], about["pages"], about["runs"]) == ("scan.png", 1, 2)

    def test_events_leave_as_they_happen(self, serve, watched, scan, read_messages):
        with (
            serve(watched(**SLOW)) as served,
            served.client() as client,
            stream(client, scan) as response,
        ):
            times = [t for kind, _, t in read_messages(response) if kind == "draft"]
        gaps = np.diff(times)
        assert times[-1] - times[0] > 0.8
        assert np.median(gaps) > 0.03
        assert gaps.max() < 0.5

    def test_nobody_on_the_way_may_hold_it_back(self, serve, watched, scan):
        with (
            serve(watched()) as served,
            served.client(headers={"Accept-Encoding": "gzip, br, zstd"}) as client,
            stream(client, scan) as response,
        ):
            headers = response.headers
            response.read()
        assert "content-encoding" not in headers
        assert headers["x-accel-buffering"] == "no"
        assert headers["cache-control"] == "no-store, no-transform"

    def test_a_silent_stream_gives_signs_of_life(self, serve, watched, scan, limits):
        engine = watched(fault="hang")
        with serve(engine, limits=limits(heartbeat_seconds=0.1)) as served:
            with served.client() as client, stream(client, scan) as response:
                alive = 0
                for line in response.iter_lines():
                    alive += line.startswith(": alive")
                    if alive == 3:
                        break
            served.wait(lambda: engine.cancelled > 0)

    def test_events_are_those_of_the_design(self, serve, watched, scan, read_messages):
        with (
            serve(watched()) as served,
            served.client() as client,
            stream(client, scan) as response,
        ):
            for kind, data, _ in read_messages(response):
                if kind not in ("job", "picture", "upright", "record", "report", "end"):
                    assert from_plain(data).kind == kind

    def test_the_record_is_the_one_of_the_contract(self, serve, watched, scan):
        with serve(watched()) as served, served.client() as client:
            lines = post(client, scan).text.split("\n")
        record = lines[lines.index("event: record") + 1].removeprefix("data: ")
        jsonschema.validate(json.loads(record), json_schema())
        order = from_json(record).orders[0]
        assert order.fields["order_no"].value == "PO-2026-0415"

    def test_the_report_and_the_files(self, serve, watched, scan, read_messages):
        with (
            serve(watched()) as served,
            served.client() as client,
            stream(client, scan, runs=2) as response,
        ):
            report = next(d for k, d, _ in read_messages(response) if k == "report")
        assert set(report["html"]) == {"ja", "en"}
        assert "2 runs do not agree" in report["html"]["en"]
        assert "2回の読み取りが一致しません" in report["html"]["ja"]
        assert set(report["files"]) == {"transcript.md", "orders.csv", "lines.csv", "review.csv"}
        assert report["files"]["orders.csv"].startswith("\ufeff")

    def test_names_are_text_and_nothing_else(self, serve, watched, scan, read_messages):
        name = "<img src=x onerror=alert(1)>.tif"
        with (
            serve(watched("<script>alert(2)</script>")) as served,
            served.client() as client,
            stream(client, scan, name, pictures="true") as response,
        ):
            got = {k: d for k, d, _ in read_messages(response)}
        assert got["job"]["source"] == name
        for html in got["report"]["html"].values():
            assert "<img" not in html
            assert "<script" not in html
            assert "&lt;script&gt;" in html

    @pytest.mark.parametrize(
        "name", ["../../etc/passwd", "/etc/passwd", "a/b.png", "\\\\x\\y", "\u202e.tif"]
    )
    def test_a_name_is_no_path(self, serve, watched, scan, name, read_messages):
        with (
            serve(watched()) as served,
            served.client() as client,
            stream(client, scan, name) as response,
        ):
            assert response.status_code == 200
            response.read()
            assert nothing_kept(served)

    def test_samples_are_looked_up(self, serve, watched, scan, tmp_path):
        (tmp_path / "secret.png").write_bytes(scan.read_bytes())
        samples = tmp_path / "samples"
        samples.mkdir()
        (samples / "one.png").write_bytes(scan.read_bytes())
        with serve(watched(), samples=samples) as served, served.client() as client:
            assert client.post("/api/transcribe", data={"sample": "one.png"}).status_code == 200
            for name in ("../secret.png", "secret.png", str(tmp_path / "secret.png"), "nil"):
                assert client.post("/api/transcribe", data={"sample": name}).status_code == 404
            assert client.get("/samples/one.png/thumbnail").content.startswith(b"\xff\xd8")
            assert client.get("/samples/..%2Fsecret.png/thumbnail").status_code == 404

    def test_an_engine_that_breaks(self, serve, watched, scan, read_messages):
        with (
            serve(watched(fault="raise")) as served,
            served.client() as client,
            stream(client, scan) as response,
        ):
            got = list(read_messages(response))
            assert nothing_kept(served)
        assert "the script says so" in next(d for k, d, _ in got if k == "error")["data"]["error"]
        assert next(d for k, d, _ in got if k == "record")["status"] == "failed"

    def test_an_engine_that_cannot_start(self, serve, scan, read_messages):
        from ocr_pipeline.errors import EngineError
        from ocr_pipeline.web.settings import EngineChoice

        def start(*_):
            raise EngineError("no model", remedy="get one")

        with (
            serve(EngineChoice("heavy", start)) as served,
            served.client() as client,
            stream(client, scan) as response,
        ):
            got = list(read_messages(response))
        assert [k for k, _, _ in got if k not in ("queued",)] == ["job", "error", "end"]
        assert got[-2][1]["data"] == {"error": "no model", "remedy": "get one"}
        assert got[-1][1]["outcome"] == "failed"

    def test_what_is_missing_is_said_before(self, serve, watched, scan):
        from ocr_pipeline.web.settings import EngineChoice

        absent = EngineChoice("absent", lambda *_: None, problem="pip install it")
        with serve(absent, watched()) as served, served.client() as client:
            answer = post(client, scan, engine="absent")
            assert answer.status_code == 422
            assert answer.json()["remedy"] == "pip install it"
            assert post(client, scan).status_code == 200  # the first that works


class TestRefusals:
    @pytest.fixture(scope="class")
    @staticmethod
    def made():
        def tiff(pages):
            page = Image.new("1", (60, 40), 1)
            return _bytes(page, "TIFF", save_all=True, append_images=[page] * (pages - 1))

        def _bytes(image, kind, **more):
            out = io.BytesIO()
            image.save(out, kind, **more)
            return out.getvalue()

        whole = _bytes(
            Image.fromarray(np.arange(60_000, dtype=np.uint32).view(np.uint8).reshape(400, 600)),
            "PNG",
        )
        return {
            "text": (b"Dear Sir or Madam", 415),
            "empty": (b"", 422),
            "bomb": (_bytes(Image.new("1", (12_000, 12_000), 1), "PNG"), 413),
            "pages": (tiff(40), 413),
            "pdf": (b"%PDF-1.4 broken", 422),
            "cut": (whole[: len(whole) // 2], 422),
        }

    @pytest.mark.parametrize("which", ["text", "empty", "bomb", "pages", "pdf", "cut"])
    def test_a_clear_4xx_and_nothing_is_kept(self, serve, watched, made, which):
        content, status = made[which]
        engine = watched()
        with serve(engine) as served, served.client() as client:
            answer = post(client, content, "order.tif")
            assert answer.status_code == status
            assert answer.json()["error"]
            assert answer.json()["remedy"]
            assert nothing_kept(served)
            assert engine.ended == []

    def test_too_many_bytes(self, serve, watched, limits):
        with serve(watched(), limits=limits(upload_bytes=10_000)) as served:
            with served.client() as client:
                answer = post(client, bytes(20_000))
                assert answer.status_code == 413
                assert "at most 0.00954 MB: split it" in answer.json()["remedy"]

                def unstated():
                    yield BEGUN
                    for _ in range(100):
                        yield bytes(1000)

                answer = client.post("/api/transcribe", content=unstated(), headers=FORM)
                assert answer.status_code == 413
                assert answer.json()["remedy"]
            assert nothing_kept(served)

    def test_a_body_that_never_ends(self, serve, watched, limits):
        with (
            serve(watched(), limits=limits(upload_seconds=0.3)) as served,
            served.client() as client,
        ):

            def trickle():
                yield BEGUN
                for _ in range(15):
                    yield b"x"
                    time.sleep(0.05)

            answer = client.post("/api/transcribe", content=trickle(), headers=FORM)
            assert answer.status_code == 408

    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({"engine": "nil"}, 404),
            ({"runs": 0}, 422),
            ({"runs": 9}, 422),
            ({"runs": "many"}, 422),
            ({"seed": -1}, 422),
            ({"seed": 2**40}, 422),
            ({"option": "threads=99"}, 422),
            ({"option": "nonsense"}, 422),
            ({"sample": "nil"}, 404),
        ],
    )
    def test_what_does_not_fit(self, serve, watched, scan, fields, status):
        with serve(watched()) as served, served.client() as client:
            answer = post(client, scan, **fields)
            assert answer.status_code == status
            assert answer.json()["error"]
            assert nothing_kept(served)

    def test_nothing_to_read(self, serve, watched):
        with serve(watched()) as served, served.client() as client:
            assert client.post("/api/transcribe", data={"runs": 1}).status_code == 422


class TestStopping:
    def test_stop_ends_it_within_a_step_and_gives_what_there_is(
        self, serve, watched, scan, read_messages
    ):
        engine = watched(**SLOW)
        with (
            serve(engine) as served,
            served.client() as client,
            stream(client, scan) as response,
        ):
            stopped, got = 0.0, []
            for kind, data, _ in read_messages(response):
                got.append((kind, data))
                if kind == "committed" and not stopped:
                    job = got[0][1]["id"]
                    assert client.post(f"/api/jobs/{job}/stop").status_code == 200
                    stopped = time.monotonic()
            assert engine.ended[0] - stopped < 0.4
            assert nothing_kept(served)
            assert client.post(f"/api/jobs/{job}/stop").status_code == 404
        kinds = [k for k, _ in got]
        assert kinds[-3:] == ["record", "report", "end"]
        assert got[-1][1]["outcome"] == "stopped"
        assert next(d for k, d in got if k == "done")["data"]["status"] == "incomplete"

    def test_a_closed_tab_stops_the_generation_within_a_step(self, serve, watched, scan):
        engine = watched(steps=200, pause=0.05)
        with serve(engine) as served:
            with served.client() as client, stream(client, scan) as response:
                for line in response.iter_lines():
                    if line == "event: draft":
                        break
            left = time.monotonic()
            served.wait(lambda: engine.ended)
            assert engine.ended[0] - left < 0.5
            assert nothing_kept(served)

    def test_out_of_time(self, serve, watched, scan, limits, read_messages):
        with (
            serve(watched(fault="hang"), limits=limits(reading_seconds=0.2)) as served,
            served.client() as client,
            stream(client, scan) as response,
        ):
            assert list(read_messages(response))[-1][1]["outcome"] == "out_of_time"


class TestTurns:
    def test_one_at_a_time_and_the_others_see_their_place(
        self, serve, watched, scan, read_messages
    ):
        engine = watched(steps=4, pause=0.03)
        with serve(engine) as served, served.client() as client:
            with (
                stream(client, scan) as first,
                stream(client, scan) as second,
                stream(client, scan) as third,
            ):
                one, two, three = (list(read_messages(s)) for s in (first, second, third))
            assert engine.most == 1

        def places(got):
            return [d["data"]["position"] for k, d, _ in got if k == "queued"]

        assert places(one) == [0]
        assert places(two) == [1, 0]
        assert places(three) == [2, 1, 0]
        assert three[-1][1]["outcome"] == "ok"

    def test_who_waits_may_leave(self, serve, watched, scan, read_messages):
        engine = watched(steps=4, pause=0.03)
        with serve(engine) as served, served.client() as client:
            with stream(client, scan) as first:
                with served.client() as other, stream(other, scan) as second:
                    for line in second.iter_lines():
                        if line == "event: queued":
                            break
                served.wait(lambda: len(served.state.slots["scripted"].turns) == 1)
                assert list(read_messages(first))[-1][1]["outcome"] == "ok"
            assert len(engine.ended) == 1
            assert nothing_kept(served)

    def test_who_waits_may_stop(self, serve, watched, scan, read_messages):
        with (
            serve(watched(steps=10, pause=0.05)) as served,
            served.client() as client,
            stream(client, scan),
            stream(client, scan) as second,
        ):
            messages = read_messages(second)
            job = next(messages)[1]["id"]
            client.post(f"/api/jobs/{job}/stop")
            assert list(messages)[-1][1]["outcome"] == "stopped"

    def test_the_line_has_an_end(self, serve, watched, scan, limits):
        with (
            serve(watched(fault="hang"), limits=limits(waiting=1)) as served,
            served.client() as client,
            stream(client, scan),
            stream(client, scan),
        ):
            served.wait(lambda: len(served.state.slots["scripted"].turns) == 2)
            answer = post(client, scan)
            assert answer.status_code == 429
            assert answer.json()["remedy"]

    def test_two_engines_work_side_by_side(self, serve, watched, scan, read_messages):
        hanging, working = watched(fault="hang"), watched()
        hanging.name = "hanging"
        with (
            serve(hanging, working) as served,
            served.client() as client,
            stream(client, scan, engine="hanging"),
            stream(client, scan, engine="scripted") as second,
        ):
            assert list(read_messages(second))[-1][1]["outcome"] == "ok"


class TestChat:
    def test_a_text_forms(self, serve, watched, read_messages):
        body = {"prompt": "何が見えますか", "runs": 2, "seed": 3}
        with (
            serve(watched("こんにちは")) as served,
            served.client() as client,
            client.stream("POST", "/api/chat", json=body) as response,
        ):
            got = list(read_messages(response))
        committed = [(d["run"], d["data"]["text"]) for k, d, _ in got if k == "committed"]
        assert committed == [(0, "こんにちは"), (1, "こんにちは")]
        assert any(k == "draft" for k, _, _ in got)
        assert sum(k == "done" for k, _, _ in got) == 2
        assert got[-1][1]["outcome"] == "ok"

    def test_an_engine_that_only_reads(self, serve, schema, read_messages):
        from ocr_pipeline.web.settings import EngineChoice

        class Reads:
            name = "reads"

        with (
            serve(EngineChoice("reads", lambda *_: Reads())) as served,
            served.client() as client,
            client.stream("POST", "/api/chat", json={"prompt": "x"}) as response,
        ):
            error = next(d for k, d, _ in read_messages(response) if k == "error")
        assert error["data"]["remedy"]

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({}, 422),
            ({"prompt": ""}, 422),
            ({"prompt": "x" * 30_000}, 413),
            ({"prompt": "x", "engine": "nil"}, 404),
            ({"prompt": "x", "runs": 100}, 422),
            ({"prompt": "x", "more": 1}, 422),
        ],
    )
    def test_what_does_not_fit(self, serve, watched, body, status):
        with serve(watched()) as served, served.client() as client:
            assert client.post("/api/chat", json=body).status_code == status


class TestAbout:
    def test_engines(self, serve, watched):
        with serve(watched()) as served, served.client() as client:
            about = client.get("/api/engines").json()
        assert [e["name"] for e in about["engines"]] == ["scripted"]
        assert about["engines"][0]["available"]
        assert about["limits"]["pages"] > 0

    def test_health(self, serve, watched):
        with serve(watched()) as served, served.client() as client:
            assert client.get("/api/health").json() == {"status": "ok"}

    def test_the_folder_goes_with_the_server(self, serve, watched):
        with serve(watched()) as served:
            folder = served.state.folder
            assert folder.is_dir()
        assert not folder.exists()
