"""The house around the code: what documents and Makefile promise is there."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
import typer

import eval.cli
import ocr_pipeline.cli
import synth.cli
from ocr_pipeline.orders.kinds import Kind
from ocr_pipeline.orders.repairs import RULES
from ocr_pipeline.orders.schema import load_schema

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("datasets/**/*.md")])
PACKAGES = ("ocr_pipeline", "synth", "eval")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.M))
ORDERS = (ROOT / "docs" / "orders.md").read_text(encoding="utf-8")

documents = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))


def code_of(document: Path) -> list[str]:
    """Lines of code blocks, and code spans."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.M | re.S)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [*"\n".join(blocks).splitlines(), *re.findall(r"`([^`\n]+)`", prose)]


def commands() -> dict[str, set[str]]:
    """Every command of the command line with its options."""
    found = {}
    for app in (ocr_pipeline.cli.app, eval.cli.app, synth.cli.app):
        top = typer.main.get_command(app)
        for name, command in getattr(top, "commands", {top.name: top}).items():
            found[name] = {o for p in command.params for o in p.opts + p.secondary_opts}
    return found


class TestMakefile:
    def test_every_target_is_phony_and_explained(self):
        phony = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.M)[1].split())
        explained = set(re.findall(r"^([a-z][a-z-]*):.*## \S", MAKEFILE, re.M))
        assert phony == explained == TARGETS

    @pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
    def test_help_lists_every_target(self):
        listing = subprocess.run(
            ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert set(re.findall(r"^  make (\S+) ", listing, re.M)) == TARGETS

    def test_what_was_asked_for(self):
        asked = "demo test check fix ocr sheets eval bench clean help"
        assert set(asked.split()) <= TARGETS

    @pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
    def test_ocr_without_scans_says_what_to_give(self, tmp_path):
        ready = tmp_path / ".ready"
        ready.touch()
        done = subprocess.run(
            ["make", "ocr", f"READY={ready}", "SCANS="],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0
        assert "make ocr SCANS=folder" in done.stderr


class TestPackaging:
    @pytest.mark.parametrize("package", PACKAGES)
    def test_data_files_are_in_the_wheel(self, package):
        patterns = PROJECT["tool"]["setuptools"]["package-data"].get(package, [])
        data = [
            p.relative_to(ROOT / package).as_posix()
            for p in (ROOT / package).rglob("*")
            if p.is_file() and p.suffix not in (".py", ".pyc")
        ]
        assert [d for d in data if not any(fnmatch(d, p) for p in patterns)] == []
        assert [p for p in patterns if not any(fnmatch(d, p) for d in data)] == []

    @pytest.mark.parametrize("package", PACKAGES)
    def test_every_folder_with_modules_is_a_package(self, package):
        folders = {p.parent for p in (ROOT / package).rglob("*.py")}
        assert [str(f) for f in folders if not (f / "__init__.py").is_file()] == []

    def test_every_dependency_is_pinned(self):
        pins = re.findall(
            r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M
        )
        extras = PROJECT["project"]["optional-dependencies"]
        wanted = [*PROJECT["project"]["dependencies"], *extras["dev"], *extras["synth"]]
        names = {re.match(r"[\w.-]+", w)[0] for w in wanted} - {"ocr-pipeline"}
        assert {n.lower().replace("_", "-") for n in names} <= {
            p.lower().replace("_", "-") for p in pins
        }

    def test_the_licence_is_the_whole_text(self):
        text = (ROOT / "LICENSE").read_text(encoding="utf-8")
        assert "Apache License" in text
        assert "END OF TERMS AND CONDITIONS" in text


class TestDocuments:
    def test_they_are_there(self):
        names = {p.relative_to(ROOT).as_posix() for p in DOCUMENTS}
        assert names >= {
            "README.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "docs/design.md",
            "docs/engines.md",
            "docs/orders.md",
            "docs/record.md",
            "docs/synth.md",
            "datasets/README.md",
        }

    @documents
    def test_links_lead_somewhere(self, document):
        text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = document.parent / path if path else document
            assert target.exists(), link
            if anchor:
                assert anchor in set(anchors(target)), link

    @documents
    def test_make_targets_exist(self, document):
        named = [t for line in code_of(document) for t in re.findall(r"\bmake ([a-z-]+)", line)]
        assert set(named) <= TARGETS

    @documents
    def test_commands_and_options_exist(self, document):
        known = commands()
        for line in code_of(document):
            for tail in re.findall(r"(?:ocr-pipeline|python -m (?:synth|eval)) ([^#|]*)", line):
                words = tail.split()
                names = [w for w in words[:2] if re.fullmatch(r"[a-z]+", w)]
                assert names, line
                assert names[0] in known, line
                options = set().union(*(known[n] for n in names if n in known))
                given = {w.partition("=")[0] for w in words if re.match(r"--?[a-zA-Z]", w)}
                assert given <= options | {"--help"}, line


class TestOrdersPage:
    """docs/orders.md is what the clerk is given: it names all there is, and nothing else."""

    def test_every_flag_is_explained(self):
        assert sorted(set(flag_codes()) - set(table_codes())) == []

    def test_nothing_is_explained_that_is_gone(self):
        strings = {
            node.value
            for path in (ROOT / "ocr_pipeline").rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert sorted(set(table_codes()) - strings) == []

    def test_every_repair_is_shown_with_its_example(self):
        for rule in RULES:
            before, after = rule.example
            row = rf"\| `{rule.code}` \|.*\| {re.escape(f'{before} → {after}')} \|"
            assert re.search(row, ORDERS), rule.code

    def test_every_kind_is_listed(self):
        listed = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?`) \| \w", ORDERS, re.M)))
        assert set(Kind) <= set(listed)

    def test_every_rule_of_the_form_is_listed(self):
        for check in load_schema("purchase_order").checks:
            assert f"`{check.rule}`" in ORDERS


def flag_codes() -> Iterator[str]:
    """Codes of all `Flag(…)` in the orders room."""
    for path in (ROOT / "ocr_pipeline" / "orders").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Flag":
                code = node.args[0]
                assert isinstance(code, ast.Constant), f"{path.name}:{node.lineno}"
                yield code.value


def table_codes() -> list[str]:
    """Codes in the first column of the tables of flags."""
    section = ORDERS[ORDERS.index("## Flags") :]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [code for row in rows for code in re.findall(r"`(\w+)`", row)]


def anchors(document: Path) -> Iterator[str]:
    """Anchors of the headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.M):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
