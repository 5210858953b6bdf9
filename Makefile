# Everything a developer, CI and a first-time visitor run. It needs Python 3.11 or newer and make.
#
# Tools are called as `.venv/bin/python -m TOOL`: the scripts in .venv/bin name their interpreter by its full
# path, which breaks where that has a space or the folder is moved.

.DEFAULT_GOAL := help
.PHONY: serve test test-long browser image deployment cluster docs check lint eval chat truth bench bench-console bench-peers bench-current bench-scale peers-lock overload walk wheel contract contract-lock openapi lock clean help clients clients-generate clients-lock FORCE soak
MAKEFLAGS += --no-print-directory

VENV := .venv
CLIENTS_VENV := .venv-clients
RUN := $(VENV)/bin/python -m
# More arguments for serve, test, eval, chat, truth and bench: make test ARGS="-k idempotency".
ARGS ?=
# More arguments for the resolver: make lock LOCK_ARGS=--upgrade.
LOCK_ARGS ?=

RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
# A virtual environment that no longer starts (its Python went away) is made again.
BROKEN := $(shell $(VENV)/bin/python -c '' 2>/dev/null || echo FORCE)

serve: $(RUNTIME) ## start the service, with its own embedded Postgres unless TM_DATABASE_URL is set (ARGS="--port 8800")
	@$(RUN) app.cli serve $(ARGS)

# Processes that tests start would each compile the code.
test test-long: export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(RUN) pytest -n auto --maxprocesses 4 --durations 10

test: $(DEV) ## run the tests, on an embedded Postgres unless TM_TEST_DATABASE_URL is set
	@$(PYTEST) $(ARGS)

test-long: $(DEV) ## run the tests that start and kill services and databases, race, upgrade, draw many cases, or measure time or scale
	@$(PYTEST) --dist loadfile -m long $(ARGS)

browser: $(DEV) ## run the console's tests in Chromium, which must be installed, and make its pictures
	@sh .ci/browser $(ARGS)

bench-console: $(DEV) ## measure the console in Chromium at a tenant with 100,000 memories
	@$(RUN) tests.console.measure $(ARGS)

image: $(DEV) ## build the container image with Podman, run it and the compose file, and kill each container
	@$(RUN) pytest -m image tests/containers $(ARGS)

deployment: $(DEV) ## lint the Dockerfile, the compose file and the workflows; lint and render the chart by Helm's library
	@sh .ci/deployment $(ARGS)

cluster: $(DEV) ## run the tests of the service on three Citus nodes (TM_TEST_CITUS: the folder of a Postgres with Citus)
	@$(RUN) tests.cluster $(ARGS)

docs: $(DEV) ## build the documents as a site in build/site, and check every link and anchor
	@sh .ci/docs $(ARGS)

check: lint wheel clients contract test test-long ## what CI runs: lint, types, import rules, dependencies, migrations, OpenAPI drift, packages, clients, contract, all tests

lint: $(DEV) ## check without the tests
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy
	@$(VENV)/bin/python -c 'from importlinter.cli import lint_imports_command as lint; lint()'
	@$(RUN) deptry .
	@$(RUN) migrations.lint
	@$(RUN) app.cli openapi --check

eval: $(DEV) ## measure the quality of recall
	@$(RUN) evals $(ARGS)

chat: $(DEV) ## measure what reaches a prompt in chat loops (ARGS="--half dev -v", ARGS="--file chat.json")
	@$(RUN) evals.chat $(ARGS)

truth: $(DEV) ## measure the write path on recorded answers of a language model (ARGS="--half dev -v", ARGS="--at-once")
	@$(RUN) evals.truth $(ARGS)

bench: $(DEV) ## measure speed
	@$(RUN) bench $(ARGS)

overload: $(DEV) ## load the service beyond its capacity: what is served, how fast, and who waits
	@$(RUN) bench --only overload $(ARGS)

PEERS := .venv-peers/.installed

bench-peers: $(DEV) $(PEERS) ## measure mem0, LangGraph's store and a bare table beside the service (ARGS="--neighbours 10000 100000")
	@$(RUN) bench.peers $(ARGS)

bench-current: $(DEV) $(PEERS) ## measure which memory serves the current value: this service, BM25, mem0, LangGraph's store (ARGS="--system bm25")
	@$(RUN) bench.current $(ARGS)

bench-scale: $(DEV) ## measure stores of growing sizes over 10,000 tenants (ARGS="--memories 1000000"), and draw the growth
	@$(RUN) bench.scale $(ARGS)

peers-lock: $(RUNTIME) ## resolve bench/peers/requirements.in anew
	@$(RUN) pip install --quiet --disable-pip-version-check uv
	@$(RUN) uv pip compile bench/peers/requirements.in --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command 'make peers-lock' \
		--quiet --output-file bench/peers/requirements.lock $(LOCK_ARGS)

$(PEERS): bench/peers/requirements.lock
	@sh .ci/peers
soak: $(DEV) ## run two replicas and two workers under load for 30 minutes (SOAK_MINUTES=5) while they are killed
	@$(RUN) tests.faults.soak

walk: $(DEV) ## count the functions, transactions and statements that typical requests run
	@$(RUN) bench.walk

CLIENTS := $(CLIENTS_VENV)/.installed

clients: $(RUNTIME) $(CLIENTS) ## check the client libraries and the examples (ARGS: python, typescript, examples)
	@$(CLIENTS_VENV)/bin/python clients/check.py $(ARGS)

clients-generate: $(CLIENTS) ## write what the client libraries generate from openapi/openapi.json
	@cd clients && ../$(CLIENTS_VENV)/bin/python -m codegen
	@cd clients/typescript && PATH="$(CURDIR)/$(CLIENTS_VENV)/bin:$$PATH" && npm ci --silent && npm run --silent generate

clients-lock: $(RUNTIME) ## resolve clients/requirements.in anew
	@$(RUN) pip install --quiet --disable-pip-version-check uv
	@$(RUN) uv pip compile clients/requirements.in --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command 'make clients-lock' \
		--quiet --output-file clients/requirements.lock $(LOCK_ARGS)

$(CLIENTS): clients/requirements.lock clients/python/pyproject.toml
	@sh .ci/clients

wheel: $(RUNTIME) ## build the packages, install them by name in empty environments, upgrade, serve (ARGS="--with uvx pipx")
	@sh .ci/wheel $(ARGS)

contract: $(RUNTIME) ## call every route as the OpenAPI document describes it (more: ARGS=--phases=examples,coverage)
	@sh .ci/contract $(ARGS)

contract-lock: $(RUNTIME) ## resolve .ci/contract.in anew
	@$(RUN) pip install --quiet --disable-pip-version-check uv
	@$(RUN) uv pip compile .ci/contract.in --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command 'make contract-lock' \
		--quiet --output-file .ci/contract.lock $(LOCK_ARGS)

openapi: $(RUNTIME) ## write openapi/openapi.json from the code
	@$(RUN) app.cli openapi

lock: $(RUNTIME) ## resolve pyproject.toml anew into requirements.lock and requirements-dev.lock
	@sh .ci/lock $(LOCK_ARGS)

clean: ## remove the virtual environments and all caches; data stays
	@rm -rf $(VENV) $(CLIENTS_VENV) .venv-peers .venv-contract build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## show this
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 26

$(RUNTIME): requirements.lock pyproject.toml $(BROKEN)
	@PYTHON='$(PYTHON)' sh .ci/venv runtime

$(DEV): requirements-dev.lock pyproject.toml $(BROKEN)
	@PYTHON='$(PYTHON)' sh .ci/venv dev

FORCE:
