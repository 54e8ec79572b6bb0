"""`toolchain.sh`: which Python `make setup` takes, and the one line that says what a machine lacks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = ("basename", "cut", "dirname", "grep", "head", "ls", "sed", "sh", "sort", "tr")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that is all of PATH: the shell's usual commands, and what a test adds."""
    for command in COMMANDS:
        found = shutil.which(command)
        assert found, command
        (tmp_path / command).symlink_to(found)
    return tmp_path


def put(machine: Path, name: str, script: str) -> None:
    """Adds a program."""
    (machine / name).write_text(f"#!/bin/sh\n{script}\n")
    (machine / name).chmod(0o755)


def python(machine: Path, name: str, minor: int, *, venv: bool = True, released: bool = True) -> None:
    """Adds a Python that knows its version and whether it has venv, which is all that it is asked."""
    known = f'echo {minor} "$3"' if minor >= 11 and released else ":"
    put(
        machine,
        name,
        f'case "$*" in *ensurepip*) {"exit 0" if venv else "exit 1"};; --version) echo Python 3.{minor}.0;; *) {known};; esac',
    )


def toolchain(machine: Path, what: str, **variables: str) -> tuple[int, str, str]:
    """Status, standard output and standard error of `toolchain.sh`."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    done = subprocess.run(
        [ROOT / "toolchain.sh", what], env=environment | {"PATH": str(machine)} | variables, capture_output=True, text=True
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def test_newest_python_is_taken(machine: Path) -> None:
    """Of all Pythons from 3.11 on the newest is taken, one without a number in its name included; what is not released is not."""
    python(machine, "python3", 9)
    python(machine, "python3.10", 10)
    python(machine, "python3.11", 11)
    assert toolchain(machine, "python") == (0, "python3.11", "")
    python(machine, "python3.13", 13)
    put(machine, "python3.14", "echo 'pyenv: python3.14: command not found' >&2; exit 127")
    python(machine, "python3.15", 15, released=False)
    assert toolchain(machine, "python") == (0, "python3.13", "")
    python(machine, "python3", 14)
    assert toolchain(machine, "python") == (0, "python3", "")
    assert toolchain(machine, "python", PYTHON="python3.11") == (0, "python3.11", "")


def test_what_is_missing_is_one_line(machine: Path) -> None:
    """No Python, one that is too old, one without venv and one that is not there are a line each."""
    needed = "Python 3.11 or later"
    assert toolchain(machine, "python") == (
        1, "", f"make: {needed} is missing (on Debian and Ubuntu: apt install python3 python3-venv)"
    )  # fmt: skip
    python(machine, "python3.10", 10)
    assert toolchain(machine, "python", PYTHON="python3.10") == (
        1, "", f"make: python3.10 is Python 3.10.0; {needed} is needed; PYTHON=... names another"
    )  # fmt: skip
    assert toolchain(machine, "python", PYTHON="python4") == (
        1, "", "make: python4: there is no such Python; PYTHON=... names another"
    )  # fmt: skip
    python(machine, "python3.12", 12, venv=False)
    assert toolchain(machine, "python") == (
        1, "", "make: python3.12 has no venv (on Debian and Ubuntu: apt install python3.12-venv)"
    )  # fmt: skip


def test_rust_is_new_enough(machine: Path) -> None:
    """A machine without Rust, with Debian 12's, or without a linker is told so before anything is compiled."""
    version = "1.90"
    assert toolchain(machine, "rust") == (1, "", f"make: Rust is missing; {version} or later is needed (https://rustup.rs)")
    put(machine, "cargo", "exit 1")
    put(machine, "rustc", "echo rustc 1.63.0")
    assert toolchain(machine, "rust") == (
        1, "", f"make: Rust 1.63.0 is too old; {version} or later is needed (rustup update, or https://rustup.rs)"
    )  # fmt: skip
    put(machine, "rustc", "echo 'rustc 1.101.0-nightly (abc 2026-01-01)'")
    assert toolchain(machine, "rust") == (
        1, "", "make: cc, with which Rust links, is missing (on Debian and Ubuntu: apt install gcc libc6-dev)"
    )  # fmt: skip
    put(machine, "cc", "exit 1")
    assert toolchain(machine, "rust") == (0, "", "")


def test_locks_suit_the_oldest_python() -> None:
    """The packages are locked for Debian 12's Python 3.11.2, so that none asks for a later patch."""
    for name in ("requirements.lock", "requirements-dev.lock"):
        assert "--python-version 3.11.2 " in (ROOT / name).read_text().splitlines()[1], name
