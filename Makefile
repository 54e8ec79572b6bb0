# setup builds the release binary into .venv; everything else starts from there.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
SOJOURN := $(BIN)/sojourn
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml')

.PHONY: setup demo docs test lint bench

setup: $(SOJOURN)

# The packages of requirements.lock, installed anew when it changes.
$(VENV)/installed: requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	touch $@

# The engine, built again when its sources change; the Python package is used where it stands.
$(SOJOURN): $(VENV)/installed $(RUST_SOURCES) pyproject.toml
	env -u CONDA_PREFIX VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked
	touch $@

demo: setup
	$(SOJOURN) reproduce piotrowska

# The site, into site/; with the verdicts of the results in SOJOURN_RESULTS, or in results/, if there are any.
docs: setup
	$(BIN)/mkdocs build --strict

bench: setup
	$(SOJOURN) bench

lint: setup
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: lint
	cargo test --locked --workspace
	$(BIN)/pytest
