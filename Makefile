# Two commands: `make run` opens the dashboard, `make test` runs every check.
# Needs Python 3.11 or newer and make; uv is used where it is installed.

PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done)

.PHONY: run test bench format clean chromium

run: $(VENV)/run.stamp
	@echo "Opening http://localhost:$(PORT) (Ctrl-C stops it)"
	@$(BIN)/python -c "import threading, time, webbrowser; time.sleep(3); webbrowser.open('http://localhost:$(PORT)')" >/dev/null 2>&1 &
	@$(BIN)/streamlit run app.py --server.port $(PORT)

test: $(VENV)/dev.stamp chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	CHROMIUM="$$(scripts/find-chromium)" OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

bench: $(VENV)/dev.stamp chromium
	$(BIN)/python -m benchmarks.kernels
	CHROMIUM="$$(scripts/find-chromium)" $(BIN)/python -m benchmarks.latency

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

chromium:
	@scripts/install-chromium

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or name it with make PYTHON=..."; exit 1; }
	@if command -v uv >/dev/null 2>&1; then uv venv --quiet --python "$$(command -v $(PYTHON))" $(VENV); \
	else $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module is incomplete: on Debian, install python3-venv."; exit 1; }; fi

$(VENV)/run.stamp: requirements.txt | $(BIN)/python
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python -r requirements.txt; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt; fi
	@touch $@

$(VENV)/dev.stamp: requirements.txt requirements-dev.txt | $(BIN)/python
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python -r requirements-dev.txt; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt; fi
	@touch $@ $(VENV)/run.stamp
