# `make` lists the targets. Everything installs itself into .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
EXE := $(if $(filter Windows_NT,$(OS)),.exe)
BINARIES := $(if $(EXE),Scripts,bin)
BIN := $(VENV)/$(BINARIES)
RUNTIME := $(VENV)/.installed-runtime
TESTING := $(VENV)/.installed-testing
SERVICES := $(VENV)/.installed-services
# One thread per process: the tests run in parallel processes, and results do not depend on the machine's cores.
PARALLEL := -n 2 --dist worksteal
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL)
INSTALL := -m pip install --disable-pip-version-check
# Where it is set, every process of the tests would compile the package and its tests anew.
unexport PYTHONDONTWRITEBYTECODE
# With COVERAGE=1, `test`, `fast` and `minimum` also print the share of lines that their tests run; it costs three quarters more time.
COVERED := $(if $(COVERAGE),--cov --cov-report=term:skip-covered)
MINIMUM := .venv-minimum
# What a server of MLflow needs beside mlflow-skinny: the whole mlflow allows no pyarrow as new as ours.
MLFLOW_SERVER := alembic fastapi flask flask-cors sqlalchemy uvicorn
# Object stores on this machine, and what reads them.
STORES := "moto[server]" s3fs gcp-storage-emulator gcsfs
# Checks the pages' accessibility in the browser tests (MPL-2.0, in no wheel); without npm those tests are skipped.
AXE := 4.14.1

.PHONY: help demo test test-integration test-services fast fuzz coverage minimum lint types docs docs-fresh docs-site notebooks lock samples benchmark benchmark-attention benchmark-startup benchmark-memory \
	benchmark-growth benchmark-loading benchmark-large benchmark-training benchmark-gpu benchmark-dump benchmark-backtest benchmark-export benchmark-serve benchmark-ray benchmark-nordpool \
	benchmark-epf benchmark-fev benchmark-fev-peers benchmark-ablation benchmark-ett benchmark-quality golden-record golden-compare pictures clean
.DEFAULT_GOAL := help

help:  ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 24

$(BIN)/python$(EXE):
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): pyproject.toml constraints.txt | $(BIN)/python$(EXE)
	$(BIN)/python $(INSTALL) -c constraints.txt "torch"
	$(BIN)/python $(INSTALL) -c constraints.txt -e ".[plot]"
	touch $@

$(TESTING): $(RUNTIME)
	$(BIN)/python $(INSTALL) -c constraints.txt -e ".[plot,test,docs]"
	-npm install --prefix $(VENV)/axe --ignore-scripts --no-audit --no-fund --silent --fetch-retries 0 axe-core@$(AXE)
	touch $@

$(SERVICES): $(TESTING)
	$(BIN)/python $(INSTALL) -c constraints.txt -e ".[chronos,ray,mlflow,tensorboard,wandb]" $(MLFLOW_SERVER) $(STORES) u8darts
	touch $@

demo: $(RUNTIME)  ## Train on bundled data, predict, show the attention (writes to runs/demo)
	sh benchmarks/demo.sh $(BIN)/forecast

test: $(TESTING)  ## Lint, types, docs fresh, and all tests of forecast-attn itself
	$(MAKE) -j 2 lint types docs-fresh
	$(PYTEST) -m "not integration" $(COVERED)

test-integration: $(TESTING)  ## The tests that start something real beside it: a browser, a notebook, a server, a build
	$(PYTEST) -m "integration and not services"

test-services: $(SERVICES)  ## The tests with a real Ray, MLflow server, S3, TensorBoard, wandb, Chronos and darts; installs them (hundreds of MB)
	$(PYTEST) --dist loadfile -m services

fast: $(TESTING)  ## The quick tests, in a minute
	$(PYTEST) -m "not slow and not integration" $(COVERED)

fuzz: $(TESTING)  ## Twenty times as many damaged tables as the suite tries, other ones each time
	env -u CI FUZZ=20 $(BIN)/python -m pytest -q tests/data/test_fuzz.py

coverage: $(TESTING)  ## The whole suite, and the lines of the package that no test runs (also as htmlcov/index.html)
	$(PYTEST) --cov --cov-report=term-missing:skip-covered --cov-report=html

$(MINIMUM)/.installed: pyproject.toml constraints-minimum.txt
	$(PYTHON) -m venv --clear $(MINIMUM)
	$(MINIMUM)/$(BINARIES)/python $(INSTALL) -c constraints-minimum.txt "torch"
	$(MINIMUM)/$(BINARIES)/python $(INSTALL) -c constraints-minimum.txt -e ".[plot,test]"
	touch $@

minimum: $(MINIMUM)/.installed  ## The quick tests with the lowest versions that pyproject.toml allows
	OMP_NUM_THREADS=1 $(MINIMUM)/$(BINARIES)/python -m pytest $(PARALLEL) -m "not slow and not integration" -p no:cacheprovider $(COVERED)

lint: $(TESTING)  ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TESTING)  ## Static types
	$(BIN)/mypy

docs: $(TESTING)  ## Write config/keywords.py from the options, and docs/cli.md from the commands' own help
	$(BIN)/python benchmarks/write_keywords.py
	$(BIN)/python benchmarks/write_cli_docs.py

docs-fresh: $(TESTING)  ## Fail when config/keywords.py, docs/cli.md or the samples are not what would be written
	$(BIN)/python benchmarks/write_keywords.py --check
	$(BIN)/python benchmarks/write_cli_docs.py --check
	$(BIN)/python benchmarks/make_samples.py --check

golden-record: $(TESTING)  ## Record digests of what the command line writes: make golden-record FILE=before.json
	$(BIN)/python benchmarks/golden.py record $(FILE)

golden-compare: $(TESTING)  ## Compare with digests recorded at another commit: make golden-compare FILE=before.json
	$(BIN)/python benchmarks/golden.py compare $(FILE)

docs-site: $(TESTING)  ## Build the documentation site into site/; fails on a broken link
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

notebooks: $(TESTING)  ## Run the notebooks of docs/notebooks and store their outputs
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/run_notebooks.py

lock: $(TESTING)  ## Write requirements.lock: every version with its hashes, for all systems
	$(BIN)/python $(INSTALL) -c constraints.txt uv
	$(BIN)/uv pip compile pyproject.toml --extra plot --constraint constraints.txt --output-file requirements.lock \
		--universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --quiet \
		--custom-compile-command "make lock"

pictures: $(TESTING)  ## Draw the pictures of docs/ again, from runs trained on the samples
	$(BIN)/python benchmarks/draw_orders.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/pictures.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/draw_plots.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/draw_page.py

samples: $(TESTING)  ## Write the simulated samples of data/ again
	$(BIN)/python benchmarks/make_samples.py

benchmark: $(TESTING)  ## Speed and memory: every figure beside its bound; fails when one is broken (ten minutes; goes on where it was cut short)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/speed.py --keep .benchmark.json $(ARGS)

benchmark-attention: $(TESTING)  ## Attention layers against the naive forms
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/attention.py

benchmark-startup: $(TESTING)  ## forecast --help against a bare Typer program, predict against torch
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/startup.py

benchmark-memory: $(TESTING)  ## Peak memory of training on 2,000 series of 1,000 steps
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/memory.py

benchmark-growth: $(TESTING)  ## How cost grows with lookback, width, series and windows; draws the figure of docs/cost.md
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/growth.py --figure docs/images/cost-growth.png

benchmark-loading: $(TESTING)  ## Ten million rows: speed of reading, memory of training
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/loading.py

benchmark-large: $(TESTING)  ## A hundred million rows: memory of training (8 GB, two minutes)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/large.py

benchmark-training: $(TESTING)  ## Training and prediction against a bare torch loop
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/training.py

benchmark-gpu: $(TESTING)  ## Training, prediction and the attention file on a GPU against a bare cuDNN loop
	$(BIN)/python benchmarks/gpu.py

benchmark-dump: $(TESTING)  ## The attention file at scale: 10,000 windows written, and inspected
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/dump.py

benchmark-backtest: $(TESTING)  ## A backtest of 10,000 windows against a bare torch loop
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/backtest.py

benchmark-export: $(TESTING)  ## Every mechanism, head and cell as an ONNX file beside predict
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/export.py $(ARGS)

benchmark-serve: $(TESTING)  ## Requests per second and their times beside the bare model; many at once; memory
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/serve.py $(ARGS)

benchmark-ray: $(SERVICES)  ## Files of 5,000 series forecast by two workers of Ray beside one process; fails below 1.5 times its speed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/ray_prediction.py $(ARGS)

benchmark-nordpool: $(TESTING)  ## Default settings on a market file: make benchmark-nordpool DATA=NP.csv
	$(BIN)/python benchmarks/market.py $(DATA)

benchmark-epf: $(TESTING)  ## Electricity markets beside published numbers: make benchmark-epf DATA_DIR=… [ARGS="--seeds 1 2 3"]
	$(BIN)/python benchmarks/epf.py $(DATA_DIR) $(ARGS)

benchmark-fev: $(TESTING)  ## The same prices by the protocol of fev-bench: make benchmark-fev DATA_DIR=… [ARGS="--markets NP --test"]
	$(BIN)/python benchmarks/fev_epf.py $(DATA_DIR) $(ARGS)

benchmark-fev-peers: $(TESTING)  ## Other forecasters on the days that benchmark-fev chooses on; networks where neuralforecast is installed: DATA_DIR=…
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/fev_peers.py $(DATA_DIR) $(ARGS)

benchmark-ablation: $(TESTING)  ## What each option of the network brings: make benchmark-ablation DATA_DIR=… [ARGS="--markets NP --seeds 1 2"]
	$(BIN)/python benchmarks/ablation.py $(DATA_DIR) $(ARGS)

benchmark-ett: $(TESTING)  ## ETTh1 beside published numbers: make benchmark-ett DATA=ETTh1.csv [ARGS="--protocols U96"]
	$(BIN)/python benchmarks/ett.py $(DATA) $(ARGS)

benchmark-quality: $(TESTING)  ## 90 seconds of training beside a bare GRU: make benchmark-quality DATA=NP.csv [ARGS=--test]
	$(BIN)/python benchmarks/quality.py $(DATA) $(ARGS)

clean:  ## Remove the environment and all caches
	rm -rf $(VENV) $(MINIMUM) site htmlcov .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
