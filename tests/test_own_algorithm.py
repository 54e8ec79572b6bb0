"""Congestion controls in users' own files: they run as built-in ones do, with an identity, parameters and errors."""

import shutil
import subprocess
import textwrap
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import sojourn
from conftest import ROOT, Capture, complaint
from own_files import SCALABLE, SCALABLE_C, WriteScenario, beside_newreno, measured, needs_compiler, own_tcp
from sojourn import api, backends
from sojourn.cli.commands import sojourn as cli
from sojourn.cli.commands import status
from sojourn.plugins import processes

pytestmark = pytest.mark.usefixtures("own_cache")


def built_in(scenario_file: WriteScenario, tcp: str = '"scalable"') -> Path:
    return scenario_file(('tcp = "newreno"', f"tcp = {tcp}"))


@pytest.mark.parametrize(
    ("name", "text"), [("scalable.py", SCALABLE), pytest.param("scalable.c", SCALABLE_C, marks=needs_compiler)]
)
@pytest.mark.parametrize("keys", ["", ", b = 0.5"])
def test_same_as_built_in(scenario_file: WriteScenario, name: str, text: str, keys: str) -> None:
    """An algorithm written line for line after a built-in one gives the same bytes, parameters included."""
    theirs = sojourn.run(own_tcp(scenario_file, name, text, keys), seeds=2)
    ours = sojourn.run(built_in(scenario_file, f'{{ name = "scalable"{keys} }}'), seeds=2)
    assert set(theirs.flows["algorithm"]) == {name}
    assert measured(theirs) == measured(ours)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("rustc") is None, reason="needs rustc")
def test_library_in_rust(scenario_file: WriteScenario, tmp_path: Path) -> None:
    """The example in the documentation is a library that Sojourn loads, and its flows share a link fully, as New Reno's do."""
    guide = (ROOT / "docs/your-own-algorithm.md").read_text(encoding="utf-8")
    example = guide[guide.index("    use std::ffi") :].partition("\n## ")[0]
    (tmp_path / "mine.rs").write_text(textwrap.dedent(example), encoding="utf-8")
    rustc = ["rustc", "--edition", "2024", "--crate-type", "cdylib", "-o", "libmine.so", "mine.rs"]
    subprocess.run(rustc, cwd=tmp_path, check=True, capture_output=True)
    theirs = sojourn.run(scenario_file(('tcp = "newreno"', 'tcp = { file = "libmine.so" }')))
    ours = sojourn.run(built_in(scenario_file, '"newreno"'))
    assert set(theirs.flows["algorithm"]) == {"libmine.so"}
    shares = [result.runs["utilisation"].item() for result in (theirs, ours)]
    assert shares[0] == pytest.approx(shares[1], abs=0.05)


def test_source_is_identity(scenario_file: WriteScenario, tmp_path: Path) -> None:
    """Editing a file makes its runs new; the others and the results of the earlier text stay."""
    path = beside_newreno(own_tcp(scenario_file, "mine.py", SCALABLE), "mine.py")
    out = tmp_path / "out"
    first = sojourn.run(path, out=out).runs
    assert set(first["flows.*.tcp"]) == {"mine.py", "newreno"}
    (tmp_path / "mine.py").write_text(SCALABLE.replace("0.125", "0.25"), encoding="utf-8")
    second = sojourn.run(path, out=out).runs
    keys = dict(first.select("flows.*.tcp", "key").rows())
    renewed = dict(second.select("flows.*.tcp", "key").rows())
    assert renewed["newreno"] == keys["newreno"]
    assert renewed["mine.py"] != keys["mine.py"]
    with sojourn.open(out) as store:
        assert keys["mine.py"] in set(store.sql("select key from runs")["key"])


def test_source_is_kept(scenario_file: WriteScenario) -> None:
    """A result has the text of what made it, in its specification."""
    runs = sojourn.run(own_tcp(scenario_file, "mine.py", SCALABLE)).runs
    assert "Scalable TCP in Python" in runs["specification"][0]


def test_parameters_are_swept(scenario_file: WriteScenario) -> None:
    """A parameter that a file declares is an axis; a greater decrease leaves a smaller mean queue (sawtooth)."""
    path = own_tcp(scenario_file, "mine.py", SCALABLE)
    sweep = '\n[sweep.axes]\n"flows.*.tcp.b" = [0.05, 0.5]\n'
    text = path.read_text(encoding="utf-8").replace('name = "codel", ', 'name = "droptail", ')
    path.write_text(text + sweep, encoding="utf-8")
    queues = sojourn.run(path).queues
    means = dict(queues.select("flows.*.tcp.b", "mean_packets").rows())
    assert means["0.05"] > means["0.5"]


def test_paths_from_the_scenario(scenario_file: WriteScenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file is looked for beside the scenario, not where the command runs."""
    path = own_tcp(scenario_file, "mine.py", SCALABLE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert sojourn.run(path).runs.height == 1


def test_describe_own_file(tmp_path: Path) -> None:
    """``sojourn describe`` shows a file's title, source and parameters as a built-in's."""
    (tmp_path / "mine.py").write_text(SCALABLE, encoding="utf-8")
    shown = CliRunner().invoke(cli, ["describe", str(tmp_path / "mine.py")]).output
    for text in ("mine.py: Scalable TCP in Python, a congestion control", "Kelly", "0.125", "from 0 to 1", "Decrease on loss"):
        assert text in shown, shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_of_the_kind\n", "mine.py:1: its top level: ModuleNotFoundError"),
        ("def x(:\n", "mine.py:1: SyntaxError"),
        ("x = 1\n", "no class extends CongestionControl or Queue"),
        (SCALABLE.replace("def increase", "def grow"), "defines no increase"),
        (SCALABLE.replace("0.125, least=0", "7.0, least=0"), "parameter b: its default 7.0 is out of range"),
        (SCALABLE.replace("0.125, least=0", "'x', least=0"), "parameter b: its default 'x' is not a number"),
        (SCALABLE.replace("a = number(0.01", "file = number(0.01"), "its name is taken"),
        (SCALABLE + "\nclass Other(CongestionControl):\n    pass\n", "several classes extend CongestionControl"),
        ("import os\nos._exit(3)\n", "ended its process with status 3"),
    ],
)
def test_bad_files(scenario_file: WriteScenario, capsys: Capture, tmp_path: Path, text: str, said: str) -> None:
    """A file that cannot be an algorithm is one line and status 2, and nothing is run."""
    path = own_tcp(scenario_file, "mine.py", text)
    assert status(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    line = complaint(capsys)
    assert "flows[0].tcp" in line
    assert said in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('{ file = "missing.py" }', "No such file"),
        ('{ file = "mine.rs" }', '"mine.rs" is not a file of an algorithm'),
        ('{ file = "mine.py", name = "cubic" }', 'give either "name" or "file"'),
        ('{ file = "mine.py", c = 1 }', 'unknown key of mine.py "c"'),
        ('{ file = "mine.py", b = 2 }', "b: 2.0 is out of range"),
        ('"mine.py"', 'write { file = "mine.py" }'),
    ],
)
def test_bad_tables(scenario_file: WriteScenario, capsys: Capture, tmp_path: Path, table: str, said: str) -> None:
    """A table that names a file in a wrong way, or sets what it does not declare, is one line and status 2."""
    (tmp_path / "mine.py").write_text(SCALABLE, encoding="utf-8")
    assert status(["run", str(built_in(scenario_file, table))]) == 2
    assert said in complaint(capsys)


LOSES = "event.flight_size is not None:"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (LOSES, "event.missing:", "mine.py:22: on_congestion: AttributeError"),
        ("self.growth = Growth()", "1 / 0", "mine.py:16: __init__: ZeroDivisionError"),
        ("self.growth.additive(", "window.cwnd = 1.5 or (", "mine.py:19: increase: TypeError: cwnd: 1.5 is not a whole number"),
        (
            "self.growth.additive(",
            "window.cwnd = 12 or (",
            "mine.py:19: increase: ValueError: cwnd: 12 bytes are less",
        ),
        (LOSES, "window.cwnd:\n            raise SystemExit(0)", "mine.py:23: on_congestion: SystemExit"),
    ],
)
def test_failing_hooks(scenario_file: WriteScenario, tmp_path: Path, old: str, new: str, said: str) -> None:
    """A hook that raises or sets nonsense fails its run, with the user's own line; the other runs are kept."""
    assert old in SCALABLE
    path = beside_newreno(own_tcp(scenario_file, "mine.py", SCALABLE.replace(old, new)), "mine.py")
    with pytest.raises(sojourn.RunFailed) as failed:
        sojourn.run(path, out=tmp_path / "out")
    assert said in str(failed.value)
    with sojourn.open(tmp_path / "out") as store:
        assert store.sql('select "flows.*.tcp" from runs')["flows.*.tcp"].to_list() == ["newreno"]


@pytest.mark.parametrize(("body", "line"), [("while True: pass", 23), ("__import__('time').sleep(60)", 23)])
def test_hook_never_returns(scenario_file: WriteScenario, monkeypatch: pytest.MonkeyPatch, body: str, line: int) -> None:
    """A hook that never returns fails its run with the line it is at."""
    monkeypatch.setattr(processes, "PATIENCE", 0.5)
    path = own_tcp(scenario_file, "mine.py", SCALABLE.replace(LOSES, f"True:\n            {body}\n        if {LOSES}"))
    with pytest.raises(sojourn.RunFailed, match=f"mine.py:{line}: .*has not returned for 0.5 s"):
        sojourn.run(path)


DRAWS = SCALABLE.replace('    source = "', '    draws = "growth"\n    source = "').replace(
    "ack.credit)", "ack.credit * (self.random.unit() < 0.5))"
)


def test_draws_from_its_stream(scenario_file: WriteScenario) -> None:
    """Random numbers come from the run's own stream: the same seed gives the same run, another seed another one."""
    path = own_tcp(scenario_file, "mine.py", DRAWS)
    text = path.read_text(encoding="utf-8").replace('duration = "4 s"', 'duration = "4 s"\nsender_overhead = "0 s"')
    path.write_text(text.replace('to = "b"', 'to = "b"\nstart = "0 s"'), encoding="utf-8")
    first, second = (sojourn.run(path, seeds=2).flows["bytes_delivered"].to_list() for _ in range(2))
    assert first == second
    assert first[:2] != first[2:]


@needs_compiler
def test_compiler_has_its_say(scenario_file: WriteScenario, capsys: Capture) -> None:
    """What does not compile is one line and status 2, with the compiler's own output below it."""
    path = own_tcp(scenario_file, "mine.c", SCALABLE_C.replace("double a, b;", "double a, b"))
    assert status(["run", str(path)]) == 2
    first, *output = capsys.readouterr().err.splitlines()
    assert first.endswith("mine.c: does not compile (cc)")
    assert any("mine.c:6:" in line and "error" in line for line in output), output


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "(.title =",
            "(.version = 9, .title =",
            "wants version 9 of sojourn.h; this Sojourn has version 1",
        ),
        (".increase = increase,", "", "defines no increase"),
        ("0.125, 0, 1", "7, 0, 1", "parameter b: its default 7.0 is out of range"),
        ("double a, b;", "float a; double b;", "parameter a: a number is held in a double of 8 bytes, not 4"),
        ("sojourn_additive(", "lacking(window); sojourn_additive(", "undefined symbol: lacking"),
    ],
)
def test_bad_libraries(scenario_file: WriteScenario, capsys: Capture, old: str, new: str, said: str) -> None:
    """A library that wants a newer header, lacks hooks or symbols, or declares nonsense is one line and status 2."""
    assert old in SCALABLE_C
    text = SCALABLE_C.replace(old, new, 1)
    if "lacking" in new:
        text = text.replace("struct scalable {", "void lacking(void *);\n\nstruct scalable {", 1)
    assert status(["run", str(own_tcp(scenario_file, "mine.c", text))]) == 2
    assert said in complaint(capsys)


@needs_compiler
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("*(volatile int *)0 = 1;", "mine.c: crashed with SIGSEGV"),
        ("window->cwnd = 0;", "mine.c: increase set cwnd to "),
        ('for (;;) __asm__ volatile("");', "mine.c: a hook has not returned for 0.5 s"),
    ],
)
def test_failing_libraries(
    scenario_file: WriteScenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    """C that crashes, sets nonsense or never returns fails its run; the process goes on, and the other runs are kept."""
    monkeypatch.setattr(processes, "PATIENCE", 0.5)
    begins = "struct scalable *self = state;"
    text = SCALABLE_C.replace(begins, f"{begins}\n{body}", 1)
    path = beside_newreno(own_tcp(scenario_file, "mine.c", text), "mine.c")
    with pytest.raises(sojourn.RunFailed) as failed:
        sojourn.run(path, out=tmp_path / "out")
    assert said in str(failed.value)
    with sojourn.open(tmp_path / "out") as store:
        assert store.sql('select "flows.*.tcp" from runs')["flows.*.tcp"].to_list() == ["newreno"]


def test_cancelled_run(scenario_file: WriteScenario) -> None:
    """Cancelling the backend ends a run in another process; its result is lost, and nothing else."""
    run = api.single_run(own_tcp(scenario_file, "mine.py", SCALABLE), changes={"duration": "1000000 s"})
    backend = backends.named("simulator")
    timer = threading.Timer(0.5, backend.cancel)
    timer.start()
    with pytest.raises(sojourn.RunCancelled):
        backend.run(run.specification)
    timer.join()


def test_process_ends_with_parent() -> None:
    """The process of users' code ends when the one that started it closes the connection, as it does when it is killed."""
    worker = processes.Worker()
    worker._connection.close()
    assert worker._process.wait(timeout=10) == 0


def test_watched_and_exported(scenario_file: WriteScenario, tmp_path: Path) -> None:
    """A run with a user's file can be watched and exported; a hook that fails is one line and status 1."""
    path = own_tcp(scenario_file, "mine.py", SCALABLE)
    run = api.single_run(path)
    steps = backends.stepping("simulator").step(run.specification)
    assert [moment.time for moment in steps.moments(2 * 10**12)] == [2.0, 4.0]
    assert steps.result().flows.equals(backends.named("simulator").run(run.specification).flows)
    packets = backends.recording("simulator").capture(run.specification, 0, tmp_path / "mine.pcapng", "")
    assert packets > 1000
    failing = api.single_run(own_tcp(scenario_file, "mine.py", SCALABLE.replace("self.growth.additive(", "1 / 0, (")))
    with pytest.raises(sojourn.RunFailed, match=r"mine.py:19: increase: ZeroDivisionError"):
        list(backends.recording("simulator").connections(failing.specification, 10**12))
