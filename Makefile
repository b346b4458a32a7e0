# `make demo` and `make test` set everything up by themselves; `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# Workers for the tests; the machine's cores unless given.
WORKERS ?= auto
# Further words for the benchmark, such as BENCH=--quick.
BENCH ?=

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all check format bench docs clean

help:  ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"ptcli needs Python 3.11 or newer, {sys.executable} is {v.major}.{v.minor}. Type: make PYTHON=python3.12 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

install: $(STAMP)  ## make .venv and install ptcli with all it needs, in the tested versions

demo: $(STAMP)  ## pretrain a small model on embedded text, then look at what it fills in (under five minutes)
	@$(BIN)/python -m ptcli pretrain recipe=demo run.name=demo
	@$(BIN)/python -m ptcli fill checkpoint=runs/demo "A new [MASK] of the class is created." \
	    "This function should [MASK] be called from the main thread." "Return [MASK] if the file exists." \
	    "This method returns a list [MASK] strings." "This is equivalent [MASK] the following code."

test: $(STAMP)  ## run the tests (without the slow ones)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not gpu"

test-all: $(STAMP)  ## run all tests, the slow ones too; fails where the real corpora are absent (PTCLI_DATA)
	PTCLI_REQUIRE_DATA=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not gpu"

check: $(STAMP)  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: $(STAMP)  ## format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## training speed beside a peer: make bench TEXT=folder PEER=script.py (hours; on a quiet machine)
	@test -n "$(TEXT)" -a -n "$(PEER)" || { echo "Type: make bench TEXT=FILE-OR-FOLDER PEER=SCRIPT.py (benchmarks/train.py says what it prints)"; exit 2; }
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/train.py --text "$(TEXT)" --peer "$(PEER)" $(BENCH)

docs: $(STAMP)  ## regenerate the tables in README.md and docs/
	PYTHONPATH=docs $(BIN)/python -m writers.tables README.md
	PYTHONPATH=docs $(BIN)/python -m writers.combinations
	PYTHONPATH=docs $(BIN)/python -m writers.models docs/models.md
	PYTHONPATH=docs $(BIN)/python -m writers.recipes docs/recipes.md

clean:  ## remove what make and the tests made (never runs/)
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
