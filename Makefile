# Two commands: `make run` opens the dashboard, `make test` runs every check.
# Needs Python 3.11 or newer and make; uv is used where it is installed.

PORT ?= 8501
BENCH ?= benchmarks/results.json
ADDRESS := http://127.0.0.1:$(PORT)
VENV := .venv
BIN := $(VENV)/bin
SUITABLE = $(shell for p in $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)

# The environment is stale when its Python is gone, as after a system upgrade.
$(shell test -x $(BIN)/python || rm -f $(BIN)/pip $(VENV)/*.stamp)

.PHONY: run test test-style test-core test-browser bench bench-peers bench-visitors audit fuzz soak mutants wheel pictures docs report lesson federated-demo joint-study format clean chromium

run: $(VENV)/run.stamp
	@echo "The dashboard is at $(ADDRESS) (Ctrl-C stops it)"
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" = Darwin ]; then \
		$(BIN)/python scripts/open_browser.py $(ADDRESS) >/dev/null 2>&1 & fi; \
	exec $(BIN)/python -m streamlit run app.py --server.port $(PORT)

# What follows it has no network but loopback, one BLAS thread, and keeps what it compiles for what it starts.
OFFLINE = env -u PYTHONDONTWRITEBYTECODE OPENBLAS_NUM_THREADS=1 scripts/offline $(BIN)/python

# What mostly waits is done beside what computes: the browser's tests, and its download, beside the others.
test:
	@$(MAKE) --no-print-directory --jobs=3 test-style test-core test-browser

test-style: $(VENV)/dev.stamp
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

# No more workers than cores: the browser's wait beside them, and each takes half a minute to collect all tests.
WORKERS = $(shell $(BIN)/python -c 'import os; print(os.cpu_count())')

# Collected once before, so that not every worker compiles all tests and packages anew.
test-core: $(VENV)/dev.stamp
	-$(OFFLINE) $(BIN)/python -m pytest --ignore tests/browser --collect-only --quiet --quiet >/dev/null
	$(OFFLINE) $(BIN)/python -m pytest --ignore tests/browser -n $(WORKERS) --dist worksteal

test-browser: $(VENV)/dev.stamp chromium
	CHROMIUM="$$(scripts/find-chromium)" $(OFFLINE) $(BIN)/python -m pytest tests/browser -n 2 --dist worksteal

# Two thousand hostile links, widgets and files on whole pages and their readers; the suite takes a sample.
CASES ?= 2000
fuzz: $(VENV)/dev.stamp
	FUZZ_CASES=$(CASES) OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --durations 10 -n auto \
		tests/pages/test_hostile_pages.py tests/pages/test_ends.py tests/core/tables/test_hostile_files.py \
		tests/pages/hospitals/your_data/test_hostile_practice.py

bench: $(VENV)/dev.stamp chromium
	$(BIN)/python -m benchmarks.kernels --json $(BENCH)
	$(BIN)/python -m benchmarks.table1 --json $(BENCH)
	$(BIN)/python -m benchmarks.scale --json $(BENCH)
	$(BIN)/python -m benchmarks.sweeps --json $(BENCH)
	$(BIN)/python -m benchmarks.federated --json $(BENCH)
	CHROMIUM="$$(scripts/find-chromium)" $(BIN)/python -m benchmarks.cold_start --json $(BENCH)
	CHROMIUM="$$(scripts/find-chromium)" $(BIN)/python -m benchmarks.cold_clicks --json $(BENCH)
	CHROMIUM="$$(scripts/find-chromium)" $(BIN)/python -m benchmarks.latency --json $(BENCH)

# Crowds on one server, each for two minutes, beside one visitor alone.
bench-visitors: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.crowd --json $(BENCH)

# Changes the private steps a little, 1,500 times, and looks for what no test notices: some 20 minutes.
mutants:
	@$(MAKE) --no-print-directory VENV=.venv-mutants .venv-mutants/mutants.stamp
	env -u PYTHONDONTWRITEBYTECODE OPENBLAS_NUM_THREADS=1 .venv-mutants/bin/python -m scripts.mutants

# Two hundred sessions that come and go and two thousand reruns, about ten minutes: nothing may stay.
soak: $(VENV)/dev.stamp
	$(BIN)/python -m benchmarks.soak --json $(BENCH)

# Its own environment: one of the packages does not import beside the dashboard's newest scikit-learn.
bench-peers:
	@$(MAKE) --no-print-directory VENV=.venv-bench .venv-bench/bench.stamp
	.venv-bench/bin/python -m benchmarks.peers --json $(BENCH) --page data/peers.json

# Known weaknesses of the packages that are installed: asks the network.
# Strict: an index that answers nothing of a package would pass otherwise.
audit: $(VENV)/dev.stamp
	@test -x .venv-audit/bin/pip-audit || { scripts/make-environment .venv-audit "$(SUITABLE)" && \
		.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check "pip-audit>=2.7,<3"; }
	.venv-audit/bin/pip-audit --strict --path $(VENV)/lib/python3.*/site-packages

# The numerical core alone, for scripts elsewhere: pip install dist/dppca_core-*.whl
wheel: $(VENV)/dev.stamp
	$(BIN)/python -m hatchling build --target wheel

pictures: $(VENV)/dev.stamp chromium
	CHROMIUM="$$(scripts/find-chromium)" $(BIN)/python -m scripts.pictures

docs: $(VENV)/dev.stamp
	$(BIN)/python -m scripts.documents

# Tables and figures of docs/report.md from what is stored, and its PDF.
report: $(VENV)/dev.stamp chromium
	CHROMIUM="$$(scripts/find-chromium)" $(BIN)/python -m scripts.report

# One file for a class, which needs nothing; a worksheet; its key.
lesson: $(VENV)/dev.stamp
	$(BIN)/python -m scripts.lesson

# Five hospitals without a server: plan, five files, one result.
joint-study: $(VENV)/run.stamp
	$(BIN)/python -m examples.by_mail.study

federated-demo: $(VENV)/federated.stamp
	$(BIN)/python -m examples.flower.demo

format: $(VENV)/dev.stamp
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

clean:
	rm -rf $(VENV) .venv-audit .venv-bench .venv-mutants .mutants dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# After the environment, which may be made with apt too; beside what is installed into it.
chromium: | $(BIN)/pip
	@scripts/install-chromium $(BIN)/python

# pip is what an environment gets last, so an interrupted one is made anew.
$(BIN)/pip:
	@scripts/make-environment $(VENV) "$(SUITABLE)"

INSTALL = @scripts/install $(BIN)/python $<

$(VENV)/run.stamp: requirements.txt | $(BIN)/pip
	$(INSTALL)
	@touch $@

$(VENV)/federated.stamp: requirements-federated.txt requirements.txt | $(BIN)/pip
	$(INSTALL)
	@touch $@ $(VENV)/run.stamp

$(VENV)/bench.stamp: requirements-bench.txt requirements.txt | $(BIN)/pip
	$(INSTALL)
	@touch $@

$(VENV)/mutants.stamp: requirements-mutants.txt requirements-dev.txt requirements.txt | $(BIN)/pip
	$(INSTALL)
	@touch $@

$(VENV)/dev.stamp: requirements-dev.txt requirements-cluster.txt requirements-federated.txt requirements.txt | $(BIN)/pip
	$(INSTALL)
	@touch $@ $(VENV)/run.stamp $(VENV)/federated.stamp
