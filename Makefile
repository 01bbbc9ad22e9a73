# Every target creates .venv by itself and reuses it; nothing but Python 3.10 to 3.13 and pip is needed.
PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

# PyTorch goes first and alone, so that the constrained build is there before anything asks for another.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY) ## train a small language model with GRPO and show what its reward did
	$(BIN)/rewardkit demo

# The many processes that the tests start should find the sources compiled.
unexport PYTHONDONTWRITEBYTECODE

# In the order of tests/conftest.py.
test: $(READY) ## run all tests, two at a time; WORKERS=0 runs them one after the other
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

lint: $(READY) ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## measure against hand-written code and TRL; PEERS=1 adds other libraries
	$(BIN)/python benchmarks/rubric.py $(if $(PEERS),--peers)

clean: ## remove the virtual environments and caches
	rm -rf .venv .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis
