# Needs python3 (3.11 or newer, with venv) and make, nothing else. The first target that needs it
# sets up .venv; after that only a change of pyproject.toml or constraints.txt does it again.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2# processes for the tests
ARGS ?=
N ?= 20
SEVERITY ?= 2
MINUTES ?= 600
SHEETS ?=
REPORT = $(or $(OUT),report)
WHAT = $(if $(SHEETS),--sheets "$(SHEETS)",--bench quick)
FEW = --runs 5 --seed 1
BOTH ?=# anything: two engines that vote
ENGINES = $(if $(BOTH),--engine ppocr$(comma)diffusiongemma --model pocket --runs 4)
comma := ,

BIN := $(VENV)/bin
READY := $(VENV)/.ready
FULL := $(VENV)/.ready-gemma# the same and torch, which is large: only for what needs a DiffusionGemma

.DEFAULT_GOAL := help
.PHONY: help setup demo ocr serve sheets contact web-picture pictures eval eval-full pocket pocket-smoke bench bench-pages bench-synth bench-scoring bench-quant test test-all check fix clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile
	@echo
	@echo '  ARGS="..." is passed on: make ocr SCANS=inbox ARGS="--runs 5"; make test ARGS="-k dates"'
	@echo '  PYTHON=python3.12 sets up .venv with another Python.'

setup: $(READY) ## set up .venv (every target that needs it does so by itself)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: Python 3.11 or newer is needed, and $(PYTHON) is not." >&2; \
	  echo "  → name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "setting up $(VENV) (once; a minute or two)"
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "  → this Python comes without venv; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	  --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(FULL): $(READY)
	@echo "adding torch and transformers to $(VENV) (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	  --constraint constraints.txt --editable '.[dev,gemma]'
	@touch $@

demo: $(if $(BOTH),$(FULL),$(READY)) ## read the ten sample faxes into out/, and score what was read (BOTH=1: two engines vote)
	$(BIN)/ocr-pipeline read datasets/samples --out out $(ENGINES) $(ARGS)
	@echo
	$(BIN)/ocr-pipeline eval score out --truth datasets/samples/truth.json

ocr: $(if $(BOTH),$(FULL),$(READY)) ## read a folder of scans: make ocr SCANS=folder OUT=out (BOTH=1: two engines vote)
	@test -n "$(SCANS)" || { echo "error: no scans named" >&2; \
	  echo "  → make ocr SCANS=folder OUT=out" >&2; exit 1; }
	$(BIN)/ocr-pipeline read "$(SCANS)" --out "$(or $(OUT),out)" $(ENGINES) $(ARGS)

eval: $(FULL) ## score ppocr and DiffusionGemma on a few sheets: make eval OUT=report (SHEETS=folder)
	$(BIN)/ocr-pipeline eval run $(WHAT) $(FEW) --out "$(REPORT)/ppocr" $(ARGS)
	$(BIN)/ocr-pipeline eval run $(WHAT) $(FEW) --limit 3 --engine diffusiongemma --model pocket \
	  --out "$(REPORT)/diffusiongemma" $(ARGS)
	$(BIN)/ocr-pipeline eval compare "$(REPORT)/ppocr" "$(REPORT)/diffusiongemma"

eval-full: $(FULL) ## the same on all bench sets; hours
	for set in standard katakana article samples; do \
	  $(BIN)/ocr-pipeline eval run --bench $$set $(FEW) --out "$(REPORT)/$$set/ppocr" $(ARGS) && \
	  $(BIN)/ocr-pipeline eval run --bench $$set $(FEW) --engine diffusiongemma --model pocket \
	    --out "$(REPORT)/$$set/diffusiongemma" $(ARGS) && \
	  $(BIN)/ocr-pipeline eval compare "$(REPORT)/$$set/ppocr" "$(REPORT)/$$set/diffusiongemma" \
	    || exit 1; done

serve: $(FULL) ## watch and look through results in the browser: make serve ARGS="--out out"
	$(BIN)/ocr-pipeline serve $(ARGS)

sheets: $(READY) ## make test faxes with truth: make sheets N=20 OUT=sheets SEVERITY=2 (or 0-5)
	$(BIN)/ocr-pipeline sheets -n $(N) --severity $(SEVERITY) --out "$(or $(OUT),sheets)" $(ARGS)

contact: $(READY) ## one order at all severities in a picture: make contact OUT=contact.png
	$(BIN)/python -m synth contact --out "$(or $(OUT),contact.png)" $(ARGS)

web-picture: $(FULL) ## draw the picture of the browser again (needs chromium)
	$(BIN)/python docs/web_picture.py

pictures: demo ## draw the pictures of the README again
	$(BIN)/python docs/pictures.py

pocket: $(FULL) ## train the pocket model, or go on: make pocket MINUTES=600 OUT=pocket_training
	nice $(BIN)/python -m ocr_pipeline.pocket.train --out "$(or $(OUT),pocket_training)" \
	  --minutes $(MINUTES) $(if $(wildcard $(or $(OUT),pocket_training)/state.pt),--resume) $(ARGS)

pocket-smoke: $(FULL) ## the same in miniature: 60 steps, the loss falls, a resumed run is the same
	$(BIN)/python -m pytest -q tests/pocket/test_train.py $(ARGS)

bench: $(FULL) ## speed of DiffusionGemma: prefill and denoising, 1 run and 5 (small on a CPU)
	$(BIN)/python -m benchmarks.diffusion_gpu $(ARGS)

bench-quant: $(FULL) ## 4- and 8-bit weights: bytes and error of each method that is installed
	$(BIN)/python -m benchmarks.quantisation $(ARGS)

bench-scoring: $(READY) ## speed of scoring, in page-runs a minute
	$(BIN)/python -m benchmarks.scoring $(ARGS)

bench-pages: $(FULL) ## seconds a page with the pocket model: one run beside five
	$(BIN)/python -m benchmarks.pages $(ARGS)

bench-synth: $(READY) ## speed of the fax simulation, in pages a second
	$(BIN)/python -m benchmarks.synth $(ARGS)

test: $(FULL) ## run the fast tests
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "not slow" $(ARGS)

test-all: $(FULL) ## run all tests, as CI does
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(ARGS)

check: $(FULL) ## lint, format and types; changes nothing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

fix: $(READY) ## mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove .venv, caches and builds; results (out, report, sheets) stay
	rm -rf "$(VENV)" build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find ocr_pipeline synth eval tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
