"""Policies as C: the file that is exported decides as the policy does, whatever it sees and sets."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Capture, complaint
from sojourn import policies
from sojourn.backends.result import FRAMES
from sojourn.cli.commands import status
from sojourn.exports.policy import FEATURES
from sojourn.plugins.compiler import HEADERS, OPTIONS
from sojourn.policies import Layer, Policy
from sojourn.scenario import agents
from test_environment import CROSS, run_of, text

FEW = ["latency_ratio", "send_ratio", "rtt_gradient", "loss_ratio"]

#: Each kind of interval and of action, each feature, and each function of a layer.
MADE_FOR: dict[str, dict[str, Any]] = {
    "round trips": {"interval": "1 rtt", "observe": list(FEATURES), "history": 3, "action": "window_factor"},
    "time": {"interval": "30 ms", "observe": list(FEATURES), "history": 2, "action": "rate_factor"},
    "acknowledgements": {"interval": "10 acks", "observe": FEW, "history": 1, "action": "window_steps"},
    "an acknowledgement": {
        "interval": "1 ack",
        "observe": [*FEW, "cwnd", "acknowledged"],
        "history": 2,
        "action": "window_delta",
    },
    "tcp_info": {"interval": "0.5 rtt", "observe": ["srtt", "cwnd"], "history": 2, "action": "rate_steps", "only_tcp_info": True},
    "delta": {"interval": "20 ms", "observe": FEW, "history": 4, "action": {"name": "window_delta", "scale": 0.5}},
    "rate delta": {"interval": "20 ms", "observe": FEW, "history": 4, "action": "rate_delta"},
    "window": {"interval": "20 ms", "observe": FEW, "history": 4, "action": {"name": "window", "least": 2, "most": 60}},
    "rate": {"interval": "20 ms", "observe": FEW, "history": 4, "action": {"name": "rate", "most": "30 Mbit/s"}},
}


def policy_of(agent: dict[str, Any], seed: int = 1) -> Policy:
    """A network with weights that look random, of which the last layer gives as many numbers as the action takes."""
    random = np.random.default_rng(seed)
    outputs = 5 if "steps" in str(agent["action"]) else 1

    def layer(takes: int, gives: int, function: Any) -> Layer:
        return Layer(random.normal(size=(gives, takes)).tolist(), random.normal(size=gives).tolist(), function)

    inputs = len(agent["observe"]) * agent["history"]
    kinds = (inputs, 8, "tanh"), (8, 6, "relu"), (6, 6, "sigmoid"), (6, 4, {"clip": [-0.5, 0.5]}), (4, outputs, "identity")
    return Policy([layer(*kind) for kind in kinds], agent)


def exported(folder: Path, policy: Policy) -> Path:
    """The policy as a file, and the C file that the command makes of it."""
    policies.write(policy, folder / "mine.json")

    assert status(["export", str(folder / "mine.json"), "--format", "c", "--out", str(folder / "mine.c")]) == 0
    return folder / "mine.c"


@pytest.mark.parametrize("limit", ["60 packets", "8 packets"])
@pytest.mark.parametrize("case", MADE_FOR)
def test_the_same_decisions(case: str, limit: str, tmp_path: Path) -> None:
    """A run with the C file is the run with the policy, but for the algorithm's name: each series, count and event."""
    exported(tmp_path, policy_of(MADE_FOR[case]))
    results = []
    for tcp in ('policy = "mine.json"', 'file = "mine.c"'):
        written = text(tcp, flows=CROSS, duration="3 s")
        written = written.replace("60 packets", limit)
        (tmp_path / "it.toml").write_text(written)
        results.append(run_of(tmp_path / "it.toml"))
    policy, c = results
    assert (policy.events, policy.data_packets_delivered) == (c.events, c.data_packets_delivered)
    for name in FRAMES:
        frames = [getattr(result, name) for result in results]
        if name == "flows":
            frames = [frame.drop("algorithm") for frame in frames]
        assert frames[0].equals(frames[1]), name


def test_each_feature() -> None:
    """Each feature of a flow that the registry has is one in C."""
    assert set(FEATURES) == {feature["name"] for feature in agents.registry()["features"] if feature.get("of", "flow") == "flow"}


def test_compilers_do_not_warn(tmp_path: Path) -> None:
    """The C files compile without a warning."""
    for place, agent in enumerate(MADE_FOR.values()):
        file = exported(tmp_path, policy_of(agent))
        command = ["cc", *OPTIONS, "-Wextra", "-Werror", f"-I{HEADERS}", "-o", str(tmp_path / f"{place}.so"), str(file), "-lm"]
        assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


@pytest.mark.parametrize("option", [["--seed", "3"], ["--set", "duration='1 s'"], ["--only", "queue=pie"]])
def test_options_of_runs_are_refused(option: list[str], tmp_path: Path, capsys: Capture) -> None:
    """Nothing is run to write C, so what changes a run is refused instead of ignored."""
    policies.write(Policy([Layer([[1.0] * 4], [0.0])], {"observe": FEW, "history": 1}), tmp_path / "mine.json")
    out = tmp_path / "mine.c"
    assert status(["export", str(tmp_path / "mine.json"), "--format", "c", "--out", str(out), *option]) == 2
    assert "--format c: nothing is run" in complaint(capsys)
    assert not out.exists()


@pytest.mark.parametrize(
    ("agent", "out", "said"),
    [
        (
            {"over": "cubic", "observe": FEW, "history": 1},
            "mine.c",
            "over: a file in C sets the window alone and cannot be over cubic; train without it to export",
        ),
        ({"observe": ["queue_delay"], "history": 4}, "mine.c", "decides in a queue; only congestion controls are written as C"),
        ({"observe": FEW, "history": 1}, "mine.cc", "mine.cc: must end in .c"),
        ({"observe": FEW, "history": 2}, "mine.c", "mine.json"),
    ],
)
def test_what_cannot_be_exported(agent: dict[str, Any], out: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    """A policy over a built-in control or in a queue, another ending, or a network of another shape: one line, exit status 2."""
    policies.write(Policy([Layer([[1.0] * 4], [0.0])], agent), tmp_path / "mine.json")

    assert status(["export", str(tmp_path / "mine.json"), "--format", "c", "--out", str(tmp_path / out)]) == 2
    assert said in complaint(capsys)
