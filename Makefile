# setup builds the release binary into .venv; everything else starts from there.

VENV := .venv
BIN := $(VENV)/bin
SOJOURN := $(BIN)/sojourn
TOOLS := $(VENV)/installed-tools
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(abspath $(VENV)) PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name tests -prune -o -name '*.rs' -print -o -name '*.pest' -print -o -name Cargo.toml -print)

# Tests start many processes; without bytecode on disk each compiles every module that it imports.
export PYTHONDONTWRITEBYTECODE =

# The fuzz targets' own packages take long to compile: their properties are tried without them as well, so test-long has them.
RUST_TESTED := --locked --workspace --exclude sojourn-fuzz

# What cargo has found in order, kept until a source, a table that tests read, or the compiler changes.
CHECKED := target/checked
RUST_CHECKED := $(CHECKED)/toolchain rustfmt.toml Cargo.toml Cargo.lock $(shell find crates -type f)

# The laboratory's page stands for its build, and what npm writes last for its packages; where there is none, it is tried again.
LAB := lab/dist/laboratory.html
LAB_PACKAGES := lab/node_modules/.package-lock.json
LAB_SOURCES := $(shell find lab -maxdepth 1 -type f) $(shell find lab/src -type f)

# Tests on each core; more than eight processes bring nothing and take half a gigabyte each.
IN_PARALLEL := --numprocesses=logical --maxprocesses=8 --dist=worksteal
PYTEST := $(BIN)/pytest $(IN_PARALLEL)
QUICK := "not long and not kernel and not packetdrill"

.PHONY: setup tools demo docs docs-numbers cards atlas lab lab-bench packetdrill bench instructions wheel try-wheel notes deny lint python-lint test test-long test-least test-linux draw-linux checks pytest always

setup: $(SOJOURN)

# The packages of requirements.lock, installed anew when it changes.
$(VENV)/installed: requirements.lock
	test -x $(BIN)/python || { python=$$(./toolchain.sh python) && $$python -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(shell grep '^uv==' requirements.lock)
	$(UV) --requirement requirements.lock
	touch $@

# The engine, built again when its sources change; the Python package is used where it stands.
$(SOJOURN): $(VENV)/installed $(RUST_SOURCES) pyproject.toml
	@./toolchain.sh rust
	$(MATURIN) develop --uv --release --locked
	touch $@

# The packages that only tests, linters and the site need.
tools: $(TOOLS)

$(TOOLS): $(VENV)/installed requirements-dev.lock
	$(UV) --requirement requirements-dev.lock
	touch $@

# Bufferbloat and its cure in a few seconds, then a paper's 72 runs.
demo: setup
	@$(SOJOURN) demo
	@$(SOJOURN) reproduce piotrowska
	@$(SOJOURN) report results/piotrowska

# The site, into site/; with the verdicts of the results in SOJOURN_RESULTS, or in results/, if there are any, and the laboratory.
docs: setup tools lab
	$(BIN)/mkdocs build --strict

# Numbers, tables, listings and pictures, into the pages (docs/write-a-number.md). With STUDIES="linux mareev:main", these studies
# are run first, with results in RESULTS, or as much as is not there yet.
RESULTS ?= results
docs-numbers: setup tools
	$(BIN)/python docs/hooks/made --results $(RESULTS) $(STUDIES)

# The report cards of docs/cards.md, some minutes; docs-numbers then writes the page. Modules of Linux, which are not kept here, have
# theirs made again with MODULES=DIR, a folder with their files; without it their cards stay.
cards: setup tools
	$(BIN)/python docs/hooks/make_cards.py --results $(RESULTS)/cards $(if $(MODULES),--modules $(MODULES))

# The atlas of docs/atlas.md, under an hour on one core; docs-numbers then writes the page. With CHECK="--check linux:7.2 --ranges home"
# a kernel is asked, too, and the ranges of pairs that are alone at that landmark are mapped.
atlas: setup tools
	$(BIN)/python docs/hooks/make_atlas.py --results $(RESULTS)/atlas $(CHECK)

# The laboratory, a page with the engine in it, into lab/dist/. It needs npm, and Rust for WebAssembly; without them it is left out.
lab: $(LAB)

$(LAB_PACKAGES): lab/package.json lab/package-lock.json
	@lab/make.sh packages

$(LAB): $(LAB_PACKAGES) $(LAB_SOURCES) $(RUST_SOURCES) docs/scenario.schema.json $(CHECKED)/toolchain
	@lab/make.sh build

$(CHECKED)/lab: $(LAB_PACKAGES) $(LAB_SOURCES) docs/scenario.schema.json $(CHECKED)/toolchain
	@lab/make.sh check
	@! test -e $(LAB_PACKAGES) || touch $@

# How long the laboratory takes to open and to draw, and what memory it has, in chromium.
lab-bench: setup tools lab
	$(BIN)/python lab/bench.py

# The scripts of packetdrill that others have written (docs/packetdrill.md), from the commits in tests/packetdrill.toml.
packetdrill: setup tools
	$(BIN)/python tests/count_packetdrill.py

bench: setup
	$(SOJOURN) bench

# Whether packets take more instructions than bench/history.csv has, by more than 1 %, and no commit says why (CONTRIBUTING.md).
# It needs valgrind; without it, it is left out.
instructions: setup tools
	$(BIN)/python tests/judge_instructions.py

# The wheel, into dist/, with the laboratory if it can be built. It needs the C library of this machine or a later one; with GLIBC=2.28, say, that version or a later one.
wheel: setup lab
	rm -rf dist
ifdef GLIBC
	$(UV) --group portable
	$(MATURIN) build --release --locked --out dist --zig --compatibility manylinux_$(subst .,_,$(GLIBC)) --target-dir target/portable
else
	$(MATURIN) build --release --locked --out dist
endif

# The wheel in dist/, in an environment of its own, and the megabytes of both. It needs no compiler, and nothing that setup makes.
MOST_INSTALLED := 450
try-wheel:
	rm -rf target/wheel-tried
	python3 -m venv target/wheel-tried
	target/wheel-tried/bin/python -m pip install --quiet --no-compile --disable-pip-version-check dist/*.whl
	du -m dist/*.whl && du -sm target/wheel-tried
	test $$(du -sm target/wheel-tried | cut -f 1) -le $(MOST_INSTALLED)
	cd target/wheel-tried && bin/sojourn lab --no-open && bin/sojourn demo

# What CHANGELOG says of a version, which has to be the engine's and no longer unreleased: make notes TAG=v0.1.0.
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
notes:
	@test "$(TAG)" = "v$(VERSION)" || { echo "make: TAG=$(TAG): Cargo.toml has version $(VERSION)" >&2; exit 1; }
	@grep -q '^## \[$(VERSION)\] - 2' CHANGELOG.md || { echo "make: CHANGELOG.md has no date for $(VERSION)" >&2; exit 1; }
	@sed -n '/^## \[$(VERSION)\]/,/^## \[/{/^## \[/!p}' CHANGELOG.md

# Licences and sources of the crates that Sojourn is built of, and what is known against them, as deny.toml has it. The last needs a
# network; make deny CHECKS="bans licenses sources" leaves it out.
CHECKS := advisories bans licenses sources
DENY := target/deny/bin/cargo-deny
deny: $(DENY)
	$(DENY) --locked check $(CHECKS)

$(DENY):
	cargo install --quiet --locked --root target/deny cargo-deny@0.20.2

$(CHECKED)/toolchain: always
	@mkdir -p $(@D)
	@rustc --version --verbose | cmp --silent - $@ || rustc --version --verbose > $@

$(CHECKED)/format: $(RUST_CHECKED)
	cargo fmt --all --check
	touch $@

$(CHECKED)/clippy: $(RUST_CHECKED)
	cargo clippy $(RUST_TESTED) --all-targets -- --deny warnings
	touch $@

$(CHECKED)/tests: $(RUST_CHECKED)
	cargo test --quiet $(RUST_TESTED)
	touch $@

python-lint: setup tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/typos
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

# The laboratory is built before, since its tests skip without it.
pytest: setup tools lab
	$(PYTEST) -m $(QUICK)

lint: $(CHECKED)/format $(CHECKED)/clippy python-lint $(CHECKED)/lab

# What takes longest comes first: the engine's build on the one side, that of its tests on the other.
checks: setup $(CHECKED)/tests pytest lint

# All checks side by side; each shows what it has to say when it ends, and the first to fail does not keep the others from it.
test:
	@$(MAKE) --no-print-directory --jobs=4 --keep-going --output-sync=target checks

# Tests of the engine are built as in test: for its package alone, what it needs would have other features and be compiled again.
test-long: setup tools lab
	cargo clippy --locked --package sojourn-fuzz --all-targets -- --deny warnings
	cargo test --quiet --locked --package sojourn-fuzz
	PROPTEST_CASES=512 cargo test --quiet $(RUST_TESTED) --test engine properties::queues
	cargo test --quiet $(RUST_TESTED) --test engine -- --ignored
	$(PYTEST) -m "long or hypothesis" --hypothesis-profile=all

# The tests in Python with the least version of each package that pyproject.toml promises.
LEAST := target/least/bin/python
test-least: setup
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python target/least
	$(BIN)/uv pip install --quiet --python $(LEAST) --resolution lowest-direct --requirement pyproject.toml --extra pandas --group build --group tools
	env -u CONDA_PREFIX VIRTUAL_ENV=$(abspath target/least) PATH="$(abspath $(BIN)):$$PATH" $(BIN)/maturin develop --uv --release --locked
	$(LEAST) -m pytest $(IN_PARALLEL) -m $(QUICK)

# Ten cells outside the study linux, others each week, on the simulator and on a kernel that is built, and the kernel held to itself.
WEEK = $(shell date +%G%V)
KERNEL = $(shell $(SOJOURN) linux status | sed -n 's/: Linux .*//p' | tail -1)
draw-linux: setup
	$(SOJOURN) reproduce linux --draw 10 --seed $(WEEK) --backend simulator --backend $(KERNEL)

# The backend linux on a real kernel, which is built first if there is none of this version. Its long tests, examples of programs beside
# busy processes, are `pytest -m "kernel and long"`.
test-linux: setup tools
	$(SOJOURN) linux status | grep ': Linux ' | grep -qv 'another version' || $(SOJOURN) linux build
	$(PYTEST) -m "kernel and not long"
