"""The command line and the package load little at start, and a signal is one line at any time."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sojourn
from conftest import ROOT, SMALL_TOML
from sojourn.cli.commands import COMMANDS
from sojourn.store import Store

#: Packages that take long to load.
HEAVY = {"polars", "numpy", "duckdb", "altair", "pydantic", "pyarrow", "distributed"}

MAIN = "import sys; from sojourn.cli import main; sys.argv[0] = 'sojourn'; main()"

#: Writes a byte once interrupts are caught.
READY = (
    "from sojourn.cli import interrupts; catch = interrupts.catch; "
    "interrupts.catch = lambda: (catch(), __import__('os').write(1, b'.')); main()"
)


def run_and_show(program: str, *arguments: str) -> str:
    """Returns what a program writes to stderr, and a line of the modules loaded when it, and each of its forks, ends."""
    show = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    command = [sys.executable, "-c", f"{show}\n{program}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def packages(modules: str) -> set[str]:
    return {name.partition(".")[0] for name in modules.split()}


def loaded(program: str, *arguments: str) -> set[str]:
    """Returns the packages that a program has loaded when it ends."""
    return packages(run_and_show(program, *arguments))


def test_package_loads_lazily() -> None:
    """`import sojourn` loads no large package until a function that needs it is used."""
    assert not loaded("import sojourn") & {*HEAVY, "click", "rich"}
    of_a_run = loaded("import sojourn; sojourn.run")
    assert "polars" in of_a_run
    assert not of_a_run & {"altair", "duckdb", "distributed", "sklearn", "scipy"}, "what only figures, queries and searches need"


def test_a_run_loads_nothing_that_learns(tmp_path: Path) -> None:
    """A run without an agent loads none of the packages of ``sojourn[learning]``, nor what reads policies in ONNX."""
    (tmp_path / "small.toml").write_text(SMALL_TOML, encoding="utf-8")
    modules = run_and_show(f"import sojourn; sojourn.run({str(tmp_path / 'small.toml')!r})").split()
    assert "sojourn.backends.simulator" in modules
    assert not packages(" ".join(modules)) & {"gymnasium", "pettingzoo", "onnx"}
    assert not {"sojourn.environment", "sojourn.policies.onnx"} & set(modules)


def test_registries_import_nothing_heavy() -> None:
    """Importing the registries loads no package that computes or draws, so that commands that list entries start fast."""
    code = f"""
import sys
from types import ModuleType

package = ModuleType("sojourn")  # avoids running sojourn/__init__.py
package.__path__ = [{str(ROOT / "python" / "sojourn")!r}]
sys.modules["sojourn"] = package

from sojourn import figures

assert figures.available()
print({{"numpy", "polars", "altair"}} & sys.modules.keys())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


SMALL_COMMANDS = [
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
]

#: Carries out commands, each in a fork of a process that has loaded what all of them need.
IN_FORKS = """
import json, os, sys
from sojourn.cli import commands, main
for arguments in json.loads(sys.argv[1]):
    if os.fork() == 0:
        sys.argv = ["sojourn", *arguments]
        main()
    status = os.waitstatus_to_exitcode(os.wait()[1])
    assert status == 0, (arguments, status)
"""


def test_small_commands_load_little() -> None:
    """Help, `list` and `describe` load none of the large packages."""
    shown = run_and_show(IN_FORKS, json.dumps(SMALL_COMMANDS)).splitlines()
    for arguments, line in zip([*SMALL_COMMANDS, ["what all need"]], shown, strict=True):
        assert not packages(line) & HEAVY, arguments


def test_completion_loads_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Completion loads none of the large packages, and completes names of backends."""
    monkeypatch.setenv("_SOJOURN_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "sojourn run --backend s")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert not loaded(MAIN) & HEAVY
    shown = subprocess.run([sys.executable, "-c", MAIN], capture_output=True, text=True, check=True)
    assert shown.stdout == "plain,simulator\n"


#: Commands that take long enough to be interrupted, in a directory that has a sweep and its results.
COMMANDS_TO_END = {
    "reproduce": ["reproduce", "piotrowska", "--seeds", "50", "--out", "study"],
    "run": ["run", "sweep.toml", "--seeds", "5000"],
    "watch": ["watch", "sweep.toml", "--only", "tcp=cubic"],
    "report": ["report", "out"],
    "plot": ["plot", "out", "--figure", "fairness"],
    "query": ["query", "out", "select count(*) from range(1000000000) a, range(1000) b where (a.range + b.range) % 7 = 0"],
}

SWEEP = """
[sweep.axes]
tcp = { key = "flows.0.tcp", values = ["cubic", "newreno"] }
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a directory that has a sweep and its results."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "sweep.toml").write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    sojourn.run(folder / "sweep.toml", out=folder / "out")
    return folder


def end(arguments: list[str], folder: Path, *signals: tuple[float, int]) -> tuple[int, list[str]]:
    """Sends signals to a command, each so many seconds after the last; returns its exit status and the lines on stderr.

    The first is counted from when the command line has begun to catch signals.
    """
    program = MAIN.replace("main()", READY)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    )
    try:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"."
        for seconds, number in signals:
            time.sleep(seconds)
            process.send_signal(number)
        _, complaints = process.communicate(timeout=60)
    finally:
        process.kill()  # which does nothing if it has ended
    return process.returncode, complaints.decode().splitlines()


ENDED = {signal.SIGINT: (130, "sojourn: interrupted"), signal.SIGTERM: (143, "sojourn: terminated")}


#: Those that are not long.
SOME_ENDS = [("reproduce", 0, signal.SIGTERM), ("run", 150, signal.SIGINT), ("watch", 1000, signal.SIGTERM)]

MILLISECONDS = (0, 20, 50, 100, 150, 200, 250, 300, 400, 500, 700, 1000, 1500, 2500)

#: Each command at each of these times, with the two signals in turn.
ENDS = [
    (command, milliseconds, list(ENDED)[(row + column) % 2])
    for row, command in enumerate(COMMANDS_TO_END)
    for column, milliseconds in enumerate(MILLISECONDS)
]


@pytest.mark.parametrize(
    ("command", "milliseconds", "number"),
    [*SOME_ENDS, *(pytest.param(*way, marks=pytest.mark.long) for way in ENDS if way not in SOME_ENDS)],
)
def test_signal_is_one_line(command: str, milliseconds: int, number: signal.Signals, place: Path) -> None:
    """A signal at any time after the command line has begun to catch it is one line, and 128 and its number the status."""
    status, lines = end(COMMANDS_TO_END[command], place, (milliseconds / 1000, number))
    if status == 0 and command in ("plot", "report"):
        return  # it was done before
    assert (status, lines[-1]) == ENDED[number]
    # During runs, a line before it says how many have finished.
    assert len(lines) == 1 or (len(lines) == 2 and "runs finished" in lines[0])


#: A command that a signal ends while an object of DuckDB is still referred to, as it may be by a module half loaded.
REFERRED = """
import ctypes, os, signal, duckdb
from sojourn.cli import commands, main
def status(arguments):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(duckdb.connect()))
    os.kill(os.getpid(), signal.SIGTERM)
commands.status = status
main()
"""


def test_signal_is_one_line_whatever_is_left() -> None:
    """Nothing is said of objects that a command was using when a signal came."""
    done = subprocess.run([sys.executable, "-c", REFERRED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "sojourn: terminated\n")


def test_signal_leaves_no_folder(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that a signal ends leaves nothing in the temporary directory."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = MAIN.replace("main()", READY)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *COMMANDS_TO_END["query"]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=place,
    )
    try:
        deadline = time.monotonic() + 30
        while not list(tmp_path.iterdir()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143
    finally:
        process.kill()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "seconds", [0.0, *(pytest.param(seconds, marks=pytest.mark.long) for seconds in (0.001, 0.01, 0.05, 0.1, 0.2))]
)
def test_second_signal_ends_at_once(seconds: float, place: Path) -> None:
    """Two signals in a row end the command too, with the status of the first and no traceback, and the store stays whole."""
    out = str(place / f"twice-{seconds}")
    arguments = ["run", "sweep.toml", "--seeds", "5000", "--out", out]
    status, lines = end(arguments, place, (2.0, signal.SIGINT), (seconds, signal.SIGTERM))
    assert (status, lines[-1]) == ENDED[signal.SIGINT]
    assert len(lines) <= 2
    with Store(Path(out), create=True, notify=pytest.fail) as store:
        assert store.runs.height == len(store)
