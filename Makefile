# `make run` and `make test` need Python 3.11 and nothing else; both may be repeated at any time.
.DEFAULT_GOAL := help
.PHONY: help setup run test lint bench wheels clean

# Interpreters that pyenv holds but has not activated serve the matrix, after all others.
empty :=
space := $(empty) $(empty)
export PATH := $(PATH):$(subst $(space),:,$(wildcard $(HOME)/.pyenv/versions/*/bin))

# Debian ships Python without ensurepip: take the first interpreter that can make an environment.
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.10 python3.13; do \
    PATH="$(PATH)" $$python -c "import ensurepip, sys; sys.exit(sys.version_info < (3, 10))" \
    2>/dev/null && echo $$python && break; done)
make_venv = $(or $(PYTHON),$(error Python 3.10 or newer with its venv module is needed)) -m venv
# Twice quiet: once still prints a line for each place that holds no copy of a package.
pip_install = bin/python -m pip install -qq --disable-pip-version-check -c constraints.txt

# Environments of tox.ini to run (all when empty), and how many at a time: each may take 2 GB.
ENVS ?=
JOBS ?= 2
PROJECTS := . $(sort $(patsubst %/pyproject.toml,./%,$(wildcard plugins/*/pyproject.toml)))
METADATA := constraints.txt $(PROJECTS:%=%/pyproject.toml)

help:
	@echo "make run    train a small model in bf16_mixed on two ranks"
	@echo "make test   the whole matrix; ENVS=lint,core-3.12 for a part of it"
	@echo "make setup  .venv with every package of the repository, editable"
	@echo "make lint   ruff and mypy;  make bench  the benchmarks;  make clean"

setup: .venv/installed

.venv/installed: $(METADATA)
	$(make_venv) .venv
	.venv/$(pip_install) hatchling editables
	.venv/$(pip_install) --no-build-isolation $(PROJECTS:%=-e %)
	@touch $@

run: setup
	.venv/bin/mp try bf16_mixed --ranks 2

build/tox/installed: constraints.txt
	$(make_venv) build/tox
	build/tox/$(pip_install) tox hatchling
	@touch $@

# ours.txt names each wheel by its file: pip can then take none of them from anywhere else.
wheels: build/tox/installed
	@rm -rf build/wheels
	build/tox/bin/python -m pip wheel -qq --no-deps --no-build-isolation -w build/wheels $(PROJECTS)
	@for wheel in $(CURDIR)/build/wheels/*.whl; do \
	    name=$${wheel##*/}; echo "$${name%%-*} @ file://$$wheel"; done > build/wheels/ours.txt

test: wheels
	@{ build/tox/bin/tox run-parallel --parallel $(JOBS) --parallel-no-spinner $(ENVS:%=-e %); \
	    echo $$? >build/status; } | tee build/test.log
	@awk '/: commands\[0\]/ {env = $$1} / (passed|failed|error).* in .*=$$/ {print env, $$0}' \
	    build/test.log | sort
	@exit $$(cat build/status)

lint: ENVS := lint,types
lint: test

bench: setup
	.venv/$(pip_install) stevedore
	.venv/bin/python benchmarks/run.py

clean:
	rm -rf .venv .tox build
