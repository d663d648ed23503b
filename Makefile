# Everything runs in .venv, built once from pyproject.toml and rebuilt when that file changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test test-other-processor lint docs results bench mutate figure notebooks dist clean

help:
	@echo "make demo    learn several worlds with several agents, and write a report"
	@echo "make test    run the tests"
	@echo "make test-other-processor    run those that compare bits as on another processor"
	@echo "make lint    ruff, mypy --strict and the order of the rooms"
	@echo "make docs    build the site, docs/build/html/index.html; a warning is an error"
	@echo "make results RESULT=rates    make a table or figure of the documentation anew; without a name, list them"
	@echo "make bench   measure the exact solver and the engine against their peers, and every aim"
	@echo "make mutate  change the code a little, 50 times, and print the changes that no test notices"
	@echo "make dist    build the wheel, and try it in an environment of its own"
	@echo "make figure  draw the figures of the front page, the gallery and the case studies anew"
	@echo "make notebooks    execute those in docs/notebooks, and write them with their outputs"

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "optimist needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/optimist demo

test: $(READY)
	@$(BIN)/python -m pytest -n auto

test-other-processor: $(READY)
	@$(BIN)/python tests/other_processor.py -m pytest -n auto -m bits tests

lint: $(READY)
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@$(BIN)/python -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'

docs: $(READY)
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d docs/build/doctrees docs docs/build/html
	@echo "the site begins at docs/build/html/index.html"

results: $(READY)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m benchmarks.results $(RESULT)

bench: $(READY)
	@$(BIN)/python -m benchmarks.exact
	@$(BIN)/python -m benchmarks.engine
	@$(BIN)/python -m benchmarks.aims

mutate: $(READY)
	@$(BIN)/python -m benchmarks.mutate $(MUTATE)

figure: $(READY)
	@$(BIN)/python docs/optimism_figure.py
	@$(BIN)/python docs/four_rooms_animation.py
	@cd docs/gallery && MPLBACKEND=Agg $(CURDIR)/$(BIN)/python -m doctest -o NORMALIZE_WHITESPACE index.md
	@cd docs/case-studies && MPLBACKEND=Agg $(CURDIR)/$(BIN)/python -m doctest -o NORMALIZE_WHITESPACE *.md

notebooks: $(READY)
	@$(BIN)/python docs/notebooks/execute.py

dist: $(READY)
	@rm -rf dist
	@$(BIN)/python -m hatchling build
	@$(BIN)/python tests/try_wheel.py dist

clean:
	rm -rf src/optimist/*/__pycache__ docs/build docs/reference/api
	rm -rf $(VENV) .numba_other_processor .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
