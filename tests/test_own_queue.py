"""Queue disciplines in users' own files, and what starts and checks algorithms of one's own."""

import inspect
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import sojourn
from conftest import ROOT, Capture, complaint
from own_files import CODEL, CODEL_C, SCALABLE, SCALABLE_C, WriteScenario, measured, needs_compiler, own_queue
from sojourn.cli.commands import sojourn as cli
from sojourn.cli.commands import status
from sojourn.plugins import Queue
from sojourn.plugins.hooks import hooks_of
from sojourn.plugins.starting import ENDINGS

pytestmark = pytest.mark.usefixtures("own_cache")

LANGUAGES = ["python", pytest.param("c", marks=needs_compiler)]


@pytest.mark.parametrize(("name", "text"), [("codel.py", CODEL), pytest.param("codel.c", CODEL_C, marks=needs_compiler)])
@pytest.mark.parametrize("keys", ["", ', target = "1 ms"'])
def test_same_queue_as_built_in(scenario_file: WriteScenario, name: str, text: str, keys: str) -> None:
    """CoDel by the RFC's pseudo-code in a file gives the same bytes as the built-in, parameters included."""
    theirs = sojourn.run(own_queue(scenario_file, name, text, keys))
    ours = sojourn.run(scenario_file(('"codel"', f'"codel"{keys}'), ('tcp = "newreno"', 'tcp = "cubic"')))
    assert theirs.queues["drops_early"].sum() > 0
    assert set(theirs.queues["discipline"]) == {name}
    assert measured(theirs) == measured(ours)


PRIORITY = '''
from sojourn.plugins import Queue


class Priority(Queue):
    """Strict priority for the first flow."""

    lines = 2

    def classify(self, packet, queue):
        return min(packet.flow, 1)

    def next_line(self, queue):
        return 0 if queue.packets_of(0) else 1
'''


def test_lines_are_a_scheduler(scenario_file: WriteScenario) -> None:
    """Strict priority starves the second flow of a full link: it gets what the first leaves."""
    flows = sojourn.run(own_queue(scenario_file, "mine.py", PRIORITY)).flows
    first, second = flows["bytes_delivered"]
    assert first > 10 * second


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("else 1", "else 2", "mine.py:13: next_line named line 2; there are 2, from 0"),
        ("else 1", "else 0", "mine.py:13: next_line named line 0, which is empty"),
        ("min(packet.flow, 1)", "None", "mine.py:10: classify returned None, which is not the number of a line"),
        ("min(packet.flow, 1)", "packet.flaw", "mine.py:11: classify: AttributeError"),
    ],
)
def test_failing_queues(scenario_file: WriteScenario, old: str, new: str, said: str) -> None:
    """A queue that names no line of its own, an empty one, or raises fails its run with its line."""
    with pytest.raises(sojourn.RunFailed) as failed:
        sojourn.run(own_queue(scenario_file, "mine.py", PRIORITY.replace(old, new)))
    assert said in str(failed.value)


def test_senseless_verdict(scenario_file: WriteScenario) -> None:
    """A verdict that is none fails the run."""
    text = "from sojourn.plugins import Queue\nclass Mine(Queue):\n    def admit(self, packet, line, queue):\n        return 7\n"
    with pytest.raises(sojourn.RunFailed, match=r"mine\.py:3: admit returned 7, which is not PASS, MARK or DROP"):
        sojourn.run(own_queue(scenario_file, "mine.py", text))


@pytest.mark.parametrize(("table", "text"), [("queue", SCALABLE), ("tcp", CODEL)])
def test_other_kind_of_file(scenario_file: WriteScenario, capsys: Capture, tmp_path: Path, table: str, text: str) -> None:
    """A congestion control is no queue, and a queue no congestion control."""
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    old, new = ('name = "codel"', 'file = "mine.py"') if table == "queue" else ('"newreno"', '{ file = "mine.py" }')
    assert status(["check", str(scenario_file((old, new)))]) == 2
    assert "file: mine.py defines a" in complaint(capsys)


@pytest.mark.parametrize("kind", ["tcp", "queue"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_new_runs_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, language: str) -> None:
    """What ``sojourn new`` writes is sound, and its scenario sets it beside others."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["new", kind, "my_own", "--language", language]).exit_code == 0
    file = f"my_own{ENDINGS[language]}"
    result = sojourn.run("my_own.toml", seeds=1, changes={"duration": "3 s", "warm_up": "1 s"})
    assert file in result.flows["algorithm"] or file in result.queues["discipline"]
    assert {"cubic", "newreno"} <= set(result.flows["algorithm"])


def test_new_overwrites_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """``sojourn new`` leaves what is there, and refuses what is no name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("mine", encoding="utf-8")
    assert status(["new", "tcp", "mine"]) == 2
    assert "mine.toml: is there" in complaint(capsys)
    assert not (tmp_path / "mine.py").exists()
    assert status(["new", "tcp", "../mine"]) == 2
    assert "is not a name of an algorithm" in complaint(capsys)


@pytest.mark.parametrize("language", LANGUAGES)
def test_check_passes_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    """The templates, like the built-in algorithms, have the properties that ``sojourn check`` looks for."""
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(cli, ["new", "tcp", "mine", "--language", language])
    CliRunner().invoke(cli, ["new", "queue", "queue", "--language", language])
    for name in ("mine", "queue"):
        checked = CliRunner().invoke(cli, ["check", f"{name}{ENDINGS[language]}"])
        assert "is sound in" in checked.output, checked.output


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("mine.py", SCALABLE.replace("(1.0 - self.b) *", "2 *"), "mine.py:21: on_congestion left ssthresh at"),
        ("mine.py", SCALABLE.replace("if event.flight_size is not None:", "if False:"), "left ssthresh at"),
        ("mine.py", SCALABLE.replace("window.segments, 1.0)", "(1 / self.a), 1.0)"), "with a = 0"),
        ("mine.py", CODEL.replace("return DROP", "return 'drop'"), "release returned 'drop'"),
        pytest.param("mine.c", SCALABLE_C.replace("1.0 - self->b", "9.0"), "left ssthresh at", marks=needs_compiler),
        pytest.param("mine.c", CODEL_C.replace("round(", "*(volatile double *)0 * ("), "with SIGSEGV", marks=needs_compiler),
    ],
)
def test_check_finds_faults(tmp_path: Path, name: str, text: str, said: str) -> None:
    """``sojourn check`` finds growth on loss, an exception at a bound, senseless verdicts and crashes; it says with what."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(sojourn.RunFailed) as failed:
        cli.main(["check", str(tmp_path / name)], standalone_mode=False)
    assert said in str(failed.value)


#: The hooks of a discipline, as the engine calls them, each with what it is told in Python.
HOOKS = {
    name: list(inspect.signature(getattr(Queue, name)).parameters)[1:]
    for name in re.findall(
        r"fn (\w+)\(&mut self",
        (ROOT / "crates/engine/src/queue/plugin.rs")
        .read_text(encoding="utf-8")
        .partition("trait PluginQueue")[2]
        .partition("\n}")[0],
    )
}

#: What each argument shows, in Python and in C, and how C declares it.
SHOWN = {
    "packet": {
        field: (f"packet.{field}", f"packet->{field}") for field in ("flow", "size", "is_data", "is_ecn_capable", "is_marked")
    }
    | {"since": ("packet.since", "sojourn_seconds(packet->since)")},
    "line": {"line": ("line", "line")},
    "queue": {
        "now": ("queue.now", "sojourn_seconds(queue->now)"),
        "packets": ("queue.packets_of(1)", "queue->packets[1]"),
        "bytes": ("queue.bytes_of(1)", "queue->bytes[1]"),
    },
}
DECLARED = {
    "packet": "const struct sojourn_packet *packet",
    "line": "uint64_t line",
    "queue": "const struct sojourn_queue_view *queue",
    "rate": "uint64_t rate",
}

#: What hooks answer, in Python and in C.
ANSWERS = {
    "classify": ("packet.flow % 2", "packet->flow % 2"),
    "next_line": ("0 if queue.packets_of(0) else 1", "queue->packets[0] ? 0 : 1"),
    "admit": ("PASS", "SOJOURN_PASS"),
    "release": (
        "MARK if queue.packets > 10 else PASS",
        "queue->packets[0] + queue->packets[1] > 10 ? SOJOURN_MARK : SOJOURN_PASS",
    ),
}


def hears_all_in_python() -> str:
    """A discipline of two lines that records all that it is told; the rate at its timer, as it cannot before the first packet."""
    lines = ["from sojourn.plugins import MARK, PASS, Queue", "class Mine(Queue):", "    lines, timer_interval = 2, 0.1"]
    for hook, told in HOOKS.items():
        lines.append(f"    def {hook}(self, {', '.join(told)}):")
        if hook == "set_link_rate":
            lines.append("        self.rate = rate")
            continue
        lines += [
            f"        self.record('{hook}_{name}', float({here}))" for each in told for name, (here, _) in SHOWN[each].items()
        ]
        if hook == "on_timer":
            lines.append("        self.record('rate', self.rate)")
        lines.append(f"        return {ANSWERS.get(hook, ('None', ''))[0]}")
    return "\n".join(lines)


def hears_all_in_c() -> str:
    """The same in C."""
    lines = ["#include <sojourn.h>", "struct mine { struct sojourn_recorder *recorder; uint64_t rate; };"]
    lines += ["static void take_recorder(void *state, struct sojourn_recorder *recorder)"]
    lines += ["{ ((struct mine *)state)->recorder = recorder; }"]
    for hook, told in HOOKS.items():
        returns = {"classify": "uint64_t", "next_line": "uint64_t", "admit": "uint32_t", "release": "uint32_t"}.get(hook, "void")
        lines.append(f"static {returns} {hook}({', '.join(['void *state', *(DECLARED[each] for each in told)])})\n{{")
        lines.append("    struct mine *self = state;")
        if hook == "set_link_rate":
            lines.append("    self->rate = rate;\n}")
            continue
        for each in told:
            for name, (_, there) in SHOWN[each].items():
                lines.append(f'    sojourn_record(self->recorder, "{hook}_{name}", (double)({there}));')
        if hook == "on_timer":
            lines.append('    sojourn_record(self->recorder, "rate", (double)self->rate);')
        lines.append(f"    return {ANSWERS[hook][1]};\n}}" if hook in ANSWERS else "}")
    hooks = ", ".join(f".{hook} = {hook}" for hook in HOOKS)
    lines.append('SOJOURN_QUEUE(.title = "Hears all", .state_bytes = sizeof(struct mine), .take_recorder = take_recorder,')
    return "\n".join([*lines, f".lines = 2, .timer_interval = 100 * SOJOURN_MILLISECOND, {hooks});"])


@needs_compiler
def test_every_hook_is_heard(scenario_file: WriteScenario) -> None:
    """All hooks are called in Python and in C, and are told the same at the same times, to the bit."""
    files = (("mine.py", hears_all_in_python()), ("mine.c", hears_all_in_c()))

    def overflowing(own: tuple[str, str]) -> Path:
        path = own_queue(scenario_file, *own)
        path.write_text(path.read_text(encoding="utf-8").replace("100 packets", "15 packets"), encoding="utf-8")
        return path

    results = [sojourn.run(overflowing(own)) for own in files]
    assert all(result.queues["drops_early"][0] > 0 for result in results), "release answers MARK"
    python, c = (result.series for result in results)
    assert python.drop("key").equals(c.drop("key"))
    heard = set(python["measure"])
    told = {f"{hook}_{name}" for hook, told in HOOKS.items() for each in told if each in SHOWN for name in SHOWN[each]}
    assert heard == {*told, "rate"}
    assert {*python.filter(measure="release_line")["value"]} == {0, 1}


def test_every_language_has_every_hook() -> None:
    """The class that files in Python extend, the structure in C and the documentation have the hooks of the engine."""
    assert set(hooks_of(Queue)) == set(HOOKS)
    header = (ROOT / "python/sojourn/plugins/sojourn.h").read_text(encoding="utf-8")
    in_c = re.findall(r"\(\*(\w+)\)", header.partition("struct sojourn_queue {")[2].partition("\n};")[0])
    assert set(in_c) == {*HOOKS, "init", "take_recorder"}
    guide = (ROOT / "docs/your-own-algorithm.md").read_text(encoding="utf-8")
    for hook, told in HOOKS.items():
        assert f"`{hook}({', '.join(told)})`" in guide, hook
