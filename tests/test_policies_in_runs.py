"""Policies that decide in runs: the same as an environment with the same actions, and named where they are wrong."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn
from sojourn import _engine, api, backends, scenario, specification
from sojourn.backends.result import RunResult
from sojourn.cli import commands
from sojourn.errors import InputError
from sojourn.plugins.declared import MOST_SHOWN, SAMPLES
from sojourn.policies import Layer, Policy, write
from sojourn.scenario import agents
from sojourn.units import PICOSECONDS
from sojourn.watch.recent import Recent

SCENARIO = """
name = "a policy"
duration = "3 s"
[network.dumbbell]
senders = [{ name = "server", rate = "1 Gbit/s", delay = "5 ms" }]
receivers = [{ name = "home", rate = "1 Gbit/s" }]
bottleneck = { rate = "20 Mbit/s", delay = "10 ms", queue = { name = "droptail", limit = "60 packets" } }
[[flows]]
from = "server"
to = "home"
tcp = TCP
[[flows]]
from = "server"
to = "home"
tcp = "cubic"
[probe]
flow_series = "50 ms"
"""

AGENT: dict[str, Any] = {"interval": "1 rtt", "observe": ["latency_ratio", "send_ratio"], "history": 2, "action": "window_steps"}

#: Keep the window while the delay is short, and take segments away or add some otherwise.
STEPS = Policy(
    [Layer([[0, 0, 0, 0], [0, 0, 0.5, 0], [0, 0, 1, 0], [0.25, 0, -1, 0.5], [0, -0.5, -2, 1]], [0.5, -1, -1, 2, 2.25])], AGENT
)


def run(tcp: str, folder: Path) -> RunResult:
    """What the simulator finds with this congestion control."""
    read = scenario.from_data(tomllib.loads(SCENARIO.replace("TCP", tcp)), "here.toml", folder)
    return backends.named(backends.DEFAULT).run(specification.specify(read, 1))


def test_a_policy_decides_as_an_environment_with_its_actions(tmp_path: Path) -> None:
    """The network's greatest outputs, computed here and given to an environment, make the same run as the policy in place."""
    gymnasium = pytest.importorskip("gymnasium")
    import sojourn.environment  # noqa: F401 - registers it

    write(STEPS, tmp_path / "mine.json")
    keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in AGENT.items())
    env = gymnasium.make(
        "sojourn/Bottleneck-v0", scenario=tomllib.loads(SCENARIO.replace("TCP", f"{{ agent = true, {keys} }}"))
    ).unwrapped
    observation, _ = env.reset(seed=1)
    taken = []
    while True:
        layer = STEPS.layers[0]
        # In the order in which the engine adds them.
        sums = [
            sum((w * float(x) for w, x in zip(row, observation, strict=True)), 0.0) + bias
            for row, bias in zip(layer.weights, layer.biases, strict=True)
        ]
        taken.append(int(np.argmax(sums)))
        observation, _, terminated, truncated, _ = env.step(taken[-1])
        if terminated or truncated:
            break
    assert len(set(taken)) >= 3, "the policy does several things"
    by_itself, stepped = run('{ policy = "mine.json" }', tmp_path), env.result()
    assert by_itself.flow_series.equals(stepped.flow_series)
    assert by_itself.events == stepped.events


def test_onnx_and_matrices_are_the_same_policy(tmp_path: Path) -> None:
    """A network whose numbers single precision holds gives the same run from ONNX as from JSON, under the name of its file."""
    pytest.importorskip("onnx")
    write(STEPS, tmp_path / "mine.json")
    write(STEPS, tmp_path / "mine.onnx")
    results = [run(f'{{ policy = "mine.{ending}" }}', tmp_path) for ending in ("json", "onnx")]
    assert results[0].flow_series.equals(results[1].flow_series)
    found = sojourn.run(tomllib.loads(SCENARIO.replace("TCP", f'{{ policy = "{tmp_path}/mine.onnx" }}')))
    assert found.flows["algorithm"].to_list() == ["mine.onnx", "cubic"]


@pytest.mark.parametrize(
    ("tcp", "complaint"),
    [
        ('{ policy = "mine.json", history = 3 }', 'history: 3 is not what "mine.json" was trained with, 2'),
        ('{ policy = "mine.json", name = "cubic" }', 'give either "name" or "policy"'),
        ('{ policy = "mine.json", beta = 0.5 }', 'unknown key of mine.json "beta"'),
        ('{ policy = "missing.json" }', "No such file or directory"),
        ('{ policy = "bare.json" }', "policy: layers.0.weights: 4 numbers in a row; the observation has 30"),
        ('{ policy = "bare.json", observe = ["latency_ratio"], history = 4 }', "policy: gives 5 numbers; the action takes 1"),
        ('"mine.json"', '"mine.json" is not a name; write { policy = "mine.json" }'),
        ('{ file = "mine.json" }', 'file: "mine.json" is the file of a policy; write { policy = "mine.json" }'),
        ('{ policy = "other.json" }', 'policy: "other.json": unknown key "intervals", did you mean "interval"?'),
    ],
)  # fmt: skip
def test_wrong_policies(tmp_path: Path, tcp: str, complaint: str) -> None:
    """What does not fit the network or its training is one line that names key, file and what is allowed."""
    write(STEPS, tmp_path / "mine.json")
    write(Policy(STEPS.layers), tmp_path / "bare.json")
    write(Policy(STEPS.layers, {"intervals": 1}), tmp_path / "other.json")
    with pytest.raises(InputError) as raised:
        run(tcp, tmp_path)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match=r"mine\.json: is a policy, which sojourn describe reads"):
        sojourn.check(tmp_path / "mine.json")


def test_a_policy_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`describe` says what a policy was trained with, its layers, what it decides for and what it tells of itself."""
    write(STEPS, tmp_path / "mine.json")
    assert commands.status(["describe", str(tmp_path / "mine.json"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {row["name"]: row["value"] for row in said["agent"]}["interval"] == "1 rtt"
    assert said["layers"] == [{"layer": 0, "inputs": 4, "outputs": 5, "function": "identity"}]
    assert said["entries"][0]["kind"] == "congestion control"
    assert "set_window" in [row["name"] for row in said["state"]]
    write(Policy([Layer([[0.0]], [0.1])], {"observe": ["queue_delay"], "history": 1}), tmp_path / "queue.json")
    assert commands.status(["describe", str(tmp_path / "queue.json"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["entries"][0]["kind"] == "queue discipline"
    assert "set_probability" in [row["name"] for row in said["state"]]


def test_a_policy_tells_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of a flow have what its policy does, by the names of the registry; watching shows it with units."""
    write(STEPS, tmp_path / "mine.json")
    data = tomllib.loads(SCENARIO.replace("TCP", '{ policy = "mine.json", reward = "pcc" }'))
    data["probe"]["flow_state"] = True
    monkeypatch.chdir(tmp_path)
    told = sojourn.run(data).series.filter(kind="flow", which="0")
    own = {name: told.filter(measure=name)["value"] for name in ("questions", "action", "set_window", "reward")}
    assert all(values.len() > 40 for values in own.values())
    # It is asked each round trip: of at least 30 ms, and of at most that and 60 packets in the queue, 36 ms.
    assert 3 / 0.066 - 10 < max(own["questions"].to_list()) < 3 / 0.03
    assert set(own["action"]) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    # A window that an action set is the flow's until the next, but for what a timeout takes from it until it has grown back.
    windows = told.filter(measure="cwnd")
    both = told.filter(measure="set_window").join(windows, on="time")
    assert (both["value_right"] <= both["value"]).all()
    assert (both["value_right"] == both["value"]).any()
    specified = specification.specify(scenario.from_data(data, "here.toml", tmp_path), 1)
    recent = Recent(specified, lately=1)
    recent.add(next(backends.stepping("simulator").step(specified).moments(PICOSECONDS)))
    assert re.fullmatch(r"questions \d+, action \d, set_window [\d.]+ kB, reward .*", recent.states()["flow 0 mine.json"])


def test_names_of_states() -> None:
    """No value that an agent tells is called as one of Sojourn's own samples, and an agent has no more than a file may show."""
    for of in ("flow", "queue"):
        names = [value["name"] for value in agents.registry()["state"][of]]
        assert len(set(names)) == len(names) <= MOST_SHOWN
        assert not set(names) & SAMPLES


@pytest.mark.parametrize("kind", ["tcp", "queue"])
def test_a_policy_has_a_card(kind: str, tmp_path: Path) -> None:
    """A policy is a candidate of a suite like a file of one's own: what it decides for is checked before any run."""
    write(STEPS, tmp_path / "mine.json")
    if kind == "tcp":
        assert api.plan_evaluation(tmp_path / "mine.json", "tcp").candidate.label == "mine.json"
    else:
        with pytest.raises(InputError, match=r'"mine.json": observe: unknown feature "latency_ratio"'):
            api.plan_evaluation(tmp_path / "mine.json", "queue")


def test_a_policy_lacks_states(tmp_path: Path) -> None:
    """Questions that read the inner state of BBR are refused to a policy, which tells others, in one line."""
    write(STEPS, tmp_path / "mine.json")
    with pytest.raises(InputError, match=r"^suite bbr-draft: question \S+: mine\.json does not show [^\n]* of its inner state$"):
        api.plan_evaluation(tmp_path / "mine.json", "tcp", "bbr-draft")


def test_the_key_of_a_run_knows_what_carries_agents_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest of an agent, which is in its run's key, is another one if the crate that carries agents out is another one."""
    keys = {"agent": True, "reward": "pcc"}
    before = agents.read(dict(keys), Path()).digest
    assert agents.read(dict(keys), Path()).digest == before
    monkeypatch.setattr(_engine, "learning_sources", lambda: "other sources")
    agents._version.cache_clear()
    after = agents.read(dict(keys), Path()).digest
    agents._version.cache_clear()
    assert after != before
