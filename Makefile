# `make demo` and `make test` do all the set-up themselves: they need Python 3.11 or newer with pip, git and make.
unexport PYTHONDONTWRITEBYTECODE # every server start would compile the sources anew
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-full test-clients conformance soak lint types check bench bench-quick docs lock clean

demo: $(READY) ## play a whole session against a real server in a throw-away store
	@$(BIN)/pinfold demo

test: $(READY) ## run all tests
	$(PYTEST) -n 2 -m "not full and not clients"

test-full: $(READY) ## run the long tiers of the fault and load tests
	$(PYTEST) -n 3 -m full

test-clients: $(READY) ## drive real Claude Code, Codex and opencode, offline, with a scripted model
	$(PYTEST) -m clients tests/clients

conformance: $(READY) ## the MCP conformance suite's generic scenarios against a real server over HTTP, in both eras
	$(PYTEST) -m clients tests/conformance

SOAK_S ?= 3600
soak: $(READY) ## the store against its model, killed servers and churn, over and over, for SOAK_S seconds (an hour)
	PINFOLD_SOAK_S=$(SOAK_S) $(PYTEST) -s -n 0 tests/faults/test_soak.py

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

check: test lint types ## everything a change has to pass

bench: $(READY) ## print the table of budgets, each row against its floor in the same run
	$(BIN)/python -m benchmarks

bench-quick: $(READY) ## the same on smaller sizes
	$(BIN)/python -m benchmarks --quick

docs: $(READY) ## write the generated parts of the documentation anew
	$(BIN)/python -m docs.generate

lock: $(READY) ## resolve the hash-pinned requirements anew (needs uv)
	uv pip compile pyproject.toml --extra dev --generate-hashes --universal --python-version 3.11 \
	    --no-emit-index-url --no-annotate --no-header -q -o requirements-dev.txt

clean: ## remove what make made
	rm -rf $(VENV) .clients .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(READY): requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "pinfold needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@echo "setting up $(VENV) with the pinned requirements: a minute or two and 270 MB on disk, once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@
