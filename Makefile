# The front door. Every target does its own set-up; `make` alone lists them.

PYTHON ?= python3
JOBS   ?= $(shell nproc)
VENV   := .venv
BIN    := $(VENV)/bin
BUILD  := build/release

export OMPI_ALLOW_RUN_AS_ROOT ?= 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM ?= 1

# How long `make fuzz` works on each target; `make test-all` counts executions instead.
FUZZ_SECONDS  ?= 20
FUZZ_RUNS     ?= -1
FUZZ_RUNS_ALL ?= 1000000

.PHONY: help packages venv build demo test test-all test-asan test-ubsan test-tsan test-gpu fuzz \
        fuzz-build bench format lint clean

help:
	@echo "make build    compile; leaves a ready $(VENV) with thinwire in it"
	@echo "make demo     the main job: a wave solver over slow links, raw and compressed"
	@echo "make test     every test that CI runs; test-all adds what is too long for CI"
	@echo "make fuzz     fuzz every target for FUZZ_SECONDS seconds, or FUZZ_RUNS executions"
	@echo "make test-asan, test-ubsan, test-tsan   the units under one of the sanitizers"
	@echo "make test-gpu the GPU tests, where there is a GPU; nothing is installed"
	@echo "make bench    codec and message benchmarks"
	@echo "make format   format by machine; lint checks it"
	@echo "make clean    remove what was built"

packages:
	@tools/setup_packages

# Leaves the environment alone where pyproject.toml has not changed since.
$(VENV)/.ready: pyproject.toml | packages
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" clang-format==19.1.7
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation \
	  --config-settings=wheel.cmake=false --config-settings=editable.mode=redirect \
	  -e ".[lab,demo,test]"
	@touch $@

venv: $(VENV)/.ready

# The MPIs that the preload libraries are built for and tested on, besides the system's. Without
# PyPI the build goes on with what is there.
MPIS = $$(tools/setup_mpis | paste -sd:)

$(BUILD)/build.ninja: | packages
	cmake --preset release -DTHINWIRE_MPIS="$(MPIS)"

build: $(VENV)/.ready $(BUILD)/build.ninja
	cmake --build $(BUILD) -j $(JOBS)
	@# Removed first: a running program keeps the library it has mapped, and must not see it change.
	@rm -rf python/thinwire/lib
	@cmake --install $(BUILD) --component wheel --prefix python/thinwire >/dev/null

demo: build
	$(BIN)/thinwire demo

# Those of which tools/make_vectors writes golden vectors.
VECTOR_CODECS := zfp mpc expack lorenzo szp ndzip blockq

lint: $(VENV)/.ready
	tools/check_layers
	tools/format --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	for codec in $(VECTOR_CODECS); do \
	  $(BIN)/python tools/make_vectors/$$codec.py --check || exit 1; \
	done

format: $(VENV)/.ready
	tools/format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

test-asan: | packages
	cmake --preset asan
	cmake --build build/asan -j $(JOBS)
	ctest --preset asan -L "unit|fuzz" -j $(JOBS)

test-ubsan: | packages
	cmake --preset ubsan
	cmake --build build/ubsan -j $(JOBS)
	ctest --preset ubsan -j $(JOBS)

# The MPI is not instrumented: what it does on its own is left out.
test-tsan: export TSAN_OPTIONS = ignore_noninstrumented_modules=1
test-tsan: export THINWIRE_BUILD_DIR = $(CURDIR)/build/tsan
test-tsan: $(VENV)/.ready
	cmake --preset tsan
	cmake --build build/tsan -j $(JOBS)
	ctest --preset tsan -L unit -j $(JOBS)
	$(BIN)/pytest -k "threads and shrink" tests/shim/test_shim_conformance.py
	$(BIN)/pytest -k "(nonblocking or in_step) and openmpi" tests/shim/test_shim_collectives.py

fuzz-build:
	@tools/setup_packages --fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)

fuzz: fuzz-build
	tools/fuzz --runs $(FUZZ_RUNS) --seconds $(FUZZ_SECONDS)

test: build lint test-asan
	ctest --preset release -j $(JOBS) -LE slow
	THINWIRE_MPIS="$(MPIS)" $(BIN)/pytest -m "not slow" tests

test-all: build lint test-asan test-ubsan test-tsan fuzz-build
	ctest --preset release -j $(JOBS)
	THINWIRE_MPIS="$(MPIS)" $(BIN)/pytest tests
	tools/fuzz --runs $(FUZZ_RUNS_ALL)

# Works on machines where nothing can be installed: it takes what is there (tools/test_gpu).
test-gpu:
	tools/test_gpu

bench: build
	$(BIN)/thinwire bench codec
	$(BIN)/thinwire bench overhead

clean:
	rm -rf build $(VENV) python/thinwire/lib python/thinwire/include
