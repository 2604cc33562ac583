#!/usr/bin/env bash
# Drives the daemon with a Python client, whose stubs are generated from this repository's .proto.
#   scripts/interop.sh DIR      DIR is a folder that `cuzk-bench demo --dir DIR` has filled
set -euo pipefail
demo=$(realpath "${1:?usage: $0 DIR}")
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
venv="$target/tmp/interop"
# Both, so that no dependency is built again with other features than the bench has them.
cargo build --release -p cuzk-bench -p cuzk-daemon
if ! cmp -s scripts/requirements.txt "$venv/requirements.txt"; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --requirement scripts/requirements.txt
    cp scripts/requirements.txt "$venv/"
fi
mkdir -p "$venv/stubs"
"$venv/bin/python" -m grpc_tools.protoc --proto_path=crates/proto/proto \
    --python_out="$venv/stubs" --grpc_python_out="$venv/stubs" cuzk/v1/proving.proto
PYTHONPATH="$venv/stubs" "$venv/bin/python" scripts/interop.py "$target/release/cuzk-daemon" "$demo"
