# `make` lists the targets. Each of them does the set-up it needs, once, in .venv.
PYTHON ?= python3
BIN    := .venv/bin
READY  := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint bench clean java

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

setup: $(READY)  ## packages and the GraphFrames JAR, in .venv and your cache folder

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { echo \
	  "oemviews needs Python 3.10 or later but $(PYTHON) is not: run make PYTHON=/path/to/a/newer/python3." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@$(BIN)/oemviews doctor --fix || echo "Set-up goes on: all works but what the lines above say is missing." >&2
	@touch $@

java:
	@v=$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1); \
	[ "$${v:-0}" -ge 17 ] || { echo "Spark needs Java 17 or later: install a Java runtime of that version" \
	  "and set JAVA_HOME to it, or put it on PATH." >&2; exit 1; }

demo: java $(READY)  ## the example of the 1998 paper, start to end
	@$(BIN)/oemviews demo

test: java $(READY)  ## every test, those on Spark and GraphFrames too
	$(BIN)/python -m pytest --numprocesses 2

check: lint  ## the fast loop: format, lint, types, imports, tests without Spark
	$(BIN)/python -m pytest --quiet --numprocesses 2 -m "not spark and not slow and not jar and not browser"

lint: $(READY)  ## format, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: java $(READY)  ## every benchmark, with its peer in the same run
	@for name in load store query maintain; do echo "== $$name"; PYTHONPATH=. $(BIN)/python benchmarks/$$name.py || exit 1; done

clean:  ## remove .venv and everything that was made here
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache \
	  spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
