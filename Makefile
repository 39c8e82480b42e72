# Everything one does here is one command; each sets up .venv first, if that is still to be done.
#
#   make demo      the whole story on a sample repository, no account needed (ARGS="--web", ARGS="--auto", ARGS="--fresh")
#   make run       talk to the bot in this terminal
#   make serve     the bot in Slack and Matrix, whichever is configured
#   make test      the tests (ARGS="-k words" for some of them)
#   make test-agents   the real agent CLIs against a played model: fetches them first, more than a gigabyte (ARGS="-k claude")
#   make faults    the bot in a simulated world in which anything goes wrong, 10,000 times (SCHEDULES=1000000), then killed in
#                  the real one wherever it can be, which takes hours (ARGS="-k parsers" for some of it)
#   make mutants   plant faults in the program one by one: the tests named for each must fail (ARGS="slack" for some of them)
#   make traces    write down in DIR what the bot does in 1,000 schedules and towards Slack, Matrix and GitHub (SEEDS=100), to be
#                  compared with what it does after a change (CONTRIBUTING.md); it takes some minutes
#   make test-oracle   encrypted rooms of Matrix read by the client that Element is made of: fetches it first
#   make test-deaths   the bot on Matrix, killed 15 times and its homeserver 3 times while it is asked 60 things, twice over
#   make check     what CI does: style, types, import rules, dependencies, tests
#   make pages     write docs/data-model.md and docs/traceability.md from the models and the marks of the tests
#   make pictures  photograph every card of Slack in build/pictures; needs chromium (ARGS=--all, ARGS=--docs)
#   make terminal   photograph the demo at a terminal for docs/pictures; needs chromium and fonts-dejavu-core
#   make page      photograph the demo on the local page for docs/pictures; needs chromium
#   make nheko     photograph the bot in nheko, a client of Matrix, for docs/pictures; needs nheko and a screen of Xvfb
#   make lock      write the locked requirements anew (UPGRADE=--upgrade for newer versions)
#   make bench     the benchmarks, then one table of all figures beside their floors; it takes a while (ARGS="scan slack" for some)

PYTHON ?= python3
UV ?= uv
ARGS ?=
UPGRADE ?=
SCHEDULES ?= 10000
DIR ?= build/traces
SEEDS ?= 1000

# the program is started hundreds of times by the tests: it must not be compiled anew each time
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
# twice quiet: errors only
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check

LOCK := $(UV) pip compile --quiet pyproject.toml --universal --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links $(UPGRADE)

.PHONY: help demo run serve test test-agents test-oracle test-deaths mutants traces faults lint check pages pictures terminal page nheko lock bench needs
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/.installed
	@$(BIN)/gwt-bot demo $(ARGS)

run: $(VENV)/.installed
	@$(BIN)/gwt-bot console $(ARGS)

serve: $(VENV)/.installed-chats
	@$(BIN)/gwt-bot serve $(ARGS)

# worksteal: some files take seconds and most take none (tests/conftest.py has the long ones first); four: many of them wait
# for other programs most of the time
test: $(VENV)/.installed-dev
	@$(BIN)/pytest -q -n 4 --dist worksteal $(ARGS)

test-agents: $(VENV)/.installed-dev
	@tests/clis/fetch
	@$(BIN)/pytest -q -m clis tests/clis $(ARGS)

test-oracle: $(VENV)/.installed-dev
	@tests/oracle/fetch
	@$(BIN)/pytest -q -m oracle tests/oracle $(ARGS)

test-deaths: $(VENV)/.installed-dev
	@GWT_BOT_TEST_DEATHS=all $(BIN)/pytest -q tests/stories/test_answered_once_in_matrix.py $(ARGS)

mutants: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.mutants $(ARGS)

traces: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.traces record $(DIR) --seeds $(SEEDS)

# Prints the figures of docs/proofs.md; each line begins with its gate. It fails only after all have been tried.
FIGURES := tests/simulation/test_outages.py tests/simulation/test_crowds.py tests/simulation/test_day.py
faults: $(VENV)/.installed-dev
	@code=0; \
	$(BIN)/python -m tests.simulation --schedules $(SCHEDULES) || code=1; \
	$(BIN)/pytest -q $(FIGURES) || code=1; \
	$(BIN)/pytest -q -n 4 -m faults $(ARGS) || code=1; \
	exit $$code

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/deptry .

check: lint test

pages: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.data_model
	@$(BIN)/python -m tests.traceability

pictures: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.looks $(ARGS)

terminal: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.looks.terminal $(ARGS)

page: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.looks.web $(ARGS)

nheko: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.looks.nheko $(ARGS)

lock:
	$(LOCK) --output-file requirements.lock
	$(LOCK) --extra slack --extra matrix --output-file requirements-chats.lock
	$(LOCK) --all-extras --group dev --output-file requirements-dev.lock

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks $(ARGS)

# A stamp is as new as the lock it was made from: nothing is installed twice.

$(VENV)/.installed: requirements.lock | needs
	@echo "Setting up $(VENV); this is done once."
	@$(BIN)/python -c "" 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps -e .
	@touch $@

$(VENV)/.installed-chats: requirements-chats.lock $(VENV)/.installed
	@echo "Adding what Slack and Matrix need."
	@$(PIP) --require-hashes -r requirements-chats.lock
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed
	@echo "Adding what the tests need."
	@$(PIP) --require-hashes -r requirements-dev.lock
	@touch $@

# Says what is missing, and how to get it, before anything fails half way.
needs:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "Python 3.11 or newer is needed: install it, or say where it is (make PYTHON=…)." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is older: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv module is needed: apt install python3-venv" >&2; exit 1; }
	@command -v git >/dev/null || \
	  { echo "git is needed: apt install git, or brew install git" >&2; exit 1; }
	@command -v tmux >/dev/null && v=$$(tmux -V | tr -dc 0-9.) && \
	  $(PYTHON) -c 'import sys; sys.exit([int(n) for n in sys.argv[1].split(".")] < [3, 2])' "$${v:-99}" || \
	  { echo "tmux 3.2 or newer is needed: apt install tmux, or brew install tmux" >&2; exit 1; }
