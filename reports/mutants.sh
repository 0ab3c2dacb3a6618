#!/usr/bin/env bash
# Mutation testing of the gates: does a test fail for every small change of their code?
#
#   reports/mutants.sh                      all of the gates, and what they stand on
#   reports/mutants.sh --file src/gate/fit.rs      any options of `cargo mutants`
#
# Needs cargo-mutants (`cargo install cargo-mutants --locked`). A mutant of the whole crate takes a minute to build, so
# the modules under test are copied from this checkout into a crate of their own, which takes seconds; what they need of
# the rest (saved runs, the replay) is stood in for by a few lines below. Mutants that change nothing observable are
# excluded in `.cargo/mutants.toml`, with reasons, and in this way only.
#
# Two at once: `WORK=/tmp/a reports/mutants.sh --shard 0/2` beside `WORK=/tmp/b reports/mutants.sh --shard 1/2`.
# WORK names a folder to work in and to keep, by default a temporary one; results are in `$WORK/mutants.out`.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${WORK:-}" ]; then
    WORK=$(mktemp -d)
    trap 'rm -rf "$WORK"' EXIT
fi
# What the caller set for other builds is not for this crate.
unset PROPTEST_CASES CARGO_TARGET_DIR CARGO_BUILD_TARGET RUSTFLAGS
mkdir -p "$WORK/crate/src"
cd "$WORK/crate"

for module in gate summary latency quality observation run_event problem failure exit_code; do
    rm -rf "src/$module" "src/$module.rs"
    cp -r "$root/harness/src/$module"* src/
done
cp "$root/Cargo.lock" .
# A property needs few cases to notice a mutant; one that only many cases would find lacks a test of its own.
sed -i 's/with_cases(16)/with_cases(1)/' src/gate/*_tests.rs

cat > Cargo.toml <<TOML
[package]
name = "hookbench"
version = "0.1.0"
edition = "2024"

[dependencies]
fastrand = "2"
hdrhistogram = { version = "7", default-features = false, features = ["serialization"] }
hook-contract = { path = "$root/harness/contract" }
hookbench-statistics = { path = "$root/harness/statistics" }
miette = { version = "7", features = ["fancy-no-backtrace"] }
thiserror = "2"
toml = "1"

[dev-dependencies]
proptest = { version = "1", default-features = false, features = ["std"] }
tempfile = "3"

[profile.dev]
debug = false

[profile.dev.package."*"]
opt-level = 1

[workspace]
TOML

cat > src/lib.rs <<'RUST'
#![allow(unused)]
pub mod exit_code;
pub mod failure;
pub mod gate;
pub mod latency;
pub mod observation;
pub mod problem;
pub mod quality;
pub mod run_event;
pub mod summary;

/// Stands in for saved runs: none can be read.
pub mod record {
    use std::path::{Path, PathBuf};

    #[derive(Debug, thiserror::Error)]
    pub enum RecordFault {
        #[error("no run at {0}")]
        Unreadable(PathBuf),
        #[error("cannot write {path}")]
        Unwritable { path: PathBuf },
    }

    impl RecordFault {
        pub fn remedy(&self) -> &'static str {
            "name another"
        }
    }

    pub fn replay(path: &Path) -> Result<crate::summary::Summary, RecordFault> {
        Err(RecordFault::Unreadable(path.to_owned()))
    }
}

/// Stands in for the replay, which nothing here starts.
pub mod replay {
    #[derive(Debug)]
    pub enum Stop {
        Problem(crate::problem::Problem),
        Interrupted,
        Io(std::io::Error),
    }
}
RUST

files=(--file 'src/gate/**' --file src/summary/paired.rs --file src/latency.rs --file src/quality.rs)
for option in "$@"; do
    case $option in --file*) files=() ;; esac
done
nice -n 5 cargo mutants --in-place --config "$root/.cargo/mutants.toml" --output "$WORK" \
    --cap-lints false --timeout 60 --cargo-arg=--lib "${files[@]}" "$@"
