#!/bin/sh
# Builds the laboratory into lab/dist/. Where something is missing that only it needs, one line says so, and there is no laboratory.
cd "$(dirname "$0")" || exit 1

leave_out() {
    rm -rf dist
    echo "lab: left out of the site: $1"
    exit 0
}

command -v npm > /dev/null || leave_out "npm is not installed"
target=wasm32-unknown-unknown
[ -d "$(rustc --print target-libdir --target $target 2> /dev/null)" ] || leave_out "no Rust for WebAssembly (rustup target add $target)"
set -e
# Messages of the engine name its sources as they are in the repository.
CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo" \
    cargo build --quiet --locked --package sojourn-wasm --profile page --target $target
if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
    npm ci --ignore-scripts --silent || leave_out "npm ci did not get its packages"
fi
npm run --silent check
npm run --silent build -- "${CARGO_TARGET_DIR:-../target}/$target/page/sojourn_wasm.wasm"
