#!/bin/sh
# What `make setup` needs of the machine. A line says what is missing.
#   toolchain.sh python      prints the newest Python from 3.11 on, or $PYTHON
#   toolchain.sh rust        sees that Rust is new enough to build the engine
set -eu
cd "$(dirname "$0")"

fail() {
    echo "make: $1" >&2
    exit 1
}

# Released, from 3.11 on: prints the minor version and the name, to be sorted.
candidate() {
    "$1" -c '
import sys
if sys.version_info >= (3, 11) and sys.version_info.releaselevel == "final":
    print(sys.version_info.minor, sys.argv[1])' "$1" 2> /dev/null || true
}

newest_python() {
    for name in python3 $(echo "$PATH" | tr ':' '\n' | sed 's|$|/|' | while read -r folder; do ls "$folder" 2> /dev/null; done |
        grep -x 'python3\.[1-9][0-9]' | sort -u); do
        candidate "$name"
    done | sort -rn -k1,1 | sed -n '1s/^[0-9]* //p'
}

case "$1" in
python)
    python=${PYTHON:-$(newest_python)}
    [ -n "$python" ] || fail "Python 3.11 or later is missing (on Debian and Ubuntu: apt install python3 python3-venv)"
    command -v "$python" > /dev/null || fail "$python: there is no such Python; PYTHON=... names another"
    [ -n "$(candidate "$python")" ] || fail "$python is $("$python" --version 2>&1 | head -n 1); Python 3.11 or later is needed; PYTHON=... names another"
    "$python" -c 'import ensurepip, venv' 2> /dev/null ||
        fail "$python has no venv (on Debian and Ubuntu: apt install $(basename "$python")-venv)"
    echo "$python"
    ;;
rust)
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    command -v cargo > /dev/null && command -v rustc > /dev/null || fail "Rust is missing; $needed or later is needed (https://rustup.rs)"
    installed=$(rustc --version | cut -d ' ' -f 2)
    [ "$(printf '%s\n' "$needed" "$installed" | sort -V | head -n 1)" = "$needed" ] ||
        fail "Rust $installed is too old; $needed or later is needed (rustup update, or https://rustup.rs)"
    command -v cc > /dev/null || fail "cc, with which Rust links, is missing (on Debian and Ubuntu: apt install gcc libc6-dev)"
    ;;
esac
