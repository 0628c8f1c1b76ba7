# Each target sets up what it needs; on a fresh machine `make demo` and `make test` are the first commands.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
NPM_READY := build/npm/.ready
# Freqtrade and VectorBT in an environment of their own; what proves beside them finds it by the variables.
FREQTRADE := build/freqtrade
STRATWRIGHT_FREQTRADE ?= $(if $(wildcard $(FREQTRADE)/.ready),$(CURDIR)/$(FREQTRADE))
STRATWRIGHT_VECTORBT ?= $(if $(wildcard $(FREQTRADE)/.ready),$(CURDIR)/$(FREQTRADE))
export STRATWRIGHT_FREQTRADE STRATWRIGHT_VECTORBT
TOOLS := build/tools
SOURCES := adapters Backtest benchmarks bot integration sandbox_runner tools
# Worker processes of pytest: many tests wait for others' processes, so two for each core.
WORKERS ?= $(shell echo $$((2 * $$(nproc))))
PYTEST_ARGS ?=
# Python writes its bytecode, whatever the shell says: hundreds of processes read it again.
# A file stays with one worker, which makes what its tests share once; the longest begin.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# For the engine's race: --quick, --bars, --rounds, --limit-s.
BENCH_ARGS ?=

.PHONY: attacks audit bridge claude exchange lock npm sbom corpus deep examples faults freqtrade golden help mutants pictures quick setup demo test check bench bench-engine luck nautilus worlds clean

help:  ## say what there is
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## make .venv and install what is needed (the others do it by themselves)

$(READY): pyproject.toml tools/setup_system.sh tools/dev_lock.txt bot/locks/github.txt
	@bash tools/setup_system.sh
	@command -v $(PYTHON) >/dev/null || { \
	  echo "make: $(PYTHON) was not found. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "make: could not make $(VENV). On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }
	@echo "make: installing the dependencies into $(VENV), once"
	@$(PIP) --require-hashes --no-deps --only-binary :all: -r bot/locks/github.txt
	@$(PIP) --require-hashes --no-deps --no-build-isolation -r tools/dev_lock.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c 'from bot.workshop import say_on_terminal, warm_mypy_cache; warm_mypy_cache(say_on_terminal)'
	@touch $@

npm: $(NPM_READY)

$(NPM_READY): tools/npm/package.json tools/npm/context7/package-lock.json tools/npm/check_workflow.mjs tools/setup_npm.sh
	@bash tools/setup_npm.sh
	@touch $@

claude: $(READY) build/claude/.ready  ## let the real Claude Code CLI call the tools of `stratwright mcp`
	@$(BIN)/python -m pytest -q -n 0 tests/e2e/claude_code_cli.py $(PYTEST_ARGS)

# 355 MB, so for this target alone.
build/claude/.ready: tools/npm/claude/package-lock.json
	@mkdir -p build/claude && cp tools/npm/claude/*.json build/claude/
	@npm ci --silent --prefix build/claude --no-audit --no-fund
	@touch $@

freqtrade: $(FREQTRADE)/.ready  ## install Freqtrade and VectorBT into build/freqtrade, for their tests and `make corpus`

$(FREQTRADE)/.ready: tools/freqtrade.txt tools/vectorbt.txt
	@echo "make: installing Freqtrade and VectorBT into $(FREQTRADE), once"
	@$(PYTHON) -m venv --clear $(FREQTRADE)
	@$(FREQTRADE)/bin/python -m pip install --quiet --disable-pip-version-check -r tools/freqtrade.txt -r tools/vectorbt.txt
	@touch $@

nautilus: build/nautilus/.ready  ## install NautilusTrader into build/nautilus: its schemas judge the loopback exchange

build/nautilus/.ready: tools/nautilus.txt
	@echo "make: installing NautilusTrader into build/nautilus, once"
	@$(PYTHON) -m venv --clear build/nautilus
	@build/nautilus/bin/python -m pip install --quiet --disable-pip-version-check -r tools/nautilus.txt
	@touch $@

demo: $(READY)  ## write, prove and propose an example strategy, in build/demo
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash tools/demo.sh

test: $(READY) $(NPM_READY)  ## run all tests; those of Freqtrade after `make freqtrade`
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q $(SOURCES)
	@$(PYTEST) $(PYTEST_ARGS)

quick: $(READY)  ## a minute: ruff and the tests that answer to what you changed
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tools.quick -n 2 --dist worksteal $(PYTEST_ARGS)

examples: $(READY)  ## every template of `stratwright new` through all gates
	@STRATWRIGHT_EVERY_TEMPLATE=1 $(PYTEST) tests/bot/examples $(PYTEST_ARGS)

pictures: demo  ## make the README's pictures of the demo again; needs Chromium
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tools.pictures

deep: $(READY)  ## the properties with fifty times as many examples, others on every run
	@$(PYTEST) --hypothesis-profile=deep -m hypothesis $(PYTEST_ARGS)

attacks: $(READY)  ## every hostile candidate and every mutant, of which the tests take a few
	@STRATWRIGHT_EVERY_ATTACK=1 $(PYTEST) tests/security tests/e2e/test_hostile.py tests/bot/gates \
	  tests/freqtrade/test_corpus.py tests/bot/workflow/test_deploy_moving.py \
	  tests/bot/approval/test_subject.py $(PYTEST_ARGS)

# For the mutants: --count, --seed, --rooms, --tests.
MUTANTS_ARGS ?= --count 60
mutants: $(READY)  ## change our own code at random and count the changes that tests notice
	@$(BIN)/python -m tools.mutants $(MUTANTS_ARGS)

check: $(READY)  ## ruff, mypy --strict, import-linter, then all tests: is my change sound?
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

bench: $(READY)  ## measure what the README claims
	@$(BIN)/python -m benchmarks.generate_100
	@$(BIN)/python -m benchmarks.gates
	@$(BIN)/python -m benchmarks.verify
	@$(BIN)/python -m benchmarks.serve
	@$(BIN)/python -m benchmarks.brain

bench-engine: $(READY)  ## race the engine against its peers, side by side
	@$(BIN)/python -m benchmarks.engine $(BENCH_ARGS)

luck: $(READY)  ## search 500 worlds without an edge, and some with one: what is let through
	@$(BIN)/python -m benchmarks.luck

worlds: $(READY)  ## 20,000 random worlds: event path = compiled path
	@$(BIN)/python -m benchmarks.worlds 20000

corpus: $(READY) $(if $(STRATWRIGHT_FREQTRADE),,$(FREQTRADE)/.ready)  ## hold the corpus of contracts to Freqtrade itself
	@STRATWRIGHT_FREQTRADE="$${STRATWRIGHT_FREQTRADE:-$(CURDIR)/$(FREQTRADE)}" $(BIN)/python -m tools.corpus

# For the matrices: --matrix, --flow, --sample, --minutes.
FAULTS_ARGS ?=
faults: $(READY)  ## hit each call of each flow in turn: faults, crashes, duplicates, strangers
	@$(BIN)/python -m tools.faults --workers 2 $(FAULTS_ARGS)

# For the exchange: --candles FILE --frame 5m --at 300 --port 8080, or --breakout.
EXCHANGE_ARGS ?= --port 8080
exchange: $(READY)  ## start the loopback exchange, a Binance on this machine, on candles of your choice
	@$(BIN)/python -m tests.doubles.exchange $(EXCHANGE_ARGS)

# For the matrix: --row entry/lost, --plain (without the launcher, to compare).
BRIDGE_ARGS ?=
bridge: $(READY) $(if $(STRATWRIGHT_FREQTRADE),,$(FREQTRADE)/.ready)  ## every fault at every order call of Freqtrade in live mode, on loopback
	@$(BIN)/python -m tests.integration.live_orders \
	  --freqtrade "$${STRATWRIGHT_FREQTRADE:-$(CURDIR)/$(FREQTRADE)}" $(BRIDGE_ARGS)

golden: $(READY)  ## write the golden files again; look at the difference before you commit it
	@$(BIN)/python -m tests.golden.test_code
	@$(BIN)/python -m tests.bot.report.test_golden

# uv and pip-audit in an environment of their own: they are no part of what they look at.
$(TOOLS)/.ready: Makefile
	@$(PYTHON) -m venv --clear $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check 'uv==0.13.*' 'pip-audit==2.*'
	@touch $@

lock: $(TOOLS)/.ready  ## write the locks again: versions and digests of all that is installed
	@UV=$(TOOLS)/bin/uv bash tools/lock.sh

audit: $(TOOLS)/.ready  ## ask the package index for known weaknesses of what the locks install
	@for lock in bot/locks/github.txt bot/locks/freqtrade.txt tools/dev_lock.txt; do \
	  echo "audit: $$lock"; \
	  $(TOOLS)/bin/pip-audit --disable-pip --require-hashes --strict --progress-spinner off -r $$lock || exit 1; \
	done

sbom: $(READY)  ## write dist/stratwright.cdx.json, what the action installs
	@$(BIN)/python -m tools.sbom bot/locks/github.txt dist/stratwright.cdx.json

clean:  ## remove what make made
	rm -rf $(VENV) build dist
