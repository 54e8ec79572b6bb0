"""Inner states of algorithms: what is asked for is in `series`, listed, drawn and watched, and asking changes nothing else."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import Capture, complaint, scenario_data
from own_files import CODEL, SCALABLE, SCALABLE_C, WriteScenario, needs_compiler, own_queue, own_tcp
from sojourn import api, backends, catalogue
from sojourn.backends.columns import COLUMNS
from sojourn.cli.commands import status
from sojourn.scenario import from_data
from sojourn.specification import specify, text
from sojourn.units import PICOSECONDS
from sojourn.watch.lines import line
from sojourn.watch.recent import Recent

pytestmark = pytest.mark.usefixtures("own_cache")

SAMPLES = {"queue_series": "100 ms", "flow_series": "100 ms"}
STATES = SAMPLES | {"queue_state": True, "flow_state": True}

#: What Sojourn's own samples are called.
OWN = [column.name for frame in ("queue_series", "flow_series") for column in COLUMNS[frame]]


def run_of(tcp: object, probe: dict[str, Any], queue: str = "codel") -> sojourn.Result:
    data = scenario_data(flows=[{"from": "a", "to": "b", "count": 2, "tcp": tcp}], probe=probe)
    data["network"]["dumbbell"]["bottleneck"]["queue"]["name"] = queue
    return sojourn.run(data)


def own_rows(series: pl.DataFrame) -> pl.DataFrame:
    return series.filter(pl.col("measure").is_in(OWN)).drop("key")


@pytest.mark.parametrize(("tcp", "queue"), [("bbr3", "codel"), ("cubic", "pie"), ("newreno", "droptail")])
def test_asking_changes_nothing_else(tcp: str, queue: str) -> None:
    """With states, all frames are those without but for the rows of states, which are those that the catalogue lists."""
    asked, plain = run_of(tcp, STATES, queue), run_of(tcp, SAMPLES, queue)
    for name in ("groups", "flows", "queues", "transfers"):
        assert getattr(asked, name).drop("key").equals(getattr(plain, name).drop("key")), name
    assert own_rows(asked.series).equals(own_rows(plain.series))
    assert plain.series.filter(~pl.col("measure").is_in(OWN)).height == 0
    known = catalogue.load()
    states = asked.series.filter(~pl.col("measure").is_in(OWN))
    for kind, entry in (("flow", known.congestion_control(tcp)), ("queue", known.queue(queue))):
        told = set(states.filter(kind=kind)["measure"])
        assert told <= {value.name for value in entry.state}
        assert bool(told) == bool(entry.state)


def test_runs_that_do_not_ask_are_the_same() -> None:
    """The specification of a run that asks for no state does not mention any: its key, and its stored results, stay."""
    plain, explicit, asked = (
        text(specify(from_data(scenario_data(probe=probe), "test"), seed=1))
        for probe in (SAMPLES, SAMPLES | {"flow_state": False, "queue_state": False}, STATES)
    )
    assert "_state" not in plain
    assert plain == explicit
    assert '"queue_state":true,"flow_state":true' in asked


@pytest.mark.parametrize("of", ["queue", "flow"])
def test_states_need_samples(scenario_file: WriteScenario, capsys: Capture, of: str) -> None:
    """States are of samples: without an interval of these a scenario is refused in one line."""
    path = scenario_file(('name = "small"', f'name = "small"\nprobe = {{ {of}_state = true }}'))
    assert status(["run", str(path)]) == 2
    assert f"probe: {of}_state: needs {of}_series, whose samples it adds to" in complaint(capsys)


def test_describe_lists_states(capsys: Capture) -> None:
    """`describe` lists the values with units and phases, of BBRv3 in the order of draft-ietf-ccwg-bbr section 5.1."""
    assert status(["describe", "bbr3", "--json"]) == 0
    (state,) = [table for name, table in json.loads(capsys.readouterr().out).items() if name == "state"]
    described = {row["name"]: row for row in state}
    assert described["max_bw"]["unit"] == "bit/s"
    assert described["phase"]["phases"] == [
        *("startup", "drain", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt")
    ]


def test_names_of_states() -> None:
    """No value is called as one of Sojourn's own samples, and none of an algorithm as another of it."""
    known = catalogue.load()
    for entry in (*known.congestion_controls, *known.queues):
        names = [value.name for value in entry.state]
        assert len(set(names)) == len(names), entry.name
        assert not set(names) & set(OWN), entry.name
        assert all(value.doc for value in entry.state), entry.name


#: New Reno that shows the least RTT and whether there was congestion, and records the former at each acknowledgement.
SHOWS = SCALABLE.replace("Growth, number", "Growth, number, state").replace(
    "    def __init__(self):\n",
    """    base = state("Least RTT so far", unit="s")
    phase = state("What it does", phases=("startup", "steady"))

    def on_ack(self, window, ack):
        if ack.rtt is not None:
            self.base = ack.rtt if self.base is None else min(self.base, ack.rtt)
            self.record("seen", self.base)

    def __init__(self):
        self.phase = "startup"
""",
)
SHOWS = SHOWS.replace(
    "    def on_congestion(self, window, event):\n",
    '    def on_congestion(self, window, event):\n        self.phase = "steady"\n',
)

#: The same in C, without the record.
SHOWS_C = (
    SCALABLE_C.replace("struct sojourn_growth growth;\n", "struct sojourn_growth growth;\n    uint64_t base, phase;\n")
    .replace(
        "    struct scalable *self = state;\n    if (event",
        "    struct scalable *self = state;\n    self->phase = 1;\n    if (event",
    )
    .replace(
        "SOJOURN_CONGESTION_CONTROL(",
        """static void init(void *state, struct sojourn_random *random)
{
    ((struct scalable *)state)->base = SOJOURN_NONE;
}

static void on_ack(void *state, const struct sojourn_window *window, const struct sojourn_ack *ack)
{
    struct scalable *self = state;
    if (ack->rtt != SOJOURN_NONE && ack->rtt < self->base)
        self->base = ack->rtt;
}

static const char *const phases[] = {"startup", "steady", NULL};

static const struct sojourn_value shows[] = {
    SOJOURN_SHOW_DURATION(struct scalable, base, "Least RTT so far"),
    SOJOURN_SHOW_PHASE(struct scalable, phase, phases, "What it does"),
    SOJOURN_SHOW_END,
};

SOJOURN_CONGESTION_CONTROL(.init = init, .on_ack = on_ack, .shows = shows, """,
    )
)

ASKS = (
    'name = "small"',
    'name = "small"\nprobe = { flow_series = "100 ms", queue_series = "100 ms", flow_state = true, queue_state = true }',
)


def shown_by(scenario_file: WriteScenario, name: str, written: str) -> pl.DataFrame:
    path = own_tcp(scenario_file, name, written)
    path.write_text(path.read_text(encoding="utf-8").replace(*ASKS), encoding="utf-8")
    return sojourn.run(path).series


def test_file_in_python_shows_what_it_has(scenario_file: WriteScenario) -> None:
    """A sample of an attribute is what a hook last recorded of it, and a phase is its place among the phases."""
    series = shown_by(scenario_file, "mine.py", SHOWS)
    for flow in ("0", "1"):
        of_flow = series.filter(kind="flow", which=flow).sort("time")
        base, seen = (of_flow.filter(measure=name).select("time", "value") for name in ("base", "seen"))
        latest = base.join_asof(seen.rename({"value": "seen"}), on="time", allow_exact_matches=False)
        assert base.height > 30
        assert (latest["value"] == latest["seen"]).all()
        assert of_flow.filter(measure="phase")["value"].unique().sort().to_list() == [0.0, 1.0]


@needs_compiler
def test_file_in_c_shows_the_same(scenario_file: WriteScenario) -> None:
    """One algorithm in C and in Python shows the same to a double's last digit; what is not known is not there."""
    ours, theirs = (
        shown_by(scenario_file, name, written).filter(pl.col("measure").is_in(["base", "phase"])).drop("key")
        for name, written in (("mine.py", SHOWS), ("mine.c", SHOWS_C))
    )
    assert ours.height > 100
    assert ours.drop("value").equals(theirs.drop("value"))
    assert ((ours["value"] - theirs["value"]).abs() < 1e-12).all()


@needs_compiler
@pytest.mark.parametrize("kind", ["SIZE", "RATE", "INTEGER"])
def test_bound_that_is_not_set_in_c(scenario_file: WriteScenario, kind: str) -> None:
    """Any member of a file in C that is SOJOURN_NONE has no sample, until it has a value."""
    unit = '"B", ' if kind == "INTEGER" else ""
    written = SHOWS_C.replace(
        'SOJOURN_SHOW_DURATION(struct scalable, base, "', f'SOJOURN_SHOW_{kind}(struct scalable, base, {unit}"'
    ).replace("if (ack->rtt != SOJOURN_NONE && ack->rtt < self->base)", "if (ack->now > SOJOURN_SECOND)")
    written = written.replace("self->base = ack->rtt;", "self->base = ack->acked;")
    series = shown_by(scenario_file, "mine.c", written).filter(measure="base")
    assert (series["time"] > 1).all()
    assert series.filter(pl.col("time") > 3).height == 18
    assert series["value"].is_between(1448, 100 * 1460).all()


def test_queue_of_ones_own_shows_its_state(scenario_file: WriteScenario) -> None:
    """CoDel in a file shows what the built-in one tells: the same counts at the same times."""
    written = CODEL.replace("DROP, PASS, Queue, duration, size", "DROP, PASS, Queue, duration, size, state").replace(
        "    def __init__(self):\n", '    count = state("Drops since the dropping state began")\n\n    def __init__(self):\n'
    )
    path = own_queue(scenario_file, "mine.py", written)
    path.write_text(path.read_text(encoding="utf-8").replace(*ASKS), encoding="utf-8")
    theirs = sojourn.run(path).series.filter(measure="count", kind="queue")
    built_in = scenario_file(ASKS, ('tcp = "newreno"', 'tcp = "cubic"'))
    ours = sojourn.run(built_in).series.filter(measure="count", kind="queue")
    assert (theirs["value"] > 1).any()
    assert theirs.select("time", "value").equals(ours.select("time", "value"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('self.phase = "startup"', 'self.phase = "strtup"', 'phase is "strtup", which is none of its phases: startup, steady'),
        ('self.phase = "startup"', "self.phase = []", "phase is [], which is no number"),
        ("self.record(", 'self.base = float("nan"); self.record(', "base is NaN, which is no finite number"),
    ],
)
def test_what_cannot_be_shown(scenario_file: WriteScenario, old: str, new: str, said: str) -> None:
    """What is neither a finite number nor a phase fails the run in one line with the file and the attribute."""
    written = SHOWS.replace(old, new).replace('self.record("seen", self.base)', "pass")
    with pytest.raises(sojourn.RunFailed) as failed:
        shown_by(scenario_file, "mine.py", written)
    assert said in str(failed.value)
    assert "mine.py" in str(failed.value)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("cwnd = state()", "value cwnd: its name is that of one of Sojourn's own samples"),
        ("; ".join(f"v{number} = state()" for number in range(15)), "shows 17 values of its state; at most 16 are allowed"),
    ],
)
def test_bad_declarations(scenario_file: WriteScenario, capsys: Capture, declared: str, said: str) -> None:
    """A value with the name of a sample, or too many, are refused in one line before any run."""
    written = SHOWS.replace('    base = state("Least RTT so far", unit="s")', f"    base = state()\n    {declared}")
    assert status(["run", str(own_tcp(scenario_file, "mine.py", written))]) == 2
    assert said in complaint(capsys)


@needs_compiler
def test_bad_declaration_in_c(scenario_file: WriteScenario, capsys: Capture) -> None:
    """A member that is not of eight bytes cannot be shown: one line."""
    written = SHOWS_C.replace("uint64_t base, phase;", "uint64_t base; uint32_t phase;")
    assert status(["run", str(own_tcp(scenario_file, "mine.c", written))]) == 2
    assert "mine.c: value phase: is shown of a uint64_t of 8 bytes, not 4" in complaint(capsys)


def test_check_finds_states_by_chance(tmp_path: Path, capsys: Capture) -> None:
    """`sojourn check` finds a state that is no function of the events."""
    written = SHOWS.replace("class Scalable", "CALLS = [0]\n\n\nclass Scalable").replace(
        "        self.growth.additive", "        CALLS[0] += 1\n        self.base = CALLS[0]\n        self.growth.additive"
    )
    for name, text_, ended in (("sound", SHOWS, 0), ("mine", written, 1)):
        (tmp_path / f"{name}.py").write_text(text_, encoding="utf-8")
        assert status(["check", str(tmp_path / f"{name}.py")]) == ended
    assert "event " in capsys.readouterr().err


def test_describe_own_states(tmp_path: Path, capsys: Capture) -> None:
    """`describe` lists what a file shows as what is built in."""
    (tmp_path / "mine.py").write_text(SHOWS, encoding="utf-8")
    assert status(["describe", str(tmp_path / "mine.py")]) == 0
    shown = capsys.readouterr().out
    assert "Least RTT so far" in shown
    assert "startup, steady" in shown


def test_state_figures(tmp_path: Path, capsys: Capture) -> None:
    """Both figures have a panel for each value, with unit or phases; without states the line says how to get them."""
    data = scenario_data(flows=[{"from": "a", "to": "b", "tcp": tcp} for tcp in ("bbr3", "cubic")], probe=STATES)
    data["network"]["dumbbell"]["bottleneck"]["queue"]["name"] = "pie"
    sojourn.run(data, out=tmp_path / "out")
    for figure, panels in (
        ("state-over-time", ("bbr3 max_bw (Mbit/s)", "cubic w_max (segments)", "0 startup to 6 probe_rtt")),
        ("queue-state-over-time", ("drop_probability", "delay (s)")),
    ):
        drawn = tmp_path / f"{figure}.svg"
        assert status(["plot", str(tmp_path / "out"), "--figure", figure, "--out", str(drawn)]) == 0
        capsys.readouterr()
        for panel in panels:
            assert panel in drawn.read_text(encoding="utf-8"), panel
    sojourn.run(scenario_data(probe=SAMPLES), out=tmp_path / "plain")
    assert status(["plot", str(tmp_path / "plain"), "--figure", "state-over-time"]) == 2
    assert "flow_state = true under [probe]" in complaint(capsys)


def test_watch_shows_states() -> None:
    """Watching shows the state that a sample of that moment has, phases by their names; without being asked it shows none."""
    flows = [{"from": "a", "to": "b", "tcp": "bbr"}]
    run = specify(from_data(scenario_data(flows=flows, probe=STATES), "test"), seed=1)
    recent = Recent(run, lately=1)
    for moment in backends.stepping("simulator").step(run).moments(PICOSECONDS):
        recent.add(moment)
        if moment.time == 1.0:
            shown = line(recent)
    assert "flow 0 bbr: phase " in shown
    assert "min_rtt " in shown
    assert "left->right codel: phase " in shown
    plain = specify(from_data(scenario_data(flows=flows, probe=SAMPLES), "test"), seed=1)
    recent = Recent(plain, lately=1)
    recent.add(next(backends.stepping("simulator").step(plain).moments(PICOSECONDS)))
    assert recent.states() == {}


def test_watch_shows_own_states(scenario_file: WriteScenario) -> None:
    """Of a file of one's own watching shows units and the names of phases, as the file declares them."""
    path = own_tcp(scenario_file, "mine.py", SHOWS.replace('self.record("seen", self.base)', "pass"))
    path.write_text(path.read_text(encoding="utf-8").replace(*ASKS), encoding="utf-8")
    run = api.single_run(path).specification
    recent = Recent(run, lately=1)
    recent.add(next(backends.stepping("simulator").step(run).moments(PICOSECONDS)))
    shown = recent.states()["flow 0 mine.py"]
    assert re.fullmatch(r"base 0\.\d+ s, phase (startup|steady)", shown), shown
