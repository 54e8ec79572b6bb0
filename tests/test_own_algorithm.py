"""Congestion controls in users' own files: they run as built-in ones do, with an identity, parameters and errors."""

import re
import shutil
import subprocess
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import sojourn
from conftest import ROOT, Capture, complaint
from own_files import CODEL, SCALABLE, SCALABLE_C, WriteScenario, beside_newreno, measured, needs_compiler, own_queue, own_tcp
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


def test_example_of_the_guide(tmp_path: Path) -> None:
    """The first example of the documentation has the properties of the built-in algorithms."""
    guide = (ROOT / "docs/your-own-algorithm.md").read_text(encoding="utf-8")
    text = textwrap.dedent(guide[guide.index("    from sojourn.plugins") :].partition("\nA file has")[0])
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    checked = CliRunner().invoke(cli, ["check", str(tmp_path / "mine.py")])
    assert checked.exit_code == 0, checked.output


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
        (SCALABLE.replace("a = number(0.01", "flow = number(0.01"), "flow: its name is taken by what instances are told"),
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


@needs_compiler
def test_constructor_without_end(scenario_file: WriteScenario, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A library whose constructor does not return is one line and status 2, although it holds the interpreter's lock."""
    monkeypatch.setattr(processes, "PATIENCE", 1.0)
    endless = "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { for (;;) pause(); }"
    assert status(["check", str(own_tcp(scenario_file, "mine.c", f"{SCALABLE_C}\n{endless}\n"))]) == 2
    assert "mine.c: did not return when it was loaded" in complaint(capsys)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import os\nos.fork()", "PermissionError: own files start no processes"),
        ("import subprocess\nsubprocess.run(['true'])", "PermissionError: own files start no processes"),
        ("bytearray(4 * 2**30)", "MemoryError"),
    ],
)
def test_limits_of_own_files(line: str, said: str, scenario_file: WriteScenario, capsys: Capture) -> None:
    """A file in Python starts no processes, and has no more memory than a run may have: one line, status 2."""
    assert status(["check", str(own_tcp(scenario_file, "greedy.py", f"{line}\n{SCALABLE}"))]) == 2
    assert said in complaint(capsys)


#: One more hook, for a class that ends the file.
RECORDS = "    def on_ack(self, window, ack):\n        {}\n"

#: Hooks that are no functions of their events: what they draw from, remember and record.
BY_CHANCE = "import random\n" + SCALABLE.replace("ack.credit)", "int(ack.credit * random.random()))")
REMEMBERS = "CALLS = []\n" + SCALABLE.replace("ack.credit)", "ack.credit * len(CALLS))") + RECORDS.format("CALLS.append(1)")
RECORDS_CHANCE = "import random\n" + SCALABLE + RECORDS.format("self.record('base', random.random())")
HEAD = "    def release(self, packet, line, queue):\n"
DROPS_BY_CHANCE = "import random\n" + CODEL.replace(HEAD, f"{HEAD}        return DROP * (random.random() < 0.1)\n")


@pytest.mark.parametrize(
    ("text", "where"),
    [(BY_CHANCE, "event "), (REMEMBERS, "event "), (RECORDS_CHANCE, "a recorded value, seed 1"), (DROPS_BY_CHANCE, "event ")],
)
def test_hooks_are_functions_of_events(text: str, where: str, tmp_path: Path, capsys: Capture) -> None:
    """A hook that draws from elsewhere, or remembers in a global variable, is found; the line says where to draw from."""
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    assert status(["check", str(tmp_path / "mine.py")]) == 1
    said = complaint(capsys)
    assert said.startswith(
        "sojourn: mine.py: a hook is not a function of its events: the same sequence went otherwise the second"
    )
    assert where in said
    assert 'self.random (with draws = "what for")' in said
    # Those that draw from their own stream are.
    (tmp_path / "draws.py").write_text(DRAWS, encoding="utf-8")
    assert status(["check", str(tmp_path / "draws.py")]) == 0


def test_huge_window_is_noted(tmp_path: Path, capsys: Capture) -> None:
    """A window beyond any network's bandwidth-delay product breaks nothing and has a note; a usual one has none."""
    for name, credit in (("usual", "ack.credit)"), ("huge", "ack.credit)\n        window.cwnd = 10**15")):
        (tmp_path / f"{name}.py").write_text(SCALABLE.replace("ack.credit)", credit), encoding="utf-8")
        assert status(["check", str(tmp_path / f"{name}.py")]) == 0
        said = capsys.readouterr().err
        assert said == "" if name == "usual" else "huge.py: set a window of 1,000,000,000,000,000 bytes" in said


def test_run_without_end(scenario_file: WriteScenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of own code whose hooks all return, but which does not end in its time, fails in one line."""
    monkeypatch.setattr(processes, "LONGEST", 1.0)
    path = own_tcp(scenario_file, "mine.py", SCALABLE)
    run = api.single_run(path, changes={"duration": "1000000 s"})
    with pytest.raises(sojourn.RunFailed, match=r"^mine\.py: had not ended after 1 s; make the run shorter$"):
        backends.named("simulator").run(run.specification)


@pytest.mark.parametrize("link", [False, True])
def test_files_elsewhere_need_trust(link: bool, tmp_path: Path, scenario_file: WriteScenario, capsys: Capture) -> None:
    """A file outside the scenario's folder, through a link too, is run if trusted, named in the command, or by a program."""
    path = own_tcp(scenario_file, "mine.py", SCALABLE)
    folder = tmp_path / "downloaded"
    folder.mkdir()
    path = path.rename(folder / path.name)
    name = "link.py" if link else "../mine.py"
    (folder / "link.py").symlink_to(tmp_path / "mine.py")
    path.write_text(path.read_text(encoding="utf-8").replace('"mine.py"', f'"{name}"'), encoding="utf-8")
    for command in ("check", "plan", "run"):
        assert status([command, str(path)]) == 2
        said = complaint(capsys)
        assert f'"{name}" is outside the folder of the scenario, and its code would run; allow that with --trust' in said
    assert status(["check", str(path), "--trust"]) == 0
    assert status(["check", str(path), "--set", f"flows.*.tcp.file={name}"]) == 0
    # Trust is not remembered.
    assert status(["check", str(path)]) == 2
    assert sojourn.load(path).name == "small"


def test_commands_that_take_trust() -> None:
    """Whatever reads scenarios, which it can change with --set, takes --trust; oracle sets parameters of an algorithm by that."""
    context = click.Context(cli)
    commands = [cli.get_command(context, name) for name in cli.list_commands(context)]
    options = {
        str(each.name): {option for param in each.params for option in param.opts} for each in commands if each is not None
    }
    reading = {name for name, taken in options.items() if "--set" in taken}
    assert {"run", "check", "plan", "watch", "export"} <= reading
    assert {name for name in (reading | {"describe", "claims"}) - {"oracle"} if "--trust" not in options[name]} == set()


def test_thread_raises_one_line(scenario_file: WriteScenario, capfd: pytest.CaptureFixture[str]) -> None:
    """What a thread of a user's file raises is one line on stderr, no traceback."""
    processes.POOL.close()
    thread = "\nimport threading\n\ndef fails():\n    raise KeyError('lost')\n\nthreading.Thread(target=fails).start()\n"
    assert status(["check", str(own_tcp(scenario_file, "threads.py", f"{SCALABLE}{thread}"))]) == 0
    processes.POOL.close()
    said = capfd.readouterr().err
    assert re.fullmatch(r"threads\.py:\d+: a thread: KeyError: 'lost'\n", said)


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


#: Records the window it sees at each congestion, by a hook that knows its flow.
RECORDS = SCALABLE.replace(
    "    def on_congestion(self, window, event):\n",
    "    def on_congestion(self, window, event):\n"
    "        self.record('before', window.cwnd)\n"
    "        print(f'{event.kind} of {self.flow}')\n",
)

#: A queue that records its length at each arrival.
RECORDING_QUEUE = """
from sojourn.plugins import Queue


class Mine(Queue):
    def admit(self, packet, line, queue):
        self.record("seen", queue.packets)
        self.record("is_there", self.link == "left->right")
"""

#: The same in C.
RECORDING_QUEUE_C = """
#include <sojourn.h>
#include <string.h>

struct mine {
    struct sojourn_recorder *recorder;
};

static void take_recorder(void *state, struct sojourn_recorder *recorder)
{
    ((struct mine *)state)->recorder = recorder;
}

static uint32_t admit(void *state, const struct sojourn_packet *packet, uint64_t line, const struct sojourn_queue_view *view)
{
    struct sojourn_recorder *recorder = ((struct mine *)state)->recorder;
    sojourn_record(recorder, "seen", (double)view->packets[0]);
    sojourn_record(recorder, "is_there", recorder->flow == SOJOURN_NONE && !strcmp(recorder->which, "left->right"));
    return SOJOURN_PASS;
}

SOJOURN_QUEUE(.title = "Records", .state_bytes = sizeof(struct mine), .take_recorder = take_recorder, .admit = admit);
"""


def test_recorded_values_stand_in_series(scenario_file: WriteScenario, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What a hook records is a row of `series` with its flow, kept by a store; what it prints begins with run and flow."""
    processes.POOL.close()  # those that wait write where stderr was when they were started
    path = own_tcp(scenario_file, "mine.py", RECORDS)
    found = sojourn.run(path, seeds=2, out=tmp_path / "out").series.filter(measure="before")
    shown = capfd.readouterr().err.splitlines()
    assert set(found["which"]) == {"0", "1"}
    assert set(found["kind"]) == {"flow"}
    assert found["time"].is_between(0, 4).all()
    assert (found["value"] >= 1448).all()
    for (seed, flow), rows in found.group_by("seed", "which"):
        lines = [line for line in shown if line.startswith(f"run small/{seed}, flow {flow}: ")]
        assert len(lines) == rows.height
        assert all(line.endswith(f" of {flow}") for line in lines)
    assert sojourn.run(path, seeds=2).series.equals(sojourn.open(tmp_path / "out").series)
    assert status(["plot", str(tmp_path / "out"), "--figure", "series-before", "--out", str(tmp_path / "before.svg")]) == 0
    assert "before" in (tmp_path / "before.svg").read_text(encoding="utf-8")


def test_queue_records(scenario_file: WriteScenario) -> None:
    """A queue discipline's values are of its link, one for each arrival for which there is room."""
    found = sojourn.run(own_queue(scenario_file, "mine.py", RECORDING_QUEUE))
    seen = found.series.filter(measure="seen")
    assert set(seen.select("kind", "which").rows()) == {("queue", "left->right")}
    link = found.queues.filter(link="left->right")
    assert seen.height == (link["total_arrivals"] - link["total_drops"]).item()
    assert set(found.series.filter(measure="is_there")["value"]) == {1.0}


#: The congestion control of the guide's chapter on C.
GUIDE = (ROOT / "docs/your-own-algorithm.md").read_text(encoding="utf-8").partition("\n## In C\n")[2]
RECORDS_C = textwrap.dedent(GUIDE[GUIDE.index("    #include") :].partition("\nWhat cannot")[0])

#: The same in Python.
RECORDS_BASE = """
from sojourn.plugins import CongestionControl, Growth, number


class Mine(CongestionControl):
    beta = number(0.5, least=0, most=1)

    def __init__(self):
        self.growth, self.base = Growth(), float("inf")

    def on_ack(self, window, ack):
        if ack.rtt is not None:
            self.base = min(self.base, ack.rtt)
            self.record("base", self.base)

    def increase(self, window, ack):
        self.growth.additive(window, 1.0, ack.credit)

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.set_ssthresh(self.beta * event.flight_size)
"""


@needs_compiler
@pytest.mark.parametrize(
    ("own", "python", "c", "measures"),
    [(own_tcp, RECORDS_BASE, RECORDS_C, {"base"}), (own_queue, RECORDING_QUEUE, RECORDING_QUEUE_C, {"seen", "is_there"})],
)
def test_c_records_as_python_does(
    scenario_file: WriteScenario, own: Callable[..., Path], python: str, c: str, measures: set[str]
) -> None:
    """One algorithm in C, the guide's, and in Python record the same series to the bit, of flows and of a queue."""
    ours, theirs = (sojourn.run(own(scenario_file, name, text)).series for name, text in (("mine.py", python), ("mine.c", c)))
    assert set(theirs["measure"]) == measures
    assert theirs.height > 1000
    assert theirs.drop("key").equals(ours.drop("key"))


IN_ON_ACK = 'sojourn_record(self->recorder, "base", sojourn_seconds(self->base));'


@needs_compiler
def test_c_knows_its_flow(scenario_file: WriteScenario) -> None:
    """The number of the flow that a file in C is told is that of the rows that the flow records."""
    text = RECORDS_C.replace(IN_ON_ACK, 'sojourn_record(self->recorder, "own", (double)self->recorder->flow);')
    found = sojourn.run(own_tcp(scenario_file, "mine.c", text)).series
    assert set(found.select("which", "value").rows()) == {("0", 0.0), ("1", 1.0)}


@needs_compiler
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('"x", 0.0 / 0.0', 'mine.c: on_ack: record: "x" is NaN, which is no finite number'),
        ('"x", 1.0 / 0.0', 'mine.c: on_ack: record: "x" is inf, which is no finite number'),
        ('"cwnd", 1.0', 'mine.c: on_ack: record: "cwnd" cannot be a name'),
        ("NULL, 1.0", 'mine.c: on_ack: record: "" cannot be a name'),
    ],
)
def test_what_c_cannot_record(scenario_file: WriteScenario, call: str, said: str) -> None:
    """A value that is no finite number and a name of Sojourn's own fail the run in one line that names the file and the hook."""
    text = RECORDS_C.replace(IN_ON_ACK, f"sojourn_record(self->recorder, {call});")
    with pytest.raises(sojourn.RunFailed) as failed:
        sojourn.run(own_tcp(scenario_file, "mine.c", text))
    assert said in str(failed.value)
    assert "\n" not in str(failed.value)


@needs_compiler
def test_c_records_too_early_and_too_much(scenario_file: WriteScenario) -> None:
    """There is no time to record at before the first hook, and no room beyond five million values: one line each."""
    early = RECORDS_C.replace("self->recorder = recorder;", 'self->recorder = recorder;\n    sojourn_record(recorder, "x", 1.0);')
    many = RECORDS_C.replace(IN_ON_ACK, f"for (int again = 0; again <= 5000000; again++)\n        {IN_ON_ACK}")
    for text, said in (
        (early, "mine.c: take_recorder: record: no hook has been called yet"),
        (many, "mine.c: on_ack: record: the run has 5000000 values already; record fewer"),
    ):
        with pytest.raises(sojourn.RunFailed, match=said):
            sojourn.run(own_tcp(scenario_file, "mine.c", text))


@needs_compiler
def test_records_of_c_are_checked(tmp_path: Path, capsys: Capture) -> None:
    """`sojourn check` finds a recorded value of a file in C that is no function of the events."""
    text = RECORDS_C.replace(IN_ON_ACK, 'static int calls; sojourn_record(self->recorder, "calls", calls++);')
    for name, written, ended in (("sound", RECORDS_C, 0), ("mine", text, 1)):
        (tmp_path / f"{name}.c").write_text(written, encoding="utf-8")
        assert status(["check", str(tmp_path / f"{name}.c")]) == ended
    assert "a recorded value, seed 1" in capsys.readouterr().err


@needs_compiler
def test_library_with_fewer_hooks(scenario_file: WriteScenario) -> None:
    """A structure that says that it ends before a hook has none there, whatever follows it: so an earlier header's will run."""
    old = ".bytes = offsetof(struct sojourn_congestion_control, take_recorder), .title ="
    text = SCALABLE_C.replace(".title =", old).replace(".parameters =", ".take_recorder = (void *)1, .parameters =")
    theirs = sojourn.run(own_tcp(scenario_file, "mine.c", text))
    assert measured(theirs) == measured(sojourn.run(own_tcp(scenario_file, "mine.c", SCALABLE_C)))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("self.record('cwnd', 1)", 'record: "cwnd" cannot be a name'),
        ("self.record('x', float('nan'))", 'record: "x" is NaN, which is no finite number'),
        ("breakpoint()", "breakpoint() needs the terminal: sojourn watch FILE"),
    ],
)
def test_what_hooks_cannot_do(scenario_file: WriteScenario, call: str, said: str) -> None:
    """A name of Sojourn's own, a value that is not a number, and a debugger without a terminal fail the run with the line."""
    path = own_tcp(scenario_file, "mine.py", RECORDS.replace("self.record('before', window.cwnd)", call))
    with pytest.raises(sojourn.RunFailed) as failed:
        sojourn.run(path)
    assert said in str(failed.value)


#: Shrinks by a segment a round, and records by how much, and how much that should be.
SHRINKS = SCALABLE.replace(
    "        self.growth.additive(window, max(self.a * window.segments, 1.0), ack.credit)",
    "        before, wanted = window.cwnd, min(1.0, 1.0 / window.segments) * ack.credit\n"
    "        self.growth.additive(window, -1.0, ack.credit)\n"
    "        self.record('shrunk', before - window.cwnd)\n"
    "        self.record('wanted', wanted)",
)


#: The same in C.
SHRINKS_C = RECORDS_C.replace(
    "    sojourn_additive(&self->growth, window, 1.0, ack->credit);",
    "    uint64_t before = window->cwnd;\n"
    "    double share = 1.0 / sojourn_segments(window);\n"
    "    sojourn_additive(&self->growth, window, -1.0, ack->credit);\n"
    '    sojourn_record(self->recorder, "shrunk", (double)(before - window->cwnd));\n'
    '    sojourn_record(self->recorder, "wanted", (share < 1.0 ? share : 1.0) * (double)ack->credit);',
)


@pytest.mark.parametrize(("name", "text"), [("mine.py", SHRINKS), pytest.param("mine.c", SHRINKS_C, marks=needs_compiler)])
def test_additive_decrease(scenario_file: WriteScenario, name: str, text: str) -> None:
    """A negative additive increase shrinks the window by as much, and fractions of a byte are kept."""
    found = sojourn.run(own_tcp(scenario_file, name, text)).series
    for flow in ("0", "1"):
        shrunk, wanted = (found.filter(measure=name, which=flow)["value"] for name in ("shrunk", "wanted"))
        assert shrunk.len() > 10
        assert abs(float(shrunk.sum()) - float(wanted.sum())) <= 1
