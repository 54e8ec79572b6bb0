"""The laboratory computes what the command line computes, and reads and writes scenarios as it does."""

import itertools
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sojourn
from laboratory import MISSING, Headless, Refused, column
from sojourn import _engine, backends, catalogue, colours, scenario, specification, units
from sojourn.cli.commands import sojourn as cli
from sojourn.sweeps import file as sweep_file

pytestmark = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

Json = dict[str, Any]


@pytest.fixture(scope="module")
def lab() -> Iterator[Headless]:
    with Headless.of_engine() as headless:
        yield headless


def specified(toml: str) -> Json:
    """What the command line makes of a scenario."""
    data = tomllib.loads(toml)
    run = specification.specify(scenario.from_data(data, "lab.toml"), data["seed"])
    made: Json = json.loads(specification.text(run))
    return made


def settings(lab: Headless) -> Iterator[tuple[str, Json]]:
    """The settings of all presets."""
    for preset in lab.ask("presets"):
        for side in ("a", "b"):
            if preset["state"][side] is not None:
                yield f"{preset['id']} {side}", preset["state"][side]


def test_catalogue_is_the_same(lab: Headless) -> None:
    """The page lists the same algorithms and parameters as the command line."""
    known = lab.ask("catalogue")
    del known["digest"]
    assert known == json.loads(_engine.catalogue())


def test_places_of_colours_are_the_same(lab: Headless) -> None:
    """Groups and flows have the same places in the palette as in figures, whatever their algorithms and names are.

    Two groups of any two algorithms; any name of each; and 300 random draws of up to ten groups, among them algorithms of users
    and groups that are named as algorithms.
    """
    known = catalogue.load()
    names = [name for each in known.congestion_controls for name in (each.name, *each.aliases, each.title)]
    algorithms = [each.name for each in known.congestion_controls]
    cases = [{"first": one, "second": other} for one, other in itertools.product(algorithms, repeat=2)]
    cases += [{name: name, "Other One": "newreno"} for name in names]
    random = np.random.default_rng(1)
    named = [*names, "mine", "My-Own", "theirs"]
    for _ in range(300):
        groups = random.choice([*named, "download", "call", "Far Away"], size=random.integers(1, 11), replace=False)
        cases.append({str(group): str(random.choice(named)) for group in groups})
    for case in cases:
        counts = {group: int(random.integers(1, 5)) for group in case}
        places = colours.of_groups(case)
        flows = [(group, number) for group, count in counts.items() for number in range(1, count + 1)]
        of_flows = colours.of_flows(flows, places)
        asked = [{"group": group, "algorithm": algorithm, "count": counts[group]} for group, algorithm in case.items()]
        expected = {"groups": [places[group] for group in case], "flows": [of_flows[flow] for flow in flows]}
        assert lab.ask("places", groups=asked) == expected, case


def test_presets_specify_the_same_runs(lab: Headless) -> None:
    """The scenario that the page copies is the run that the page makes, for each setting of each preset."""
    for name, setting in settings(lab):
        assert canonical(specified(lab.ask("toml", setting=setting))) == canonical(lab.ask("specify", setting=setting)), name


def test_presets_give_the_same_bytes(lab: Headless) -> None:
    """Each preset's series and numbers are those of the engine on the command line, byte for byte."""
    for name, setting in settings(lab):
        run = lab.ask("run", specification=lab.ask("specify", setting=setting))
        tables = _engine.run(json.dumps(specified(lab.ask("toml", setting=setting))))
        for frame, columns in (
            ("queue_series", ("time", "packets", "bytes", "drops")),
            ("flow_series", ("time", "cwnd", "ssthresh", "rtt", "bytes_delivered", "bytes_received")),
        ):
            for each in columns:
                here = np.array([np.nan if value is None else value for value in tables[frame][each]], dtype="<f8")
                assert column(run["samples"][f"{frame}.{each}"]).tobytes() == here.tobytes(), (name, frame, each)
        for frame in ("flows", "queues"):
            for row, found in enumerate(run["numbers"][frame]):
                assert found == {each: tables[frame][each][row] for each in found}, (name, frame, row)
        assert run["numbers"]["events"] == tables["summary"]["events"]


def test_page_has_the_numbers_of_the_command_line(lab: Headless, tmp_path: Path) -> None:
    """What the tiles show is what `sojourn run` writes: the p99, utilisation, drops, Jain's index, and those of groups."""
    setting = dict(settings(lab))["codel b"]
    (tmp_path / "lab.toml").write_text(lab.ask("toml", setting=setting), encoding="utf-8")
    found = sojourn.run(tmp_path / "lab.toml")
    run = lab.ask("run", specification=lab.ask("specify", setting=setting))
    summary = lab.ask("summary", setting=setting, numbers=run["numbers"])
    queue = found.queues.row(0, named=True)
    assert summary["sojournP99"] == queue["sojourn_p99"]
    assert summary["utilisation"] == queue["utilisation"]
    assert summary["lost"] == found.flows["packets_dropped"].sum()
    long_lived = found.flows.filter(pl.col("flow_group") == "download")["bytes_delivered"].to_numpy().astype(float)
    jain = long_lived.sum() ** 2 / (len(long_lived) * (long_lived**2).sum())
    assert summary["jain"] == pytest.approx(jain, rel=1e-12)
    delivered = found.flows["bytes_delivered"].to_numpy().sum()
    for group in summary["groups"]:
        flows = found.flows.filter(pl.col("flow_group") == group["name"])
        assert group["share"] == pytest.approx(flows["bytes_delivered"].to_numpy().sum() / delivered, rel=1e-12)
        assert group["lost"] == flows["packets_dropped"].sum()
        lost, sent = (flows[name].to_numpy().sum() for name in ("packets_dropped", "segments_sent"))
        assert group["lossRatio"] == pytest.approx(lost / sent, rel=1e-12)


@pytest.mark.parametrize("profile", [profile.name for profile in catalogue.load().profiles])
def test_every_algorithm_is_there(lab: Headless, profile: str) -> None:
    """Each congestion control and each discipline can be chosen, under each profile, and specifies the same run."""
    known = catalogue.load()
    more = {"profile": profile}
    settings = [lab.ask("example", control=each.name, more=more) for each in known.congestion_controls]
    settings += [lab.ask("example", queue=each.name, more=more) for each in known.queues]
    for setting in settings:
        assert canonical(specified(lab.ask("toml", setting=setting))) == canonical(lab.ask("specify", setting=setting))


def test_every_parameter_can_be_set(lab: Headless) -> None:
    """Each parameter of the catalogue goes into a scenario and comes back, at its default and at its bounds."""
    known = catalogue.load()
    for entry, key in [*((each, "control") for each in known.congestion_controls), *((each, "queue") for each in known.queues)]:
        for at in ("default", "minimum", "maximum"):
            setting = lab.ask("example", **{key: entry.name})
            chosen = setting["groups"][0]["tcp"] if key == "control" else setting["bottleneck"]["queue"]
            values = {each.name: getattr(each, at) for each in entry.parameters}
            whole = {each.name for each in entry.parameters if each.kind not in ("number", "choice", "boolean")}
            limits = {name: int(value) if name in whole and isinstance(value, float) else value for name, value in values.items()}
            chosen["parameters"] = {name: value for name, value in limits.items() if value not in (None, "") and exact(value)}
            toml = lab.ask("toml", setting=setting)
            assert specified(toml) == lab.ask("specify", setting=setting), (entry.name, at)
            assert lab.ask("read", text=toml)["groups"][0]["tcp"] == setting["groups"][0]["tcp"]
            assert lab.ask("read", text=toml)["bottleneck"] == setting["bottleneck"]


def test_every_key_of_a_setting(lab: Headless) -> None:
    """All that the page can set goes into the scenario, and comes back from it."""
    setting = lab.ask("presets")[0]["state"]["a"]
    setting |= {"seed": 9, "warm_up": 3 * 10**12, "sender_overhead": 10**8, "stack": {"ecn": "classic", "initial_window": 4}}
    setting["bottleneck"] |= {
        "loss": 0.001,
        "policer": {"rate": 10**7, "burst": 25_000},
        "reverse": 10**6,
        "changes": [
            {"at": 10**12, "rate": 2 * 10**6, "delay": None, "loss": 0.01},
            {"at": 3 * 10**12, "rate": None, "delay": 10**10, "loss": None},
        ],
        "aggregation": {
            "packets": 9,
            "size": 20_000,
            "airtime": 10**9,
            "access": 10**8,
            "response": 10**7,
            "response_size": 32,
            "header": 40,
        },
        "delay": 10**9,
        "limit": {"bytes": 64 * 1024},
    }
    setting["receiver"] |= {"rate": 123_456_789, "delay": 1234}
    setting["groups"][0] |= {
        "start": 10**12,
        "start_within": 10**11,
        "stop": 2 * 10**13,
        "slow_start": "hystart++",
        "stack": {"sack": False},
        "size": 10**8,
    }
    setting["groups"][1] |= {"start": 0}
    setting["probe"] = {"queue_series": 10**10, "flow_series": 10**11}
    toml = lab.ask("toml", setting=setting)
    run = lab.ask("specify", setting=setting)
    assert specified(toml) == run
    assert lab.ask("read", text=toml) == setting
    assert run["links"][0]["loss"] == 0.001
    assert run["stacks"][0]["sack"] is False


@pytest.mark.parametrize("process", ["poisson", "deterministic"])
@pytest.mark.parametrize("intensity", [{"load": 0.3, "rate": None}, {"load": None, "rate": 7.5}])
def test_flows_that_arrive(lab: Headless, process: str, intensity: Json) -> None:
    """Connections that arrive go into the scenario and come back; what they completed, and when, is what the engine says."""
    setting = lab.ask("presets")[0]["state"]["a"]
    setting["groups"][0] |= {"count": 1, "size": 50_000, "arrivals": {"process": process, **intensity}}
    toml = lab.ask("toml", setting=setting)
    specified_here = lab.ask("specify", setting=setting)
    assert canonical(specified(toml)) == canonical(specified_here)
    assert lab.ask("read", text=toml)["groups"] == setting["groups"]
    run = lab.ask("run", specification=specified_here, traced=True)
    tables = _engine.run(json.dumps(specified_here))
    group = lab.ask("summary", setting=setting, numbers=run["numbers"])["groups"][0]
    times = [
        time
        for time, completed in zip(tables["transfers"]["completion_time"], tables["transfers"]["completed"], strict=True)
        if completed >= 5
    ]
    assert group["transfers"]["count"] == len(times) == tables["flows"]["transfers_completed"][0]
    assert group["transfers"]["mean"] == pytest.approx(np.mean(times), rel=1e-9)
    assert group["transfers"]["p95"] == pytest.approx(np.quantile(times, 0.95, method="inverted_cdf"), rel=1e-9)
    packets = column(run["packets"]["flow"], "u4")
    assert set(packets) == {0, 1}
    assert (packets == 0).sum() > 35 * len(times)


def test_two_way_traffic(lab: Headless) -> None:
    """An upload and the queue of the way back go into the scenario and come back; both queues are those of the command line."""
    setting = dict(settings(lab))["bufferbloat a"]
    setting["groups"][1] |= {"from": "receiver", "to": "sender2", "group": "upload", "tcp": {"name": "cubic", "parameters": {}}}
    setting["bottleneck"] |= {
        "reverse": 2_000_000,
        "reverse_queue": {"queue": {"name": "codel", "parameters": {"target": 10**10}}, "limit": {"packets": 50}},
    }
    toml = lab.ask("toml", setting=setting)
    run = lab.ask("specify", setting=setting)
    assert canonical(specified(toml)) == canonical(run)
    read = lab.ask("read", text=toml)
    assert (read["groups"], read["bottleneck"]) == (setting["groups"], setting["bottleneck"])
    found = lab.ask("run", specification=run, traced=True)
    tables = _engine.run(json.dumps(run))
    queue, back = ([row for row, link in enumerate(tables["queue_series"]["link"]) if link == name] for name in WAYS)
    for frame, rows in (("queue_series", queue), ("queue_back", back)):
        assert column(found["samples"][f"{frame}.packets"]).tolist() == [tables["queue_series"]["packets"][row] for row in rows]
    assert max(column(found["samples"]["queue_back.packets"])) > 10
    summary = lab.ask("summary", setting=setting, numbers=found["numbers"])
    assert summary["groups"][1]["goodput"] * 25 / 8 == tables["flows"]["bytes_delivered"][2]
    # Acknowledgements of the upload wait in the queue of the downloads.
    packets, sizes = column(found["packets"]["flow"], "u4"), column(found["packets"]["size"], "u4")
    assert sizes[packets == 2].max() < 100
    assert (packets == 2).sum() > 1000


#: The bottleneck, and the way back.
WAYS = ("left->right", "right->left")


@pytest.mark.parametrize(
    ("arrivals", "more", "what"),
    [
        ("{ process = 'poisson', load = 0.5 }", "", 'give "size" as well'),
        ("{ process = 'poisson' }", 'size = "1 MB"', 'give either "load" or "rate"'),
        ("{ process = 'weekly', rate = 1 }", 'size = "1 MB"', 'process is "poisson" or "deterministic" here'),
        ("{ users = 3, think = '1 s' }", 'size = "1 MB"', "the page does not have this key"),
        ("{ process = 'poisson', rate = 1 }", 'size = "1 MB"\ncount = 2', "flows arrive by themselves"),
    ],
)
def test_arrivals_that_the_page_does_not_have(lab: Headless, arrivals: str, more: str, what: str) -> None:
    """A scenario whose arrivals the page cannot make is refused with a line that says why."""
    toml = lab.ask("toml", setting=lab.ask("presets")[0]["state"]["a"])
    with pytest.raises(Refused, match=what):
        lab.ask("read", text=toml.replace("count = 2", f"arrivals = {arrivals}\n{more}", 1))


def test_calls_have_a_throughput(lab: Headless) -> None:
    """Of a flow without a window the page samples what was delivered."""
    setting = dict(settings(lab))["bufferbloat a"]
    run = lab.ask("run", specification=lab.ask("specify", setting=setting), inside=True)
    flows, bytes_ = column(run["samples"]["delivered.flow"], "u4"), column(run["samples"]["delivered.bytes"])
    call = bytes_[flows == 2]
    assert np.all(np.diff(call) >= 0)
    # 80 kbit/s of packets of 200 bytes with headers of 28: payload of 172.
    assert call[-1] == pytest.approx(30 * 80e3 / 8, rel=0.2)


def canonical(run: object) -> str:
    """The specification as text, as `specification.text` writes it; but 1.0 is 1, which JavaScript does not tell apart."""

    def plain(value: object) -> object:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return json.dumps(plain(run), separators=(",", ":"), ensure_ascii=False)


HAS_NOT = "the page does not have this key, though sojourn run does"

#: Of the examples that the page cannot open, words of the line that is named, and what is said of it. Those that it opens are
#: here too, so that none is forgotten.
REFUSED = {
    "bufferbloat": None,
    "calls": ("count = 8", f"network.dumbbell.senders[0].count: {HAS_NOT}"),
    "cellular": (
        'rate = { trace = "cellular.csv" }',
        "network.dumbbell.bottleneck.rate: the page takes a plain value here; sojourn run takes a table such as this",
    ),
    "demo": None,
    "home": (
        "[sweep.axes.line]",
        "sweep.axes.line: the page takes values, or a range of so many steps with both ends in one unit",
    ),
    "page-load": ("page =", f"flows[0].page: {HAS_NOT}"),
    "parking-lot": None,
    "phase-effects": None,
    "queues": None,
    "rtt-fairness": None,
    "short-transfers": None,
    "sweep": None,
    "video": ("count = 2", f"network.dumbbell.senders[0].count: {HAS_NOT}"),
}


def line_with(text: str, words: str) -> int:
    """The first line that has some words."""
    return next(number for number, line in enumerate(text.splitlines(), start=1) if words in line)


@pytest.mark.parametrize("path", sorted(Path(sojourn.__file__).parent.glob("examples/*.toml")), ids=lambda path: path.stem)
def test_examples_specify_the_same_runs(lab: Headless, path: Path) -> None:
    """Each cell of an example that is opened is the run of the command line, byte for byte; others are refused with their line.

    What is sampled is the page's choice where the file says nothing, because it draws the samples.
    """
    text = path.read_text(encoding="utf-8")
    refused = REFUSED[path.stem]
    if refused is not None:
        with pytest.raises(Refused, match=re.escape(f"Line {line_with(text, refused[0])}: {refused[1]}")):
            lab.ask("read", text=text)
        return
    matrix = sweep_file.load(path)
    for cell in matrix.cells():
        point = cell.axes if matrix.sweep.axes else {}
        setting = lab.ask("read", text=text, cell=point)
        run = lab.ask("specify", setting=setting)
        expected: Json = json.loads(specification.text(specification.specify(cell.scenario, 1)))
        expected["probe"] |= {key: run["probe"][key] for key, value in expected["probe"].items() if value is None}
        assert canonical(run) == canonical(expected), point
        assert canonical(specified(lab.ask("toml", setting=setting))) == canonical(run), point
    found = lab.ask("opened", text=text)
    assert {axis: found["cell"][axis] for axis in matrix.sweep.axes} == (next(iter(matrix.points())) if matrix.sweep.axes else {})
    labels = {choice["axes"][0]: [each[0] for each in choice["labels"]] for choice in found["choices"]}
    assert labels == {name: list(axis.values) for name, axis in matrix.sweep.axes.items()}


def opened(lab: Headless, text: str) -> Json | str:
    """What the page makes of a file, or what it says instead."""
    try:
        found: Json = lab.ask("opened", text=text)
    except Refused as refused:
        return str(refused)
    return found


@pytest.mark.parametrize("path", sorted(Path(sojourn.__file__).parent.glob("examples/*/*.toml")), ids=lambda path: path.stem)
def test_other_examples_are_opened_or_refused(lab: Headless, path: Path) -> None:
    """Of searches and ranges the scenario that they vary is shown, which is said; others are refused with a key and its line."""
    text = path.read_text(encoding="utf-8")
    answer = opened(lab, text)
    if isinstance(answer, str):
        match = re.match(r"Line (\d+): ((?:network|flows|programs|variables)\b[^:]*): ", answer)
        assert match is not None, answer
        key = re.sub(r"\[\d+\]$", "", match[2]).rpartition(".")[2]
        assert key in text.splitlines()[int(match[1]) - 1], answer
        return
    assert "varies this scenario" in answer["note"]
    base = text.partition("\n[search")[0].partition("\n[range")[0]
    run = lab.ask("specify", setting=answer["setting"])
    expected = specified(f"seed = 1\n{base}")
    expected["probe"] |= {key: run["probe"][key] for key, value in expected["probe"].items() if value is None}
    assert canonical(run) == canonical(expected)


def test_scenario_of_another_version(lab: Headless) -> None:
    """A scenario that a laboratory of another version has written is shown, and that is said; so it is where one is refused."""
    toml = lab.ask("toml", setting=lab.ask("presets")[0]["state"]["a"])
    assert lab.ask("opened", text=toml)["note"] is None
    version = lab.ask("catalogue")["version"]
    older = toml.replace(f"Sojourn {version},", "Sojourn 0.0.7,", 1)
    said = f"Version 0.0.7 has written this file, and this page is of {version}: runs may differ."
    assert lab.ask("opened", text=older) == {**lab.ask("opened", text=toml), "note": said}
    with pytest.raises(Refused, match=re.escape("colour: unknown key") + ".*" + re.escape(said)):
        lab.ask("opened", text=older.replace("[probe]", "[colour]\n[probe]"))


def test_units_are_those_of_the_command_line(lab: Headless) -> None:
    """Each unit and spelling is read as the same number, and each example of the schema."""
    for dimension in (units.DURATION, units.RATE, units.SIZE):
        for unit in (*dimension.units, *dimension.spellings):
            for number in ("1", "1.5e3", "25e-1"):
                text = f"{number} {unit}"
                assert lab.ask("parse", text=text, dimension=dimension.name) == given(dimension, text), text


def given(dimension: units.Dimension, text: str) -> int | None:
    """A quantity, or none if it is no whole number of the base unit."""
    try:
        return dimension.parse(text)
    except ValueError:
        return None


def exact(value: object) -> bool:
    """Whether JavaScript has it exactly; durations of more than two hours, in picoseconds, it has not."""
    return not isinstance(value, int) or abs(value) < 2**53


@pytest.mark.long
def test_every_pair_runs(lab: Headless) -> None:
    """Every congestion control under every discipline runs in the page, and gives the events of the command line."""
    known = catalogue.load()
    for control in known.congestion_controls:
        for queue in known.queues:
            setting = lab.ask("example", control=control.name, queue=queue.name, more={"duration": 10**12, "warm_up": 0})
            run = lab.ask("specify", setting=setting)
            assert lab.ask("run", specification=run)["numbers"]["events"] == _engine.run(json.dumps(run))["summary"]["events"]


def test_packets_are_those_that_the_queue_counted(lab: Headless) -> None:
    """Of the packets one by one, as many were sent, marked and dropped as the queue counted, and they waited as long."""
    for name, setting in settings(lab):
        setting["warm_up"] = 0
        run = lab.ask("run", specification=lab.ask("specify", setting=setting), traced=True)
        packets, queue = run["packets"], run["numbers"]["queues"][0]
        fate, arrived, left = column(packets["fate"], "u4"), column(packets["arrived"]), column(packets["left"])
        sent = (fate == 1) | (fate == 2)
        assert np.all(np.diff(arrived) >= 0)
        # What is under way at the end, a packet or a frame of them, is still queued here.
        frame = setting["bottleneck"]["aggregation"] or {"packets": 1}
        assert 0 <= queue["departures"] - sent.sum() <= frame["packets"], name
        refused = queue["total_drops"] if setting["bottleneck"]["policer"] is None else (fate == 3).sum()
        assert (fate == 3).sum() == refused, name
        assert abs(int((fate == 2).sum()) - queue["marks"]) <= queue["queued_at_end"] + queue["drops"], name
        waited = (left - arrived)[sent]
        assert waited.mean() == pytest.approx(queue["sojourn_mean"], rel=1e-3), name
        assert np.quantile(waited, 0.99) == pytest.approx(queue["sojourn_p99"], rel=0.011, abs=1e-6), name


def test_groups_have_the_packets_of_the_queue(lab: Headless) -> None:
    """What the packets of each group met adds up to what the queue measured in its window, and a call's waits are its delays."""
    for name, setting in settings(lab):
        run = lab.ask("run", specification=lab.ask("specify", setting=setting), traced=True)
        queue, groups = run["numbers"]["queues"][0], run["groups"]
        sent = [group["arrived"] - group["dropped"] for group in groups]
        assert sum(group["marked"] for group in groups) == pytest.approx(queue["marks"], abs=queue["queued_at_end"]), name
        assert sum(group["dropped"] for group in groups) == pytest.approx(sum(lost(run)), rel=0.02, abs=2), name
        mean = np.average([group["mean"] or 0 for group in groups], weights=sent)
        assert mean == pytest.approx(queue["sojourn_mean"], rel=0.02), name
        assert max(group["p99"] for group in groups) >= 0.98 * queue["sojourn_p99"], name
        for group in groups:
            assert group["within"] == sorted(group["within"]), name
    # A call's packets are delayed by what they wait, and by the path.
    setting = dict(settings(lab))["bufferbloat a"]
    run = lab.ask("run", specification=lab.ask("specify", setting=setting), traced=True)
    tables = _engine.run(json.dumps(lab.ask("specify", setting=setting)))
    call = next(flow for flow, group in enumerate(tables["flows"]["flow_group"]) if group == "call")
    path = 0.02 + 200 * 8 / 20e6 + 2 * 200 * 8 / 1e9
    assert run["groups"][1]["mean"] == pytest.approx(tables["flows"]["delay_mean"][call] - path, rel=1e-3)
    assert run["groups"][1]["p99"] == pytest.approx(tables["flows"]["delay_p99"][call] - path, rel=0.011)


def lost(run: Json) -> list[int]:
    """The data packets that each flow lost."""
    return [flow["packets_dropped"] for flow in run["numbers"]["flows"]]


@pytest.mark.parametrize(
    ("control", "queue"),
    [("cubic", "codel"), ("bbr", "pie"), ("bbr3", "dualpi2"), ("cubic", "red"), ("vegas", "fq_codel"), ("prague", "dualpi2")],
)
def test_inner_states_are_those_of_the_command_line(lab: Headless, control: str, queue: str) -> None:
    """The page hands on each value that the engine samples, and a run of which they are sampled is the same run."""
    setting = lab.ask("example", control=control, queue=queue, more={"duration": 5 * 10**12, "warm_up": 0})
    specified = lab.ask("specify", setting=setting)
    run = lab.ask("run", specification=specified, inside=True)
    plain = lab.ask("run", specification=specified)
    assert run["numbers"] == plain["numbers"]
    assert run["samples"]["flow_series.cwnd"] == plain["samples"]["flow_series.cwnd"]
    probe = {**specified["probe"], "queue_state": True, "flow_state": True}
    recorded = _engine.run(json.dumps({**specified, "probe": probe}))["recorded"]
    samples, names = run["samples"], run["names"]
    flows, places = column(samples["state.flow"], "u4"), column(samples["state.name"], "u4")
    here = [
        (float(time), "queue" if flow == 2**32 - 1 else str(flow), names[place], float(value))
        for time, flow, place, value in zip(
            column(samples["state.time"]), flows, places, column(samples["state.value"]), strict=True
        )
    ]
    rows = zip(recorded["time"], recorded["kind"], recorded["which"], recorded["measure"], recorded["value"], strict=True)
    assert here == [(time, "queue" if kind == "queue" else which, measure, value) for time, kind, which, measure, value in rows]
    assert len({name for _, _, name, _ in here}) >= 2


def test_in_flight_is_what_the_window_allows(lab: Headless) -> None:
    """What CUBIC has in flight fills its window, sampled with it, and does not exceed it outside of a recovery."""
    setting = lab.ask("example", control="cubic", more={"duration": 10 * 10**12, "warm_up": 0})
    run = lab.ask("run", specification=lab.ask("specify", setting=setting), inside=True)
    samples = run["samples"]
    windows = dict(
        zip(
            zip(column(samples["flow_series.time"]), column(samples["flow_series.flow"], "u4"), strict=True),
            column(samples["flow_series.cwnd"]),
            strict=True,
        )
    )
    flights = zip(
        column(samples["in_flight.time"]),
        column(samples["in_flight.flow"], "u4"),
        column(samples["in_flight.bytes"]),
        strict=True,
    )
    shares = [float(flight / windows[time, flow]) for time, flow, flight in flights if (time, flow) in windows and time > 2]
    assert len(shares) > 100
    assert np.median(shares) == pytest.approx(1, abs=0.05)
    assert np.quantile(shares, 0.95) < 1.1


def test_links_restore_states(lab: Headless) -> None:
    """An address holds the whole state, algorithms of one's own included."""
    for preset in lab.ask("presets"):
        state = {**preset["state"], "own": [{"name": "mine", "text": 'class Ünïcode {} // "quoted"'}]}
        assert lab.ask("state", hash=lab.ask("hash", state=state)) == state


@pytest.mark.parametrize(
    ("hash_", "sentence"),
    [
        ("#v99.e30", "version 99"),
        ("#elsewhere", 'has no scene "elsewhere"'),
        ("#v2.@@@", "cut short"),
        ("#v2.e3", "cut short"),
        ("#v2.e30", "it has no setting"),
    ],
)
def test_bad_links(lab: Headless, hash_: str, sentence: str) -> None:
    """A link that cannot be used is told in a sentence."""
    with pytest.raises(Refused, match=sentence):
        lab.ask("state", hash=hash_)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda a: a["bottleneck"].update(rate=-1),
            r"bottleneck\.rate: -1 bit/s is out of range here \(rate from 1 kbit/s to 10 Gbit/s; sojourn run takes more\)",
        ),
        (lambda a: a["bottleneck"].update(rate=1e18), r"bottleneck\.rate: .* is too large for a rate"),
        (lambda a: a.update(duration=10**18), "duration: .* is too large for a duration"),
        (lambda a: a["groups"][0].update(count=10**6), r"flows\[0\]\.count: 1000000 is out of range"),
        (lambda a: a["groups"][0]["tcp"].update(name="nonesuch"), 'unknown congestion control "nonesuch"'),
        (lambda a: a["bottleneck"]["queue"].update(parameters={"target": 5}), "unknown key of droptail"),
        (lambda a: a["groups"].clear(), "flows: is not a list with an entry"),
        (lambda a: a.pop("receiver"), "a part of it is missing"),
        (lambda a: a.update(surprise=1), "a part of it is missing, or it has another"),
        (lambda a: a["bottleneck"].update(rate="20 Mbit/s"), r"bottleneck\.rate: .* is not a rate"),
        (lambda a: a["bottleneck"].update(limit={"packets": "9"}), "a part of it is missing, or it has another"),
        (lambda a: a.update(warm_up=a["duration"]), "warm_up: must be shorter than the duration, 30 s"),
        (lambda a: a["groups"][0].update(stop=a["duration"]), r"flows\[0\]\.stop: is not between the last start and the end"),
        (lambda a: a["groups"][1].update(stack={"sack": False}), r"flows\[1\]\.stack: cbr has no stack"),
        (lambda a: a["senders"][0].update(name="left"), 'two nodes have the name "left"'),
    ],
)
def test_absurd_states(lab: Headless, change: Any, sentence: str) -> None:
    """A link whose values make no sense is told in a sentence."""
    state = lab.ask("presets")[0]["state"]
    change(state["a"])
    with pytest.raises(Refused, match=sentence):
        lab.ask("state", hash=lab.ask("hash", state=state))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('duration = "30 s"', 'duration = "30 parsecs"', 'duration: "30 parsecs": unknown unit'),
        ('duration = "30 s"', "duration = 30", "duration: 30 has no unit"),
        ('duration = "30 s"', 'duration = "30 s', "this is not TOML"),
        ('name = "droptail"', 'name = "droptale"', 'network.dumbbell.bottleneck.queue.name: unknown queue discipline "droptale"'),
        ("[probe]", "[surprise]\na = 1\n[probe]", "surprise: unknown key"),
        ("count = 1", "count = 1.5", "flows[1].count: 1.5 is not an integer"),
        ('name = "cubic"', 'name = "cubic", beta = 7.0', "flows[0].tcp.beta: 7 is out of range"),
        ('name = "sender2"', 'nom = "sender2"', "network.dumbbell.senders[1].nom: unknown key"),
        ("count = 2", 'count = 2\ndscp = "EF"', "flows[0].dscp: the page does not have this key"),
    ],
)
def test_bad_scenarios_get_their_line(lab: Headless, old: str, new: str, what: str) -> None:
    """What is wrong with a scenario that is dropped on the page is told with its line and key."""
    toml = lab.ask("toml", setting=lab.ask("presets")[0]["state"]["a"])
    assert old in toml
    line = 1 + toml[: toml.index(old)].count("\n") + (new.startswith("count = 2\n"))
    with pytest.raises(Refused, match=re.escape(f"Line {line}: {what}")):
        lab.ask("read", text=toml.replace(old, new, 1))


def test_own_algorithm_is_carried_away(lab: Headless, tmp_path: Path) -> None:
    """A copied scenario has the text of an algorithm of the page, which makes the same run as the same statements in Python."""
    own = {"name": "mine", "text": OWN}
    setting = dict(settings(lab))["bufferbloat a"]
    setting["groups"][0]["tcp"] = {"name": "mine", "parameters": {"beta": 0.6}}
    toml = lab.ask("toml", setting=setting, own=[own])
    assert "\n".join(f"#   {line}".rstrip() for line in OWN.splitlines()) in toml
    (tmp_path / "mine.py").write_text(OWN_IN_PYTHON, encoding="utf-8")
    (tmp_path / "lab.toml").write_text(toml, encoding="utf-8")
    found = backends.named("simulator").run(specification.specify(sojourn.load(tmp_path / "lab.toml"), 1))
    run = lab.ask("run", specification=lab.ask("specify", setting=setting, own=[own]))
    for name in ("cwnd", "ssthresh", "bytes_delivered"):
        here = found.flow_series[name].to_numpy().astype("<f8")
        assert column(run["samples"][f"flow_series.{name}"]).tobytes() == here.tobytes(), name
    assert found.flows["bytes_delivered"].to_list() == [flow["bytes_delivered"] for flow in run["numbers"]["flows"]]


def test_template_is_that_of_the_command_line(lab: Headless, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that the page begins with makes the same run as the one that `sojourn new tcp` writes."""
    setting = lab.ask("example", control="mine", more={"profile": "rfc"})
    own = {"name": "mine", "text": lab.ask("template")}
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["new", "tcp", "mine"]).exit_code == 0
    (tmp_path / "lab.toml").write_text(lab.ask("toml", setting=setting, own=[own]), encoding="utf-8")
    written = backends.named("simulator").run(specification.specify(sojourn.load(tmp_path / "lab.toml"), 1))
    run = lab.ask("run", specification=lab.ask("specify", setting=setting, own=[own]))
    here = written.flow_series["cwnd"].to_numpy().astype("<f8")
    assert column(run["samples"]["flow_series.cwnd"]).tobytes() == here.tobytes()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("const a = 1;", "mine.js: has no class that extends CongestionControl"),
        ("class Mine extends CongestionControl { increase() {} }", "mine.js: Mine defines no on_congestion"),
        (
            "class Mine extends CongestionControl { increase() {} on_congestion() {} }\nthrow new Error('no')",
            "mine.js:2: Error: no",
        ),
    ],
)
def test_bad_algorithms(lab: Headless, text: str, sentence: str) -> None:
    """A file that cannot be read is told with its line."""
    setting = lab.ask("example", control="mine")
    with pytest.raises(Refused, match=sentence):
        lab.ask("specify", setting=setting, own=[{"name": "mine", "text": text}])


def test_hook_that_fails(lab: Headless) -> None:
    """A hook that sets a senseless window fails its run, with its line."""
    halve = "on_congestion(window, event) { window.set_ssthresh(event.flight_size / 2); }"
    text = f"class Mine extends CongestionControl {{\n  increase(window) {{\n    window.cwnd = 1.5;\n  }}\n  {halve}\n}}"
    own = [{"name": "mine", "text": text}]
    run = lab.ask("specify", setting=lab.ask("example", control="mine", more={"profile": "rfc"}), own=own)
    with pytest.raises(Refused, match=r"mine\.js:3: increase: TypeError: cwnd: 1\.5 is not a whole number of bytes"):
        lab.ask("run", specification=run)


#: Some of all that is translated: arithmetic, conditions, state, a duration, a function of mathematics, a constant.
OWN = """
const LEAST = 2;

class Mine extends CongestionControl {
  static title = "Slower where the queue is long";
  static beta = number(0.7, { least: 0, most: 1, doc: "Share kept" });
  static target = duration("20 ms", { doc: "Delay that is left alone" });

  constructor() {
    super();
    this.growth = new Growth();
    this.base = Infinity;
    this.losses = 0;
  }

  on_ack(window, ack) {
    if (ack.rtt !== null && ack.rtt < this.base) this.base = ack.rtt;
  }

  increase(window, ack) {
    const delay = ack.srtt - this.base;
    let segments = 1;
    if (delay > this.target) {
      segments = Math.max(0.2, 1 - (delay - this.target) / (2 * this.target));
    } else if (this.losses > 3 && !(window.segments < LEAST)) {
      segments *= 1 + Math.sqrt(this.losses) / 10;
    }
    this.growth.additive(window, segments, ack.credit);
  }

  on_congestion(window, event) {
    const isCongestion = event.kind === "loss" || event.kind === "ecn";
    if (!isCongestion) return;
    this.losses += 1;
    window.set_ssthresh(this.beta * (event.flight_size ?? window.cwnd));
  }
}
"""

#: What a user writes of it in Python.
OWN_IN_PYTHON = """
import math

from sojourn.plugins import CongestionControl, Growth, duration, number

LEAST = 2


class Mine(CongestionControl):
    title = "Slower where the queue is long"
    beta = number(0.7, least=0, most=1, doc="Share kept")
    target = duration("20 ms", doc="Delay that is left alone")

    def __init__(self):
        self.growth = Growth()
        self.base = math.inf
        self.losses = 0

    def on_ack(self, window, ack):
        if ack.rtt is not None and ack.rtt < self.base:
            self.base = ack.rtt

    def increase(self, window, ack):
        delay = ack.srtt - self.base
        segments = 1
        if delay > self.target:
            segments = max(0.2, 1 - (delay - self.target) / (2 * self.target))
        elif self.losses > 3 and window.segments >= LEAST:
            segments *= 1 + math.sqrt(self.losses) / 10
        self.growth.additive(window, segments, ack.credit)

    def on_congestion(self, window, event):
        if event.kind not in ("loss", "ecn"):
            return
        self.losses += 1
        window.set_ssthresh(self.beta * (window.cwnd if event.flight_size is None else event.flight_size))
"""
