# Small verbs for people; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint types fix bench pins

help: ## list these verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: .venv/installed ## load the FastAPI documentation and serve it on http://127.0.0.1:8000
	@$(BIN)/contextql demo

test: .venv/installed-dev ## run the tests; ARGS="tests/app -x" narrows them
	$(BIN)/python -m pytest -m "not long" $(ARGS)

test-all: .venv/installed-dev ## run the tests with the long ones
	$(BIN)/python -m pytest $(ARGS)

lint: .venv/installed-dev ## style, formatting and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/installed-dev ## check the types
	$(BIN)/mypy

fix: .venv/installed-dev ## mend style and formatting where a tool can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/installed-bench ## measure what is promised: PASS or FAIL, name, value, bound
	@kept=0; for part in "" --at-size --rivals; do $(BIN)/contextql bench $$part || kept=1; done; exit $$kept

# The other files are bound to the first, so that the server is tested with the versions that it runs with; those of rivals,
# which run in environments of their own, are not.
UV := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
pins: .venv/installed-dev ## pin requirements*.in with hashes
	$(UV) requirements-dev.in -o requirements-dev.txt
	$(UV) requirements.in -c requirements-dev.txt -o requirements.txt
	$(UV) requirements-bench.in -c requirements-dev.txt -o requirements-bench.txt
	$(UV) requirements-rivals-langchain.in -o requirements-rivals-langchain.txt
	$(UV) requirements-rivals-hindsight.in -o requirements-rivals-hindsight.txt

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "ContextQL needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | head -n 1)." \
			"Name another: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Making a virtual environment in .venv ..."
	@$(PYTHON) -m venv .venv

.venv/installed: requirements.txt pyproject.toml | .venv/bin/python
	@echo "Installing the pinned packages (the first time takes a minute) ..."
	@$(PIP) install --require-hashes -r requirements.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@$(PIP) install --require-hashes -r requirements-dev.txt
	@touch $@

.venv/installed-bench: requirements-bench.txt .venv/installed-dev
	@$(PIP) install --require-hashes -r requirements-bench.txt
	@touch $@
