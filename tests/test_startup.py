"""The command line and the package load little at start, and an interrupt is one line at any time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sojourn.cli.commands import COMMANDS

#: Packages that take long to load.
HEAVY = {"polars", "numpy", "scipy", "duckdb", "altair", "pydantic", "pyarrow", "distributed"}

MAIN = "import sys; from sojourn.cli import main; sys.argv[0] = 'sojourn'; main()"

#: Writes a byte once interrupts are caught.
READY = (
    "from sojourn.cli import interrupts; catch = interrupts.catch; "
    "interrupts.catch = lambda: (catch(), __import__('os').write(1, b'.')); main()"
)


def loaded(program: str, *arguments: str) -> set[str]:
    """Returns the packages that a program has loaded when it ends."""
    show = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    command = [sys.executable, "-c", f"{show}; {program}", *arguments]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in shown.stderr.split()}


def test_package_loads_lazily() -> None:
    """`import sojourn` loads no large package until a function that needs it is used."""
    assert not loaded("import sojourn") & {*HEAVY, "click", "rich"}
    assert "polars" in loaded("import sojourn; sojourn.run")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        *([command, "--help"] for command in COMMANDS),
        ["list", "tcp"],
        ["list", "queues"],
        ["list", "profiles"],
        ["list", "studies"],
        ["list", "metrics"],
        ["list", "figures"],
        ["describe", "cubic"],
        ["describe", "linux-6"],
        ["describe", "piotrowska"],
    ],
    ids=" ".join,
)
def test_small_commands_load_little(arguments: list[str]) -> None:
    """Help, `list` and `describe` load none of the large packages."""
    assert not loaded(MAIN, *arguments) & HEAVY


def test_completion_loads_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Completion loads none of the large packages, and completes names of backends."""
    monkeypatch.setenv("_SOJOURN_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "sojourn run --backend s")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert not loaded(MAIN) & HEAVY
    shown = subprocess.run([sys.executable, "-c", MAIN], capture_output=True, text=True, check=True)
    assert shown.stdout == "plain,simulator\n"


@pytest.mark.parametrize("milliseconds", [0, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1000])
def test_interrupt_is_one_line(milliseconds: int, tmp_path: Path) -> None:
    """An interrupt at any time after the command line has begun to catch it is one line and status 130."""
    program = MAIN.replace("main()", READY)
    arguments = ["reproduce", "piotrowska", "--seeds", "50", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )
    assert process.stdout is not None
    assert process.stdout.read(1) == b"."
    time.sleep(milliseconds / 1000)
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=60)
    lines = complaints.decode().splitlines()
    assert lines[-1] == "sojourn: interrupted"
    assert process.returncode == 130
    # During runs, a line before it says how many have finished.
    assert len(lines) == 1 or (len(lines) == 2 and "runs finished" in lines[0])
