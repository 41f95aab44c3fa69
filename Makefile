# Targets install the packages they need first; see scripts/setup.

# What incremental builds keep would double the build folder; `cargo` by hand still keeps it.
export CARGO_INCREMENTAL ?= 0

.PHONY: all setup build dist try-dist demo test soak mutants lint bench bench-quick bench-parts clean

all: build

setup:
	@scripts/setup

build: setup
	cargo build --release -p raceproof

# The release for other machines: a tarball and a Debian package in target/dist.
dist: setup
	@scripts/dist

# Tries what `make dist` has made in new roots of Debian 12 and 13 and as an image. Needs root.
try-dist:
	@scripts/setup --tests
	@scripts/try-packages target/dist target/roots

demo: build
	@scripts/demo

test:
	@scripts/setup --tests
	cargo test --workspace --quiet --no-fail-fast

# Compares the engines with brute force on at least 10,000 generated programs in each test. Takes hours.
soak:
	@scripts/setup --tests
	RACEPROOF_PROGRAMS=10000 cargo test --quiet -p raceproof-model -p raceproof-petri -p raceproof-testkit \
		-p raceproof-explore -p raceproof-predict -p raceproof-lockset -p raceproof-cover -p raceproof-check \
		-p raceproof-exec -p raceproof

# Breaks the code in one place at a time and checks that a test fails. Takes an hour or more.
mutants: setup
	@scripts/mutants

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# Measures raceproof beside other tools and writes docs/benchmarks.md. `bench` takes over an hour, `bench-quick` minutes.
bench bench-quick: bench%:
	@scripts/setup --bench
	cargo build --release -p raceproof -p raceproof-bench
	target/release/bench $(if $*,--quick)
	$(if $*,,cargo bench --workspace --quiet)

# Microbenchmarks: prediction by the number of events, isolation of runs. `make bench` runs them last.
bench-parts: setup
	cargo bench --workspace --quiet

clean:
	cargo clean
