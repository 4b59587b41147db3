# Each target works as the first command on a machine that has Python 3.11 or newer, and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
DOCS_INSTALLED := .venv/.docs-installed

.PHONY: install test lint reproduce bench faults docs dist test-lowest clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest -n auto

# Every table and figure of the paper beside ours. Data that may not be shipped is read from UNFLIP_DATA, if set.
reproduce: install
	$(BIN)/unflip reproduce --out out/report.html

bench: install
	$(BIN)/python benchmarks/one_pass.py
	$(BIN)/python benchmarks/parquet.py
	$(BIN)/python benchmarks/duckdb_fit.py
	$(BIN)/python benchmarks/dask_fit.py
	$(BIN)/python benchmarks/fourier_pass.py --rows 1000000
	$(BIN)/python benchmarks/kernel_scores.py
	$(BIN)/python benchmarks/loo_bandwidths.py
	$(BIN)/python benchmarks/herding.py
	$(BIN)/python benchmarks/paper_split.py

# Every promise of docs/promises.md at full size; ARGS=--resume goes on after an interruption.
faults: install
	$(BIN)/python -m benchmarks.faults $(ARGS)

# The site, in out/docs: warnings are errors, links within it are checked, and the examples on its pages are run. It is built from a
# copy, for Sphinx writes the gallery and the reference beside the pages.
docs: $(DOCS_INSTALLED)
	$(BIN)/pytest docs README.md
	rm -rf build/docs out/docs
	mkdir -p build out
	cp -Rp docs build/docs
	$(BIN)/sphinx-build --fresh-env --nitpicky --fail-on-warning --keep-going --doctree-dir build/doctrees build/docs out/docs
	$(BIN)/python docs/_tools/check_links.py out/docs

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

# Wheel, sdist and bill of materials, the same bytes wherever and whenever they are built.
dist:
	rm -rf dist
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --requirement tools/release.txt
	.venv-dist/bin/python tools/build_release.py --out dist

# The oldest releases that pyproject.toml admits, in an environment of their own.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade pip
	.venv-lowest/bin/python -m pip install --quiet --editable ".[test]" --constraint tests/lowest.txt
	.venv-lowest/bin/pytest -n auto

clean:
	rm -rf .venv .venv-lowest .venv-dist out build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
