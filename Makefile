# Every target sets up what it needs and is quick the second time.
SHELL := /bin/sh
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: help run link test check bench fmt lock

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.stamp-run ## Start everything and print a login link
	@exec $(BIN)/python manage.py up

link: $(VENV)/.stamp-run ## Print a fresh login link
	@$(BIN)/python manage.py login_link

test: $(VENV)/.stamp-dev ## Run all tests
	$(PYTEST) -q -n 2 --dist worksteal $(ARGS)

check: $(VENV)/.stamp-dev ## Lint, types, system checks, migrations, import floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python manage.py check --fail-level WARNING
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(PYTEST) -q -p no:cacheprovider tests/test_floors.py

bench: $(VENV)/.stamp-dev ## Measure, print a table, write bench.json (ARGS=replay: only that)
	$(BIN)/python -m tests.bench $(ARGS)

fmt: $(VENV)/.stamp-dev ## Format and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Names, versions and hashes only: whoever installs decides where from.
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url $(ARGS) pyproject.toml
lock: $(VENV)/.stamp-dev ## Pin all requirements (ARGS=--upgrade: newer ones)
	$(LOCK) --output-file requirements.txt
	$(LOCK) --extra dev --constraint requirements.txt --output-file requirements-dev.txt
	! grep -n '://' requirements.txt requirements-dev.txt

# The first Python from 3.11 on that can make a virtual environment.
$(BIN)/python:
	@for python in python3.11 python3.12 python3.13 python3 python; do \
		if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "setting up $(VENV) with $$($$python --version)"; exec $$python -m venv $(VENV); \
		fi; \
	done; \
	echo "ContextLab needs Python 3.11 or later with its venv module (Debian: python3-venv)." >&2; exit 1

$(VENV)/.stamp-run: requirements.txt | $(BIN)/python
	@echo "installing what it needs to run"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.stamp-dev: requirements-dev.txt | $(VENV)/.stamp-run
	@echo "installing what its tests need"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.txt
	@touch $@
