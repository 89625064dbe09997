"""What a batch wrote, to look through."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ocr_pipeline.batch.ledger import Ledger
from ocr_pipeline.batch.run import run_batch
from ocr_pipeline.batch.scans import find_scans
from ocr_pipeline.errors import UsageError
from ocr_pipeline.geometry import quad_of_box
from ocr_pipeline.orders.model import Candidate, Flag
from ocr_pipeline.pages.load import SUPPORTED_SUFFIXES
from ocr_pipeline.pipeline import read_document
from ocr_pipeline.settings import Settings
from ocr_pipeline.web.documents import Documents, Query, key_of

NASTY = "<img src=x onerror=alert(1)>.tif"


class MakeReader:
    """Reads with a script, and puts some doubt into the result."""

    def __init__(self, engine, settings):
        self.engine, self.settings = engine, settings

    def __call__(self):
        def read(path, source):
            record = read_document(path, source, self.engine, self.settings)
            order = record.orders[0]
            total = replace(
                order.fields["total"],
                quad=quad_of_box((20, 30, 90, 42)),
                page=1,
                flags=(Flag("low_confidence", "確信度が低い<b>", "low confidence <b>"),),
                candidates=(Candidate(order.fields["total"].value, 2), Candidate("<i>9</i>", 1)),
            )
            order = replace(order, fields={**order.fields, "total": total})
            return replace(record, orders=(order,))

        return read


@pytest.fixture(scope="module")
def out(tmp_path_factory, schema, order_text, scan):
    """An output folder as `ocr-pipeline read` leaves it: two orders and a broken file."""
    from ocr_pipeline.batch import run as module
    from ocr_pipeline.engines.scripted import Script, ScriptedEngine

    scans, out = tmp_path_factory.mktemp("scans"), tmp_path_factory.mktemp("out")
    (scans / "sub").mkdir()
    (scans / "sub" / "one.png").write_bytes(scan.read_bytes())
    (scans / NASTY).write_bytes(scan.read_bytes())
    (scans / "broken.tif").write_bytes(b"nothing")
    settings = Settings(schema, "scripted", runs=1)
    make = MakeReader(ScriptedEngine([Script(order_text)]), settings)

    def read_all(todo, make_reader, *, workers, time_limit):
        from ocr_pipeline.batch.pool import Outcome, failed

        read = make_reader()

        def outcomes():
            for one in todo:
                try:
                    yield Outcome(one, read(one.path, one.source), 0.1)
                except Exception as e:
                    yield Outcome(one, failed(one.source, str(e)), 0.1)

        return outcomes()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "read_all", read_all)
        run_batch(
            find_scans([scans], SUPPORTED_SUFFIXES, out=out),
            out,
            make,
            form=schema,
            settings={},
            fingerprint="x",
        )
    return out


class TestListing:
    def test_what_needs_most_attention_comes_first(self, out):
        listing = Documents(out).listing(Query())
        assert [e.source for e in listing.entries] == ["broken.tif", NASTY, "sub/one.png"]
        assert (listing.found, listing.total, listing.pages) == (3, 3, 1)
        assert set(listing.statuses) == {"ok", "failed"}

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            (Query("SUB/one "), ["sub/one.png"]),
            (Query("onerror"), [NASTY]),
            (Query("not a readable"), ["broken.tif"]),
            (Query(status="failed"), ["broken.tif"]),
            (Query(flagged=True), [NASTY, "sub/one.png"]),
            (Query("nowhere"), []),
            (Query(status="%' OR 1=1"), []),
            (Query(page=99), ["broken.tif", NASTY, "sub/one.png"]),
        ],
    )
    def test_filter_and_search(self, out, query, found):
        assert [e.source for e in Documents(out).listing(query).entries] == found

    def test_pages_of_the_list(self, tmp_path, out):
        entry = Documents(out).entries()[0]
        with Ledger(tmp_path / "ledger.sqlite") as ledger:
            for i in range(60):
                ledger.put(replace(entry, source=f"{i:02}.png", flags=0))
        listing = Documents(tmp_path).listing(Query(page=2))
        assert [e.source for e in listing.entries] == [f"{i:02}.png" for i in range(50, 60)]
        assert (listing.page, listing.pages, listing.found) == (2, 2, 60)

    def test_a_folder_without_results(self, tmp_path):
        with pytest.raises(UsageError):
            Documents(tmp_path)


class TestPages:
    @pytest.fixture(scope="class")
    @staticmethod
    def site(out, schema):
        from fastapi.testclient import TestClient

        from ocr_pipeline.web.app import create_app
        from ocr_pipeline.web.settings import WebSettings

        app = create_app(WebSettings([], schema, out=out))
        with TestClient(app, base_url="http://localhost", headers={"Accept": "text/html"}) as site:
            yield site

    def test_the_list(self, site):
        page = site.get("/results").text
        assert "<img" not in page
        assert "&lt;img src=x onerror=alert(1)&gt;.tif" in page
        assert f'href="/results/{key_of("sub/one.png")}"' in page
        assert re.search(r'class="badge some">\d', page)

    def test_filtered(self, site):
        page = site.get("/results", params={"q": "one.png", "status": "ok", "flagged": "true"}).text
        assert "sub/one.png" in page
        assert "broken.tif" not in page
        assert 'value="one.png"' in page

    @pytest.mark.parametrize("q", ['"><script>alert(1)</script>', "'", "{{7*7}}", "\x00", "%"])
    def test_a_search_is_text(self, site, q):
        answer = site.get("/results", params={"q": q})
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "49" not in re.findall(r'value="([^"]*)"', answer.text)

    def test_the_language_changes_and_the_filter_stays(self, site):
        page = site.get("/results", params={"q": "a&b", "lang": "ja"}).text
        assert 'href="?q=a%26b&amp;lang=en"' in page

    def test_a_document(self, site):
        page = site.get(f"/results/{key_of('sub/one.png')}?lang=en").text
        assert "low confidence &lt;b&gt;" in page
        assert "&lt;i&gt;9&lt;/i&gt;" in page
        assert page.index("low confidence") < page.index("PO-2026-0415")  # flags first
        assert "33,165" in page
        assert 'data-quad="[[20' in page
        assert "訂正値" in page  # where corrections go

    def test_in_japanese(self, site):
        page = site.get(f"/results/{key_of('sub/one.png')}?lang=ja").text
        assert "確信度が低い" in page
        assert "発注番号" in page

    def test_a_document_that_failed(self, site):
        page = site.get(f"/results/{key_of('broken.tif')}?lang=en").text
        assert "not a readable" in page

    def test_its_page(self, site):
        answer = site.get(f"/results/{key_of('sub/one.png')}/pages/1")
        assert answer.headers["content-type"] in ("image/png", "image/jpeg")
        assert site.get(f"/results/{key_of('sub/one.png')}/pages/2").status_code == 404
        assert site.get(f"/results/{key_of('sub/one.png')}/pages/-1").status_code == 404

    @pytest.mark.parametrize("key", ["nil", "..%2Fledger.sqlite", "%2Fetc%2Fpasswd", "x" * 3000])
    def test_no_text_of_a_visitor_is_a_path(self, site, key):
        assert site.get(f"/results/{key}").status_code == 404
        assert site.get(f"/results/{key}/pages/1").status_code == 404

    def test_nothing_is_changed(self, site, out):
        before = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
        site.get("/results")
        site.get(f"/results/{key_of('sub/one.png')}")
        assert {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()} == before


class TestScan:
    def test_one_that_has_changed_or_gone_is_not_shown(self, out, tmp_path):
        documents = Documents(out)
        entry = documents.entry(key_of("sub/one.png"))
        assert documents.scan_state(entry) == "ok"
        other = tmp_path / "other.png"
        other.write_bytes(b"something else")
        assert documents.scan_state(replace(entry, path=str(other))) == "changed"
        assert documents.scan_state(replace(entry, path=str(tmp_path / "nil"))) == "gone"
        with pytest.raises(Exception, match="cannot be shown"):
            documents.picture(replace(entry, path=str(other)), 1, max_pixels=10**6)

    def test_a_record_elsewhere_is_not_read(self, out, tmp_path):
        documents = Documents(out)
        entry = documents.entry(key_of("sub/one.png"))
        outside = tmp_path / "record.json"
        outside.write_bytes((out / entry.record).read_bytes())
        with pytest.raises(Exception, match="cannot be read"):
            documents.record(replace(entry, record=str(outside)))
        up = Path("..") / ".." / outside.relative_to(Path("/"))
        with pytest.raises(Exception, match="cannot be read"):
            documents.record(replace(entry, record=str(up)))
