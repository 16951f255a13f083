# Needs make and Python 3.11 or newer; everything else goes into .venv.
#
#   make demo      turns of a real model server, tools running while it writes; demo-out/timeline.html
#   make test      style, types, and every test
#   make coverage  the plain tests again, traced; fails if a room has lost branch coverage
#   make bench     what the parser costs, against every bound that is promised; RELEASE=PATH beside a tree of the last release
#   make performance  the same figures, written into docs/internals/performance.md
#   make nightly   the coverage, the property tests with 20,000 examples each, and 300 mutants of the core, SEED=7 for others
#   make mutants   what the tests of the core do not notice: 300 mutants, an hour on two cores; DRAW=60 SEED=7 for others
#                  and the bugs that were written by hand, which must all be caught
#   make peers     what other libraries make of the same streams, in .venv-peers; writes docs/comparison.md and internals/comparison.md,
#                  and the table of many agents in internals/performance.md
#   make pictures  the pictures of the README, from a recording and from docs/internals/comparison.md
#   make recipes   the programs of the pages about SDKs, in .venv-peers, where every SDK is installed
#   make docs      the site of the documents in build/site, checked; its pages opened in Chromium, where that is installed
#   make dist      wheel and source archive in dist/, tested as installed on each Python that is there; PYTHONS="..." for more
#   make clean     remove what was made

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python python3.14 python3.13 python3.12 python3.11; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
INSTALLED := .venv/.installed
PEERS := .venv-peers/.installed
DOCS := .venv-docs/.installed
CLIENTS := .venv-clients/.installed
UV_INSTALL := .venv-peers/bin/uv pip install --quiet --python .venv-peers/bin/python
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input --quiet

# One more than there are cores: some tests wait for servers and processes.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1)))

# The tests start hundreds of processes, each of which would compile the package again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test coverage bench performance peers pictures recipes docs dist nightly mutants clean
.DELETE_ON_ERROR:

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py

test: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

coverage: $(INSTALLED)
	$(BIN)/python -m pytest -n auto --dist worksteal --branches
	$(BIN)/python tests/check_coverage.py

bench: $(INSTALLED)
	$(BIN)/python -m pytest benches --benchmark-timer=time.process_time --benchmark-disable-gc --benchmark-columns=min,median,rounds

performance: $(INSTALLED)
	$(BIN)/python benches/performance.py

dist:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 1; }
	test -x .venv-dist/bin/python || $(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip --disable-pip-version-check --no-input --quiet install build pyright twine uv
	.venv-dist/bin/python tests/packaging/dist.py $(PYTHONS)

nightly: coverage
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile=nightly
	$(MAKE) mutants

mutants: $(INSTALLED)
	$(BIN)/python tests/mutants.py --replay
	$(BIN)/python tests/mutants.py --draw $(or $(DRAW),300) --seed $(or $(SEED),1) --minutes 55

peers: $(PEERS)
	cd benches && ../.venv-peers/bin/python -m peers
	.venv-peers/bin/python benches/concurrent_runs.py
	.venv-peers/bin/python benches/pictures.py

pictures: $(INSTALLED)
	$(BIN)/python benches/pictures.py

recipes: $(PEERS)
	.venv-peers/bin/python -m pytest tests/docs/test_sdk_programs.py

clients: $(CLIENTS)
	.venv-clients/bin/python tests/clients/run.py --write

docs: $(DOCS)
	.venv-docs/bin/zensical build --strict --clean
	.venv-docs/bin/python tests/docs/check_site.py
	.venv-docs/bin/python tests/docs/check_in_browser.py

$(DOCS): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 1; }
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip --disable-pip-version-check --no-input --quiet install -e '.[docs]'
	touch $@

# pip takes minutes to resolve these together, uv seconds. Two of the peers are servers of several gigabytes: their
# wheels are installed without what they need, and where there are none the page says so.
$(PEERS): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 1; }
	test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip --disable-pip-version-check --no-input --quiet install uv
	$(UV_INSTALL) -e '.[peers]'
	$(UV_INSTALL) --no-deps sglang vllm || echo "No wheels of SGLang or vLLM for this platform: going on without them."
	touch $@

# The coding agents are programs of Node, which comes as a package, too.
$(CLIENTS): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 1; }
	test -x .venv-clients/bin/python || $(PYTHON) -m venv .venv-clients
	.venv-clients/bin/python -m pip --disable-pip-version-check --no-input --quiet install uv
	.venv-clients/bin/uv pip install --quiet --python .venv-clients/bin/python -e '.[clients]'
	.venv-clients/bin/uv pip install --quiet --python .venv-clients/bin/python --no-deps instructor
	npm install --silent --prefix .clients node@22 @anthropic-ai/claude-code @openai/codex opencode-ai
	touch $@

clean:
	rm -rf .coverage* .venv .venv-clients .clients .venv-docs .venv-peers .cache build dist demo-out .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# The server of the demo and of the live tests is a wheel that some platforms lack; all else works without it.
$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -c '$(NEW_ENOUGH)' || { echo "$(PYTHON) is older than Python 3.11" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --only-binary xllamacpp -e '.[dev,live]' || { \
		echo "No model server for this platform: going on without it."; $(PIP) install -e '.[dev]'; }
	touch $@
