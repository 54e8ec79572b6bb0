"""Policies that decide in runs: the same as an environment with the same actions, and named where they are wrong."""

import json
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
from sojourn.policies import Layer, Policy, write
from sojourn.scenario import agents

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
        ('{ policy = "bare.json" }', "policy: layer 0: weights: row 0 has 4 numbers; there are 30 inputs"),
        ('{ policy = "bare.json", observe = ["latency_ratio"], history = 4 }', "policy: gives 5 numbers; the action takes 1"),
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


def test_a_policy_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`describe` says what a policy was trained with, and its layers."""
    write(STEPS, tmp_path / "mine.json")
    assert commands.status(["describe", str(tmp_path / "mine.json"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {row["name"]: row["value"] for row in said["agent"]}["interval"] == "1 rtt"
    assert said["layers"] == [{"layer": 0, "inputs": 4, "outputs": 5, "function": "identity"}]


@pytest.mark.parametrize("kind", ["tcp", "queue"])
def test_a_policy_has_a_card(kind: str, tmp_path: Path) -> None:
    """A policy is a candidate of a suite like a file of one's own: what it decides for is checked before any run."""
    write(STEPS, tmp_path / "mine.json")
    if kind == "tcp":
        assert api.plan_evaluation(tmp_path / "mine.json", "tcp").candidate.label == "mine.json"
    else:
        with pytest.raises(InputError, match=r'"mine.json": observe: unknown feature "latency_ratio"'):
            api.plan_evaluation(tmp_path / "mine.json", "queue")


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
