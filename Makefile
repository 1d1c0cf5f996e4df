# Every target works in a fresh clone with nothing done before. The stamp's name carries a hash of what decides
# the environment, so a second call installs nothing, whatever git does to file times.

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
DOCS  := $(VENV)/.docs-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
# e.g. make test ARGS="tests/store -k search", make bench ARGS="score"
ARGS  ?=

.DEFAULT_GOAL := help
.PHONY: help run test check format bench docs clean

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

run: $(STAMP) ## Open the window; without a display, classify the bundled sample
	@tools/system_packages.sh headless
	@tools/run.sh $(BIN)

test: $(STAMP) ## Run the tests, offscreen
	@tools/system_packages.sh headless virtual-display screen-reader
	@tools/test.sh $(BIN)/python $(ARGS)

check: $(STAMP) ## Lint, formatting, types, import walls
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## Put the code into its format and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## Measure speed and memory; prints tables, asserts nothing
	@$(BIN)/python -m tests.benchmarks $(ARGS)

docs: $(DOCS) ## Build the user guide as a web site in build/site
	@tools/system_packages.sh headless
	$(BIN)/python tools/docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --clean

clean: ## Remove the environment and everything built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(DOCS): $(STAMP)
	$(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt --editable '.[docs]'
	@rm -f $(VENV)/.docs-*
	@touch $@

$(STAMP): pyproject.toml constraints.txt
	@tools/install.sh $(VENV)
	@rm -f $(VENV)/.installed-*
	@touch $@
