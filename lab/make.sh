#!/bin/sh
# What make has done for the laboratory.
#   make.sh packages     gets its packages from npm
#   make.sh build        builds it into lab/dist/
#   make.sh check        types, linter, formatter and unit tests
# Where something is missing that only it needs, one line says so, and there is no laboratory.
cd "$(dirname "$0")" || exit 1

leave_out() {
    rm -rf dist ../python/sojourn/laboratory.html
    echo "lab: left out: $1"
    exit 0
}

if [ "$1" = packages ]; then
    command -v npm > /dev/null || leave_out "npm is not installed"
    npm ci --ignore-scripts --loglevel error || leave_out "npm ci did not get its packages"
    touch node_modules/.package-lock.json
    exit
fi

# Why there are none has been said.
[ -e node_modules/.package-lock.json ] || exit 0
set -e
case "$1" in
build)
    target=wasm32-unknown-unknown
    [ -d "$(rustc --print target-libdir --target $target 2> /dev/null)" ] || leave_out "no Rust for WebAssembly (rustup target add $target)"
    # Messages of the engine name its sources as they are in the repository.
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo" \
        cargo build --quiet --locked --package sojourn-wasm --profile page --target $target
    npm run --silent build -- "${CARGO_TARGET_DIR:-../target}/$target/page/sojourn_wasm.wasm"
    ;;
check)
    npm run --silent check
    ;;
esac
