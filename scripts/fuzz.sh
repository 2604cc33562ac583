#!/usr/bin/env bash
# Runs every fuzz target for some seconds. Needs a nightly compiler and cargo-fuzz.
#   scripts/fuzz.sh [SECONDS] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-30}
shift || true
targets=("$@")
((${#targets[@]})) || targets=(porep snap wpost winning proof vk params r1cs)

cargo test --release -p cuzk-filecoin --test suite -- --ignored fuzz::seeds_become_a_corpus
cd fuzz
for target in "${targets[@]}"; do
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -rss_limit_mb=4096
done
