"""Axes of alternatives, both directions of a link by one word, and axes that a command or a call adds."""

from collections.abc import Mapping
from typing import Any

import pytest

import sojourn
from conftest import ROOT, SMALL_TOML, Capture, complaint, scenario_data
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.scenario import from_data
from sojourn.scenario.network import Dumbbell, Network
from sojourn.specification import RunSpecification, specify
from sojourn.sweeps import file
from sojourn.sweeps.matrix import Matrix
from sojourn.sweeps.paths import KeyPath, top_level

PIE = {"name": "pie", "limit": "50 packets"}


def with_bottleneck(**keys: Any) -> dict[str, Any]:
    """The small scenario with only these keys of its bottleneck besides rate and delay."""
    data = scenario_data()
    bottleneck = data["network"]["dumbbell"]["bottleneck"]
    data["network"]["dumbbell"]["bottleneck"] = {key: bottleneck[key] for key in ("rate", "delay")} | keys
    return data


def run_of(data: Mapping[str, Any]) -> RunSpecification:
    return specify(from_data(data, "test"), 1)


def swept(**axes: Any) -> Matrix:
    return file.from_data({**scenario_data(), "sweep": {"axes": axes}}, "small.toml")


def queues(run: RunSpecification) -> list[str | None]:
    """The disciplines of the bottleneck, forwards and back."""
    return [link["queue"] and link["queue"]["name"] for link in run["links"][:2]]


def test_alternatives_set_keys_of_their_own() -> None:
    """Each alternative of an axis sets its keys together; one without keys leaves the scenario as it is."""
    matrix = swept(line={"as it is": {}, "busy": {"flows.*.count": 3, "bottleneck.queue": "codel"}})
    assert [dict(axes) for axes in matrix.points()] == [{"line": "as it is"}, {"line": "busy"}]
    as_it_is, busy = (cell.specification for cell in matrix.cells())
    assert as_it_is == run_of(scenario_data())
    assert ([flow["count"] for flow in busy["flows"]], queues(busy)) == ([3] * len(busy["flows"]), ["codel", None])
    assert matrix.described()["line"] == ("flows.*.count, network.dumbbell.bottleneck.queue", ["as it is", "busy"])


def test_alternatives_as_a_list() -> None:
    """A list of labels with what each sets is the same as a table of alternatives."""
    table = swept(line={"one": {"flows.*.count": 1}, "two": {"flows.*.count": 2}})
    listed = swept(line=[{"label": "one", "set": {"flows.*.count": 1}}, {"label": "two", "set": {"flows.*.count": 2}}])
    assert list(table.cells()) == list(listed.cells())


def test_alternatives_with_other_axes() -> None:
    """Alternatives are crossed with other axes and chosen by name; a parameter comes after the algorithm."""
    start = {"hystart": {"flows.*.tcp.slow_start": "hystart"}, "plain": {}}
    axes = {"begin": start, "tcp": {"key": "flows.*.tcp", "values": ["newreno", "cubic"]}}
    sweep = {"axes": axes, "exclude": [{"begin": "plain", "tcp": "newreno"}]}
    matrix = file.from_data({**scenario_data(), "sweep": sweep}, "small.toml")
    found = {
        tuple(cell.axes.values()): flows.tcp.slow_start and flows.tcp.slow_start.name
        for cell in matrix.cells()
        for flows in cell.scenario.flows
    }
    assert found == {("hystart", "newreno"): "hystart", ("hystart", "cubic"): "hystart", ("plain", "cubic"): None}
    assert matrix.only({"begin": ["Plain"]}).size == 1


@pytest.mark.parametrize(
    ("axis", "said"),
    [
        (
            {"a": {}, "b": {"bottleneck.both.queu": "cake"}},
            r'axes\.line\.b: .*bottleneck\.both: unknown key "queu"',
        ),
        (
            {"a": {}, "b": {"bottleneck": {"rate": "1 Mbit/s"}}},
            r"axes\.line\.b: bottleneck: is a table; write a key with its",
        ),
        ({"a": {}, "b": {"network": {}}}, r"axes\.line\.b: network: is a table"),
        ({"a": {}, "b": {"seed": 4}}, r"axes\.line\.b: axes and overrides cannot set seed"),
        ({"a": {}, "b": 1}, r'sweep\.axes\.line: "b" is no table of keys'),
        ({"a": {}}, r"axes\.line: none of its alternatives sets a key"),
        ({"key": "duration", "values": [{"label": "a", "set": {"duration": "9 s"}}]}, r"key: its alternatives say what they set"),
        ([{"label": "a", "set": {"duration": "9 s"}}, "9 s"], r"9 s: is no alternative as others of the axis are"),
    ],
)
def test_wrong_alternatives(axis: Any, said: str) -> None:
    """An alternative that will not do is refused with the axis, its name and the key."""
    with pytest.raises(InputError, match=f"^small.toml: .*{said}"):
        swept(line=axis)


def test_both_is_what_both_directions_have() -> None:
    """What the table `both` of a link has is the same as said of each direction, beside what either has alone."""
    alike: dict[str, Any] = {"queue": PIE, "loss": 0.25, "aggregation": {}}
    both = with_bottleneck(both=alike, reverse={"rate": "1 Mbit/s"})
    each = with_bottleneck(**alike, reverse={"rate": "1 Mbit/s", **alike})
    assert run_of(both) == run_of(each)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"both": {"queue": PIE}, "queue": PIE}, 'both.queue: give either it or "queue"'),
        ({"both": {"loss": 0.1}, "reverse": {"loss": 0.2}}, 'both.loss: give either it or "reverse.loss"'),
        ({"both": {"queue": PIE}, "both_queues": PIE}, 'both_queues: give either it or "both.queue"'),
        ({"both": {"rate": "1 Mbit/s"}}, 'both: unknown key "rate"'),
        ({"both": "pie"}, "both: must be a table"),
    ],
)
def test_wrong_both(keys: Mapping[str, Any], said: str) -> None:
    """What is said twice of a direction, or cannot be said of both, is refused."""
    with pytest.raises(InputError, match=f"^test: network.dumbbell.bottleneck.*{said}"):
        run_of(with_bottleneck(**keys))


@pytest.mark.parametrize(
    "before",
    [
        {"queue": PIE, "reverse": {"queue": PIE}},
        {"both": {"queue": PIE}},
        {"both_queues": PIE},
    ],
)
def test_one_word_sets_both_directions(before: Mapping[str, Any]) -> None:
    """A path through `both` sets either direction, whichever way the file says what they have; so does `both_queues`."""
    for word in ("both.queue", "both_queues"):
        path = f"network.dumbbell.bottleneck.{word}"
        other = KeyPath.of(path).assigned(with_bottleneck(**before), "codel")
        assert queues(run_of(other)) == ["codel", "codel"]
        longer = run_of(KeyPath.of(f"{path}.limit").assigned(with_bottleneck(**before), "70 packets"))
        assert [link["queue"] and link["queue"]["limit"] for link in longer["links"][:2]] == [{"packets": 70}] * 2
    # A path through one direction leaves the other.
    one = KeyPath.of("network.dumbbell.bottleneck.reverse.queue").assigned(with_bottleneck(**before), "codel")
    assert queues(run_of(one)) == ["pie", "codel"]
    with pytest.raises(ValueError, match=r'bottleneck\.both" is a table; write what both directions get'):
        KeyPath.of("network.dumbbell.bottleneck.both")


def test_paths_below_the_network() -> None:
    """A path may leave out the tables of the network, and none of their keys is one of a scenario's own."""
    for short in ("bottleneck.queue", "senders.0.rate", "links.*.delay", "hosts.0.count", "dumbbell.bottleneck.loss"):
        before = "network." if short.startswith(("links", "hosts", "dumbbell")) else "network.dumbbell."
        assert KeyPath.of(short) == KeyPath.of(before + short)
    assert not {*Network.all_keys(), *Dumbbell.all_keys()} & set(top_level())


def test_sweep_adds_axes() -> None:
    """A sweep in Python adds axes, called by the last word of their keys, to those of the file, or replaces their values."""
    base = {**scenario_data(), "sweep": {"axes": {"tcp": {"key": "flows.*.tcp", "values": ["newreno", "cubic"]}}}}
    matrix = sojourn.sweep(base, {"bottleneck.queue.name": ["droptail", "codel"], "bottleneck.reverse.queue": ["pie"]})
    assert matrix.axes == ("tcp", "queue", "reverse.queue")
    assert [queues(cell.specification) for cell in matrix.only({"tcp": ["cubic"]}).cells()] == [
        ["droptail", "pie"],
        ["codel", "pie"],
    ]
    other = sojourn.sweep(matrix, {"tcp": ["bbr"]})
    assert {flows.tcp.name for cell in other.cells() for flows in cell.scenario.flows} == {"bbr"}
    assert repr(other) == "<small, 2 cells (tcp: bbr; queue: droptail, codel; reverse.queue: pie)>"


def test_sweep_is_run() -> None:
    """A sweep runs as a file with the same axes does."""
    line = {"as it is": {}, "other": {"bottleneck.both.queue": "pie"}}
    found = sojourn.run(sojourn.sweep(scenario_data(), {"line": line}))
    of_file = sojourn.run({**scenario_data(), "sweep": {"axes": {"line": line}}})
    assert found.runs.equals(of_file.runs)
    assert found.queues["discipline"].to_list() == ["codel", "pie", "pie"]


def test_vary_on_the_command_line(tmp_path: Any, capsys: Capture) -> None:
    """`--vary` takes values between commas, lists, and tables of alternatives; numbers are numbers, and the file's axes stay."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL_TOML, encoding="utf-8")
    varied = ["--vary", "flows.*.count=1,2", "--vary", 'queue={ "as it is" = {}, both = { "bottleneck.both.queue" = "codel" } }']
    assert status(["plan", str(path), *varied, "--csv"]) == 0
    axes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("axes")]
    assert [line.partition(",,,,,,")[2] for line in axes] == [
        ',count,flows.*.count,2,"[""1"", ""2""]"',
        ',queue,network.dumbbell.bottleneck.both.queue,2,"[""as it is"", ""both""]"',
    ]
    assert status(["run", str(path), *varied, "--csv"]) == 0
    assert '"as it is"' not in (out := capsys.readouterr().out)
    assert out.count("as it is") >= 2


@pytest.mark.parametrize(
    ("varied", "said"),
    [
        ("x", "--vary x: write AXIS=VALUE,VALUE or KEY=VALUE,VALUE"),
        ("bottleneck.queue={nme", "--vary bottleneck.queue: "),
        ("bottleneck.queu=a,b", 'axes.queu.key: network.dumbbell.bottleneck: unknown key "queu", did you mean "queue"?'),
        (
            "bottleneck.both.queue=codel,codle",
            "cell queue=codle: network.dumbbell.bottleneck.queue: unknown queue",
        ),
        ("load=a,b", "axes.load: sets nothing"),
    ],
)
def test_wrong_vary(tmp_path: Any, capsys: Capture, varied: str, said: str) -> None:
    """A wrong axis is one line, and exit status 2."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL_TOML, encoding="utf-8")
    assert status(["run", str(path), "--vary", varied]) == 2
    assert said in complaint(capsys)


def test_home_question_in_one_line() -> None:
    """The example's axis shortens the uplink's buffer or has CAKE on both directions, and the call waits less."""
    found = sojourn.run(ROOT / "examples" / "home.toml", seeds=1)
    waits = dict(found.groups.filter(flow_group="call").select("line", "delay_mean_s").iter_rows())
    assert waits["as it is"] > 2 * waits["short uplink buffer"] > 2 * waits["CAKE, both ways"]
    cake = found.queues.filter(line="CAKE, both ways")["discipline"].to_list()
    assert cake == ["cake", "cake"]
