"""The command line in a process of its own: signals, pipes and terminals."""

import contextlib
import json
import os
import pty
import resource
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from own_files import SCALABLE, own_tcp

ScenarioFile = Callable[..., Path]


def finished_runs(store: Path) -> int:
    """Returns how many runs another process has finished in a store; 0 while it creates the store."""
    journal = store / "journal.sqlite"
    try:
        with contextlib.closing(sqlite3.connect(f"{journal.absolute().as_uri()}?mode=ro", uri=True)) as database:
            count: int = database.execute("SELECT count(*) FROM finished").fetchone()[0]
            return count
    except sqlite3.OperationalError:
        return 0


def test_interrupt_keeps_finished_runs(tmp_path: Path) -> None:
    """An interrupted reproduction keeps the finished runs, reports them, and exits with status 130."""
    command = [sys.executable, "-c", "import sojourn.cli; sojourn.cli.main()", "reproduce", "piotrowska", "--seeds", "50"]
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*command, "--only", "load=UC", "--only", "scenario=AL", "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not finished_runs(out):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "runs finished; their results are in" in complaints
    assert "Traceback" not in complaints
    runs = pl.read_parquet(out / "runs.parquet")
    assert 0 < runs.height < 600
    flows = pl.read_parquet(out / "flows.parquet")
    assert set(flows["key"]) == set(runs["key"])
    assert not (out / "unfinished").exists()


def test_closed_pipe_is_no_error() -> None:
    """A reader that closes the pipe early, such as `head`, causes no error message."""
    command = f"{sys.executable} -c 'import sojourn.cli; sojourn.cli.main()' schema | head -n 1"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, env={**os.environ})
    assert shown.stderr == ""


def test_module_is_the_command() -> None:
    """`python -m sojourn` is the command line, and calls itself `sojourn`."""
    command = [sys.executable, "-m", "sojourn", "describe", "nonsense"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert shown.stderr.startswith('sojourn: unknown name "nonsense"')


def test_progress_on_terminal(scenario_file: ScenarioFile) -> None:
    """The bar shows finished runs and simulated seconds a second on stderr, here a terminal, and not on stdout."""
    terminal, stderr = pty.openpty()
    command = [sys.executable, "-c", "import sojourn.cli; sojourn.cli.main()", "run", str(scenario_file()), "--seeds", "3"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, check=True, env=environment)
    os.close(stderr)
    progress = b""
    with contextlib.suppress(OSError):  # the terminal's other end has been closed
        while piece := os.read(terminal, 65536):
            progress += piece
    os.close(terminal)
    assert b"3/3" in progress
    assert b"simulated s/s" in progress
    assert b"simulated s/s" not in shown.stdout


@pytest.mark.parametrize("command", ["watch", pytest.param("demo", marks=pytest.mark.long)])
def test_interrupt_restores_terminal(scenario_file: ScenarioFile, tmp_path: Path, command: str) -> None:
    """On a terminal, an interrupt ends the view, restores the cursor and prints one line."""
    path = scenario_file(('"4 s"', '"1000 s"'))
    rest = [str(path), "--speed", "20"] if command == "watch" else ["--out", str(tmp_path / "out")]
    terminal, inside = pty.openpty()
    program = "import sys; from sojourn.cli import main; sys.argv[0] = 'sojourn'; main()"
    arguments = [sys.executable, "-c", program, command, *rest]
    process = subprocess.Popen(arguments, stdin=inside, stdout=inside, stderr=inside, start_new_session=True)
    os.close(inside)
    seen = b""
    interrupted = False
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end has been closed
            break
        seen += piece
        if not interrupted and b"sojourn ms" in seen:
            interrupted = True
            process.send_signal(signal.SIGINT)
    os.close(terminal)
    assert process.wait(timeout=30) == 130
    assert (b"left->right" if command == "watch" else b"droptail") in seen
    hidden, shown = seen.rfind(b"\x1b[?25l"), seen.rfind(b"\x1b[?25h")
    assert hidden < shown, "the cursor must be shown again"
    assert seen.endswith(b"sojourn: interrupted\r\n")


@pytest.mark.parametrize("into", ["", pytest.param(" | cat", marks=pytest.mark.long)])
def test_debugger_has_the_terminal(scenario_file: ScenarioFile, into: str) -> None:
    """`breakpoint()` in a hook stops `watch`, drawn or as lines, with the hook's line and a prompt; what is typed is read."""
    hook = "    def on_congestion(self, window, event):\n"
    path = own_tcp(scenario_file, "mine.py", SCALABLE.replace(hook, f"{hook}        breakpoint()\n"))
    command = f'"{sys.executable}" -m sojourn watch "{path}" --speed max{into}'
    terminal, inside = pty.openpty()
    process = subprocess.Popen(["sh", "-c", command], stdin=inside, stdout=inside, stderr=inside, start_new_session=True)
    os.close(inside)
    seen, typed = b"", [b"p event.kind\n", b"c\n", b"q\n"]
    try:
        while typed or b"BdbQuit" not in seen:
            assert select.select([terminal], [], [], 30)[0], seen[-500:]
            seen += os.read(terminal, 65536)
            if typed and seen.endswith(b"(Pdb) "):
                os.write(terminal, typed.pop(0))
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        os.close(terminal)
    assert b"\r\n'loss'\r\n" in seen
    assert b"-> if event.flight_size is not None:" in seen
    assert b"mine.py:23: on_congestion: BdbQuit" in seen


@pytest.mark.parametrize("kibibytes", [700_000, pytest.param(1_200_000, marks=pytest.mark.long)])
def test_small_address_space_refused(kibibytes: int, tmp_path: Path) -> None:
    """A command under a small `ulimit -v` ends at once with one line, whatever its libraries would do with so little."""
    command = [sys.executable, "-c", "import sojourn.cli; sojourn.cli.main()", "query", str(tmp_path), "select 1"]
    limit = (kibibytes * 1024, kibibytes * 1024)
    process = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    assert process.returncode == 1
    assert (
        process.stderr == f"sojourn: address space is limited to {kibibytes} KiB (ulimit -v); at least 2000000 KiB are needed\n"
    )


MAIN = [sys.executable, "-c", "import sys; from sojourn.cli import main; sys.argv[0] = 'sojourn'; main()"]


def one_line(process: "subprocess.CompletedProcess[str]") -> bool:
    return process.stderr.startswith("sojourn: ") and process.stderr.count("\n") == 1


def test_few_open_files_refused(scenario_file: ScenarioFile) -> None:
    """A command under a small `ulimit -n` ends at once with one line, whatever its libraries would do with so few."""
    process = subprocess.run(
        [*MAIN, "run", str(scenario_file())],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)),
    )
    assert process.returncode == 1
    assert process.stderr == "sojourn: open files are limited to 8 (ulimit -n); at least 64 are needed\n"


def test_limited_files_say_so(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """A command that meets `ulimit -f` in the journal says so in one line; one that makes no store leaves nothing."""
    for limit, status, told in (
        (8_192, 1, "(files are limited to 8 KiB, ulimit -f); finished runs are kept"),
        (100, 2, "File too"),
    ):
        out = tmp_path / str(limit)
        process = subprocess.run(
            [*MAIN, "run", str(scenario_file()), "--out", str(out)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit)),
        )
        assert process.returncode == status
        assert one_line(process)
        assert told in process.stderr
    assert not list(out.iterdir())


@pytest.mark.parametrize("options", [[], ["--json"], pytest.param(["--csv"], marks=pytest.mark.long)])
def test_closed_output(options: list[str], scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """With standard output closed a command does its work and says nothing; no file that it opens takes the output's place."""
    command = [*MAIN, "run", str(scenario_file()), "--out", str(tmp_path / "out"), *options]
    process = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, preexec_fn=lambda: os.close(1))
    assert (process.returncode, process.stderr) == (0, "")
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet").height == 1


def test_locale_without_letters(scenario_file: ScenarioFile) -> None:
    """A letter that the output's encoding lacks is ``?`` in a table; JSON and CSV are UTF-8 in any locale."""
    command = [*MAIN, "run", str(scenario_file(('to = "b"', 'to = "b"\ngroup = "größe"')))]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    for options, told in (([], b"gr??e"), (["--json"], "größe".encode()), (["--csv"], "größe".encode())):
        process = subprocess.run([*command, *options], capture_output=True, check=False, env=environment)
        assert (process.returncode, process.stderr) == (0, b"")
        assert told in process.stdout


@pytest.mark.parametrize("kibibytes", [pytest.param(4_000_000, marks=pytest.mark.long), 36_000_000])
def test_no_room_to_draw(kibibytes: int, scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """`plot` under a `ulimit -v` in which its JavaScript engine would end the process is one line, and no file is begun."""
    out = tmp_path / "out"
    subprocess.run([*MAIN, "run", str(scenario_file()), "--out", str(out)], capture_output=True, check=True)
    limit = (kibibytes * 1024, kibibytes * 1024)
    process = subprocess.run(
        [*MAIN, "plot", str(out), "--figure", "box-sojourn-mean", "--out", str(tmp_path / "figure.png")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    assert (process.returncode, one_line(process)) == (1, True), process.stderr
    assert f"address space is limited to {kibibytes} KiB (ulimit -v); drawing needs 80000000 KiB" in process.stderr
    assert not (tmp_path / "figure.png").exists()


@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGKILL])
def test_own_code_ends_with_command(number: signal.Signals, tmp_path: Path) -> None:
    """When a command ends, the process of users' code does too, although a hook holds the interpreter's lock."""
    begun = tmp_path / "begun"
    hook = f"open({str(begun)!r}, 'w').write(str(os.getpid()) + '.')\n        sum(range(10**12))"
    mine = f"""
import os
from sojourn.plugins import CongestionControl

class Mine(CongestionControl):
    def increase(self, window, ack):
        {hook}

    def on_congestion(self, window, event):
        window.set_ssthresh(event.flight_size / 2)
        {hook}
"""
    (tmp_path / "mine.py").write_text(mine, encoding="utf-8")
    command = subprocess.Popen([*MAIN, "check", str(tmp_path / "mine.py")], stderr=subprocess.DEVNULL)
    wait_until(lambda: begun.exists() and begun.read_text(encoding="utf-8").endswith("."))
    worker = Path("/proc", begun.read_text(encoding="utf-8").rstrip("."), "stat")
    command.send_signal(number)
    assert command.wait(timeout=60) == (143 if number == signal.SIGTERM else -signal.SIGKILL)
    # Gone, or a zombie that nobody has waited for.
    wait_until(lambda: not worker.exists() or worker.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z")


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for something that happens soon."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_complete_store_is_read_only(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """Of a complete store on a read-only disk `run` shows the tables, and `query` answers; nothing on it changes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=50m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    run = [*MAIN, "run", str(scenario_file()), "--out", str(disk / "out")]
    try:
        made = subprocess.run(run, capture_output=True, text=True, check=True)
        before = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        again = subprocess.run([*run, "--jobs", "1"], capture_output=True, text=True, check=False)
        assert (again.returncode, again.stdout) == (0, made.stdout), again.stderr
        query = [*MAIN, "query", str(disk / "out"), "select count(*) as n from flows", "--csv"]
        assert subprocess.run(query, capture_output=True, text=True, check=True).stdout.split() == ["n", "2"]
        more = subprocess.run([*run, "--seeds", "2"], capture_output=True, text=True, check=False)
        assert more.returncode == 1
        assert "attempt to write a readonly database; finished runs are kept" in more.stderr
        assert {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()} == before
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_works_without_pyarrow(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """Only `to_pandas()` needs pyarrow: a store is made, extended, queried and drawn without it; queries leave stderr empty."""
    without = """
import json, sys
sys.modules["pyarrow"] = None
from sojourn.cli.commands import status
for arguments in json.loads(sys.argv[1]):
    assert status(arguments) == 0, arguments
"""
    out = str(tmp_path / "out")
    making = [
        ["run", str(scenario_file()), "--out", out],
        ["run", str(scenario_file()), "--out", out, "--seeds", "2"],
        ["report", out],
        ["plot", out, "--figure", "delay-goodput", "--out", str(tmp_path / "figure.svg")],
    ]
    asking = [
        ["query", out, f"select {what}"] for what in ("count(*) as n from runs, transfers", "seed, jain from runs group by all")
    ]
    for commands in (making, asking):
        done = subprocess.run([sys.executable, "-c", without, json.dumps(commands)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert not done.stderr


INTERRUPTED_WHILE_WRITING = """
import os, signal, sys
from sojourn.cli import main
from sojourn.store.parquet import Writer

read = Writer._read

def interrupted(self, *arguments):
    for piece in read(self, *arguments):
        os.kill(os.getpid(), signal.SIGINT)
        yield piece

Writer._read = interrupted
sys.argv[0] = "sojourn"
main()
"""


def test_interrupt_while_files_are_written(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """An interrupt while polars writes results is one line and status 130; the next command has every result."""
    out = str(tmp_path / "out")
    arguments = ["run", str(scenario_file()), "--out", out]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_WRITING, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines()[1:] == ["sojourn: interrupted"]
    assert not (tmp_path / "out" / "runs.parquet").exists()
    again = subprocess.run([sys.executable, "-m", "sojourn", *arguments], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert again.stderr.startswith("1 of 1 run found")
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet").height == 1
