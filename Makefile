# The environment is made by whichever target needs it first; nothing has to be typed before.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: verify verify-full test test-releases lint bench bench-control differential audit audit-all
.PHONY: audit-controls fuzz mutation gate gpu clean

verify: $(READY)
	@mkdir -p build
	@$(BIN)/truehit verify --json build/record.json

verify-full: $(READY)
	@mkdir -p build
	@$(BIN)/truehit verify --full --json build/record.json

# Two workers on two cores: more threads in each would only wait for each other.
test: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -q --benchmark-disable

# Needs pip and a network once: vLLM's dependencies and the wheels of the releases, a few GB.
test-releases: $(READY)
	@$(BIN)/python -m truehit.adapters.vllm.prepare 0.26.0 0.27.1 0.33.0
	@$(BIN)/pytest -n 2 --dist loadfile -q --benchmark-disable -m releases

lint: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m truehit.kernels.lint

bench: $(READY)
	@$(BIN)/pytest -q -p no:xdist --benchmark-only tests

bench-control: $(READY)
	@$(BIN)/python -m truehit.adapters.control_bench --json build/bench-control.json

differential: $(READY)
	@mkdir -p build
	@$(BIN)/truehit diff --steps 100000 --write build/differences --json build/differential.json
	@$(BIN)/truehit diff --back-end torch --write build/differences --json build/data-plane.json
	@$(BIN)/truehit diff --back-end interpreter --write build/differences --json build/kernels.json

# Every kernel compiled for three GPUs, without one. Needs pip and a network once: Triton 3.6.0, 0.6 GB.
gate: $(READY)
	@mkdir -p build
	@$(BIN)/python -m truehit.kernels.gate --json build/gate.json

# One GPU, at most 300 seconds.
gpu: $(READY)
	@mkdir -p build
	@$(BIN)/python -m truehit.proofs.gpu --json build/gpu.json

# What CI looks at: two releases, a short search.
audit: $(READY)
	@$(BIN)/python -m truehit.adapters.vllm.matrix --only 0.26.0 0.33.0 --scenarios 120

audit-all: $(READY)
	@$(BIN)/python -m truehit.adapters.vllm.matrix --page docs/releases.md

audit-controls: $(READY)
	@$(BIN)/python -m truehit.adapters.vllm.controls --steps 20000 0.32.0 0.33.0

fuzz: $(READY)
	@mkdir -p build
	@TRUEHIT_PROFILE=long $(BIN)/pytest -n 2 -q tests/reference/test_fuzz.py tests/proofs/differ/test_machine.py --timeout 3600
	@$(BIN)/truehit sweep --runs 400000
	@$(BIN)/truehit diff --steps 3000000 --seed $$(date +%s) --write build/differences

mutation: $(READY)
	@$(BIN)/python -m truehit.proofs.mutation --json build/mutation.json

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@echo "Making the environment in .venv (once, about two minutes) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@
