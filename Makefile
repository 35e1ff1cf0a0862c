# The front door. Every target does its own set-up; `make` alone lists them.

PYTHON ?= python3
JOBS   ?= $(shell nproc)
VENV   := .venv
BIN    := $(VENV)/bin
BUILD  := build/release

export JOBS
export OMPI_ALLOW_RUN_AS_ROOT ?= 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM ?= 1

# How long `make fuzz` works on each target; `make test-all` counts executions instead.
FUZZ_SECONDS  ?= 20
FUZZ_RUNS     ?= -1
FUZZ_RUNS_ALL ?= 1000000
# How many changed files of each kind `make fuzz` gives to the readers in Python.
FUZZ_CASES    ?= 100000
# Most seconds of the processor for one of these readers.
FUZZ_READER_SECONDS ?= 600
# How many forged frames and delta packets `make fuzz` has decoded, some 100,000 a second.
FUZZ_FORGED   ?= 20000000

# How many Python tests run side by side. By three, on two processors, some wait too long for their ranks to agree.
PYTEST_JOBS ?= 2

# `make demo` compiles CUDA where it sees a GPU, or with THINWIRE_CUDA=1; the other targets wherever
# there is nvcc. It says nothing to the programs that are built.
unexport THINWIRE_CUDA
DEMO_CUDA := $(if $(filter 1,$(THINWIRE_CUDA)),ON,$(if $(wildcard /dev/nvidia[0-9]*),AUTO,OFF))

.PHONY: help packages packages-test slurm-packages venv torch torch-begun torch-newest torch-for-test nccl-for-test build build-tests \
        tree-for-test demo demo-tree test test-all test-asan test-ubsan test-tsan test-arm test-gpu fuzz fuzz-build wheel release bench docs hostile-and-docs hostile-tree test-hostile lint-then-docs format lint clean

help:
	@echo "make demo     the main job: a wave solver over slow links, raw and compressed"
	@echo "make build    the libraries for every MPI, the programs and a $(VENV) with thinwire in it"
	@echo "make build-tests   all of that and the tests; make test runs them too"
	@echo "make test     every test that CI runs; test-all adds what is too long for CI"
	@echo "make fuzz     fuzz every target for FUZZ_SECONDS seconds, or FUZZ_RUNS executions"
	@echo "make test-asan, test-ubsan, test-tsan   the units under one of the sanitizers"
	@echo "make test-arm the codecs' tests for 64-bit ARM under qemu, where both are installed"
	@echo "make torch    the PyTorch that tests/torch runs on, in an environment of its own (5 GB)"
	@echo "make test-gpu the GPU tests, where there is a GPU; nothing is installed"
	@echo "make wheel    wheels for other machines, in dist"
	@echo "make release  check the tree, build the wheels, and say how to tag it"
	@echo "make bench    codec and message benchmarks"
	@echo "make docs     the documentation as a site, in build/site; builds nothing else"
	@echo "make format   format by machine"
	@echo "make lint     check format, layers, types, links, spelling, golden vectors"
	@echo "make clean    remove what was built"

packages:
	@tools/setup_packages

packages-test:
	@tools/setup_packages --test

PIP := tools/pip_install $(VENV)
# The installed package is the source tree itself; CMake builds the libraries apart.
EDITABLE := --no-build-isolation --config-settings=wheel.cmake=false \
  --config-settings=editable.mode=redirect -e

# Leaves the environment alone where pyproject.toml has not changed since.
$(VENV)/.ready: pyproject.toml | packages
	@echo "Installing Python packages into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) "scikit-build-core>=0.10"
	@$(PIP) $(EDITABLE) ".[lab,demo]"
	@touch $@

# What tests and lint take besides.
$(VENV)/.test: $(VENV)/.ready
	@echo "Installing what the tests need into $(VENV)"
	@$(PIP) clang-format==19.1.7
	@$(PIP) $(EDITABLE) ".[test]"
	@touch $@

venv: $(VENV)/.test

# The MPIs that the preload libraries are built for and tested on, besides the system's. Without
# PyPI the build goes on with what is there.
MPIS = $$(tools/setup_mpis | paste -sd:)

torch:
	@tools/setup_torch

# It is fetched while the tree is built; torch-for-test waits for it. Without PyPI the tests skip.
torch-begun:
	@mkdir -p $(BUILD)
	@tools/setup_torch >$(BUILD)/torch.log 2>&1 &

# The newest that was checked, over gloo alone: the machines with GPUs have 2.11, and cannot be given another.
NEWEST_TORCH := 2.15.0 build/torch-newest

torch-newest:
	@tools/setup_torch $(NEWEST_TORCH) >/dev/null || echo "There is no newest torch: its tests will skip"

torch-for-test: torch-begun
	@tools/setup_torch >/dev/null || echo "There is no torch: the tests of tests/torch will skip"

nccl-for-test:
	@tools/setup_nccl >/dev/null || echo "NVIDIA's wheels of NCCL are not there: test_nccl_mixed.py will skip"

# One tree for all: the demo builds its few targets of it, and the objects serve what is built later.
$(BUILD)/build.ninja: | packages
	@tools/quietly cmake --preset release -DTHINWIRE_CUDA=$(DEMO_CUDA)

$(BUILD)/.whole: | packages
	@tools/quietly cmake --preset release -DTHINWIRE_MPIS="$(MPIS)"
	@touch $@

# As `make test` has it where no GPU runs it: for one architecture; loops over arrays for this machine; of all but the library little optimised. A tree that is whole stays so.
$(BUILD)/.checked: | packages
	@[ -e $(BUILD)/.whole ] || \
	  tools/quietly cmake --preset release -DTHINWIRE_MPIS="$(MPIS)" \
	    -DTHINWIRE_CUDA_CHECK=ON -DTHINWIRE_HERE_ALONE=ON -DTHINWIRE_OPTIMISE_ALL=OFF
	@touch $@
TEST_TREE := $(BUILD)/$(if $(wildcard /dev/nvidia[0-9]*),.whole,.checked)

# Removed first: a running program keeps the library it has mapped, and must not see it change.
define install_libraries
@rm -rf python/thinwire/lib
@cmake --install $(BUILD) --component wheel --prefix python/thinwire >/dev/null
endef

demo-tree: $(BUILD)/build.ninja
	@tools/build $(BUILD) demo

# Python's packages come over the network while the compiler works.
demo:
	@$(MAKE) --no-print-directory -j2 $(VENV)/.ready demo-tree
	$(install_libraries)
	@$(BIN)/thinwire demo

build: $(VENV)/.ready $(BUILD)/.whole
	@tools/build $(BUILD) users
	$(install_libraries)

build-tests: $(BUILD)/.whole
tree-for-test: $(TEST_TREE)
build-tests tree-for-test: packages-test $(VENV)/.test
	@tools/build $(BUILD)
	$(install_libraries)

# The programs that write golden vectors, one a codec; the others are what they share.
VECTOR_PROGRAMS := $(filter-out %/output.py %/period.py %/ans_pieces.py %/ans_planes.py %/ans_whole.py,$(wildcard tools/make_vectors/*.py))

lint: $(VENV)/.test
	tools/check_layers
	tools/check_types
	tools/format --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_links
	$(BIN)/python tools/wrap_markdown --check
	tools/check_words
	$(BIN)/python tools/results_pages --check
	$(BIN)/python tools/declarations --check
	$(BIN)/python tests/python/doc_examples.py
	git ls-files -z -- . ':!tests/fuzz/corpus' ':!tests/vectors' ':!third_party/monocypher' ':!third_party/libsodium' | xargs -0 $(BIN)/codespell
	for program in $(VECTOR_PROGRAMS); do \
	  $(BIN)/python $$program --check || exit 1; \
	done

$(VENV)/.docs: $(VENV)/.ready
	@echo "Installing what the site needs into $(VENV)"
	@$(PIP) $(EDITABLE) ".[docs]"
	@touch $@

# A warning, as of a link that leads nowhere, ends it.
docs: $(VENV)/.docs
	@$(BIN)/sphinx-build -q -W --keep-going -j $(JOBS) -c docs/site -d build/site-cache . build/site
	@echo "build/site/index.html"

lint-then-docs: $(VENV)/.test
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory docs

# Beside the compiler, since packages, lint and the site wait for the network or keep one processor busy.
hostile-and-docs: packages-test
	@$(MAKE) --no-print-directory -j2 --output-sync=target hostile-tree lint-then-docs

format: $(VENV)/.test
	tools/format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/python tools/wrap_markdown

test: export THINWIRE_TEST_BRIEF := 1

# What reads bytes that others may have damaged, under the address sanitizer. `make test` has all other units in its
# release tree, with fewer cases (tests/brief.h, the label `more`).
hostile-tree: packages-test
	@tools/quietly cmake --preset hostile
	@tools/build build/hostile hostile_units

test-hostile: hostile-tree
	ctest --preset hostile -L hostile -j $(JOBS)

test-asan: packages-test
	@tools/quietly cmake --preset asan
	@tools/build build/asan units
	ctest --preset asan -L "unit|fuzz" -j $(JOBS)

test-ubsan: packages-test
	@tools/quietly cmake --preset ubsan
	@tools/build build/ubsan units
	ctest --preset ubsan -j $(JOBS)

# The MPI is not instrumented: what it does on its own is left out.
test-tsan: export TSAN_OPTIONS = ignore_noninstrumented_modules=1
test-tsan: export THINWIRE_BUILD_DIR = $(CURDIR)/build/tsan
test-tsan: packages-test $(VENV)/.test
	@tools/quietly cmake --preset tsan
	@tools/build build/tsan
	ctest --preset tsan -L unit -j $(JOBS)
	$(BIN)/pytest -k "threads and shrink" tests/shim/test_shim_conformance.py
	$(BIN)/pytest -k "(nonblocking or in_step) and openmpi" tests/shim/test_shim_collectives.py

fuzz-build:
	@tools/setup_packages --fuzz
	@tools/quietly cmake --preset fuzz
	@tools/build build/fuzz fuzz fuzz_replay fuzz_forge

fuzz: fuzz-build
	tools/fuzz --runs $(FUZZ_RUNS) --seconds $(FUZZ_SECONDS)
	build/fuzz/tests/fuzz/fuzz_forge $(FUZZ_FORGED)
	FUZZ_CASES=$(FUZZ_CASES) FUZZ_READER_SECONDS=$(FUZZ_READER_SECONDS) $(BIN)/pytest -s -k "changed or guided" tests/python/test_hostile_readers.py \
	  tests/python/test_hostile_texts.py tests/python/test_guided_readers.py tests/shim/test_shim_real_files.py tests/nccl/test_nccl_trace.py

# Most tests start two or three processes that wait for each other: two tests nearly fill two processors.
# What may not have another beside it follows, one by one.
PYTEST := THINWIRE_MPIS="$(MPIS)" $(BIN)/pytest
PYTEST_AGAIN := THINWIRE_MPIS="$(MPIS)" tools/pytest_again $(BIN)/pytest
define run_pytest
	$(PYTEST_AGAIN) -n $(PYTEST_JOBS) --dist worksteal -m "not slow and not alone$(2)" tests
	$(PYTEST_AGAIN) -m "$(1)" tests
endef

test: torch-begun hostile-and-docs tree-for-test torch-for-test test-hostile
	ctest --preset release -j $(JOBS) -L "golden|unit" -LE more || \
	  ctest --preset release --rerun-failed --repeat until-fail:3
	$(call run_pytest,not slow and alone and not exhaustive, and not exhaustive)

# What examples of others' trainers need, which `make test` skips.
test-all: export TORCH_WITH = accelerate==1.15.0 transformers==5.24.0 pytorch-lightning==2.6.6
test-all: export THINWIRE_TEST_NCCL_WHEELS = $(CURDIR)/build/nccl
test-all: MPIS = $$(tools/setup_mpis --all | paste -sd:)
test-all: slurm-packages torch-begun build-tests torch-for-test torch-newest nccl-for-test lint docs test-asan test-ubsan test-tsan test-arm \
          fuzz-build
	ctest --preset release -j $(JOBS)
	$(call run_pytest,slow or alone)
	THINWIRE_TEST_TORCH=$(CURDIR)/$(lastword $(NEWEST_TORCH)) $(PYTEST) -n $(PYTEST_JOBS) tests/torch
	tools/fuzz --runs $(FUZZ_RUNS_ALL)

slurm-packages:
	@tools/setup_packages --slurm

test-arm:
	tools/test_arm

# Works on machines where nothing can be installed: it takes what is there (tools/test_gpu).
test-gpu:
	tools/test_gpu

# With nvcc also the wheel that has the GPU side, as thinwire-cu13, and with a compiler for 64-bit ARM
# one for that.
wheel: $(VENV)/.test
	$(BIN)/python tools/make_wheel
	if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then \
	  $(BIN)/python tools/make_wheel --cuda; \
	fi
	if command -v aarch64-linux-gnu-g++ >/dev/null; then \
	  $(BIN)/python tools/make_wheel --aarch64 --output dist/aarch64; \
	fi

release: $(VENV)/.test
	$(BIN)/python tools/release

bench: build
	$(BIN)/thinwire bench codec
	$(BIN)/thinwire bench overhead

clean:
	rm -rf build dist $(VENV) python/thinwire/lib python/thinwire/include
