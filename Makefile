# Each target works as the first command on a machine that has Python 3.11 or newer, and make.
PYTHON ?= python3
BIN := .venv/bin
# One environment, filled as far as a target needs it: the paper first (0.4 GB), then every extra (3 GB), then Sphinx.
PAPER_INSTALLED := .venv/.paper-installed
INSTALLED := .venv/.installed
DOCS_INSTALLED := .venv/.docs-installed

.PHONY: help install lint check test reproduce bench faults docs dist test-lowest clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## only set up .venv with every extra

$(PAPER_INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[paper]"
	touch $@

$(INSTALLED): $(PAPER_INSTALLED)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

lint: install ## style, types, and imports that flow down
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint ## lint and the quick tests, for use while working (90 s)
	$(BIN)/pytest -n auto --dist loadgroup --quick

test: lint ## lint and every test (7 minutes on two cores)
	$(BIN)/pytest -n auto --dist loadgroup

# Data that may not be shipped is read from UNFLIP_DATA, if set.
reproduce: $(PAPER_INSTALLED) ## every table and figure of the paper beside ours, in out/report.html
	$(BIN)/unflip reproduce --out out/report.html

bench: install ## speed of passes, kernels and fits beside yardsticks
	$(BIN)/python benchmarks/one_pass.py
	$(BIN)/python benchmarks/parquet.py
	$(BIN)/python benchmarks/duckdb_fit.py
	$(BIN)/python benchmarks/dask_fit.py
	$(BIN)/python benchmarks/fourier_pass.py --rows 1000000
	$(BIN)/python benchmarks/kernel_scores.py
	$(BIN)/python benchmarks/loo_bandwidths.py
	$(BIN)/python benchmarks/herding.py
	$(BIN)/python benchmarks/paper_split.py

# ARGS=--resume goes on after an interruption, ARGS=--small takes minutes.
faults: install ## every promise of docs/promises.md at full size (80 minutes)
	$(BIN)/python -m benchmarks.faults $(ARGS)

# Warnings are errors, links within it are checked, and the examples on its pages are run. It is built from a
# copy, for Sphinx writes the gallery and the reference beside the pages.
docs: $(DOCS_INSTALLED) ## the site, in out/docs
	$(BIN)/pytest docs README.md
	$(BIN)/python docs/_tools/pages.py --check
	rm -rf build/docs out/docs
	mkdir -p build out
	cp -Rp docs build/docs
	ln -sfn ../src build/src # pages link to the files of both, which the site then carries
	ln -sfn ../tests build/tests
	$(BIN)/sphinx-build --fresh-env --nitpicky --fail-on-warning --keep-going --doctree-dir build/doctrees build/docs out/docs
	$(BIN)/python docs/_tools/check_links.py out/docs

# What is generated in docs: the map of the paper, the layers and their picture, the numbers of benchmarks.
.PHONY: pages
pages: install
	$(BIN)/python docs/_tools/pages.py

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

dist: ## wheel, sdist and bill of materials, the same bytes wherever and whenever they are built
	rm -rf dist
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --requirement tools/release.txt
	.venv-dist/bin/python tools/build_release.py --out dist

test-lowest: ## the tests with the oldest releases that pyproject.toml admits
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade pip
	.venv-lowest/bin/python -m pip install --quiet --editable ".[test]" --constraint tests/lowest.txt
	.venv-lowest/bin/pytest -n auto --dist loadgroup

clean: ## remove environments, builds and caches
	rm -rf .venv .venv-lowest .venv-dist out build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
