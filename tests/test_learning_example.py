"""The example of a controller that learns: a training is a function of its seed, and what it leaves is a congestion control."""

import json
import sys
from importlib import util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from conftest import ROOT
from sojourn import policies, scenario
from sojourn.scenario import agents

EXAMPLE = ROOT / "examples" / "learning"


def module(name: str) -> ModuleType:
    """A program of the example."""
    specification = util.spec_from_file_location(f"example_{name}", EXAMPLE / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    made = util.module_from_spec(specification)
    sys.modules[specification.name] = made
    specification.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def train() -> ModuleType:
    """The program that trains."""
    pytest.importorskip("cma")
    return module("train")


def trained(train: ModuleType, seed: int, path: Path) -> bytes:
    """The file that a short training leaves."""
    policies.write(train.train(seed, generations=2, population=4, episodes=2), path)
    return path.read_bytes()


def test_the_same_seed_leaves_the_same_bytes(train: ModuleType, tmp_path: Path) -> None:
    """Two trainings with one seed leave the same file, and one with another seed another."""
    first, again, other = (trained(train, seed, tmp_path / f"{name}.json") for name, seed in (("a", 3), ("b", 3), ("c", 4)))
    assert first == again
    assert first != other


def test_what_is_trained_is_what_is_written(train: ModuleType) -> None:
    """The policy in the file gives what the network gave while it was trained."""
    networks = train.Networks(8)
    random = np.random.default_rng(1)
    row, observations = random.normal(size=networks.count), random.normal(size=(5, 8))
    made = networks.policy(row, {})
    judged = module("judge").decided(made, observations)
    assert networks.actions(row[np.newaxis], observations) == pytest.approx(judged, rel=1e-12)


@pytest.mark.parametrize("name", ["policy.json", "stand-in.json"])
def test_committed_policies(name: str) -> None:
    """The policies of the example can be run as they are, and the trained one is what its training says."""
    agent = agents.read({"policy": name}, EXAMPLE)
    if name == "policy.json":
        tcp = scenario.read_toml(EXAMPLE / "train.toml")["flows"][0]["tcp"]
        assert policies.read(EXAMPLE / name).agent == {key: tcp[key] for key in ("interval", "observe", "history", "action")}
    assert json.dumps(agent.agent["decider"])


def test_nothing_is_held_out_in_vain() -> None:
    """No condition of held-out.toml is within the ranges of train.toml."""
    from sojourn.units import DURATION, RATE

    drawn = [scenario.read_toml(EXAMPLE / name)["environment"]["draw"] for name in ("train.toml", "held-out.toml")]
    for key, unit in (("rate", RATE), ("delay", DURATION)):
        least, most = (unit.parse(end) for end in drawn[0][key]["range"].split(".."))
        assert not any(least <= unit.parse(value) <= most for value in drawn[1][key]["values"])
    assert not set(drawn[0]["buffer"]["values"]) & set(drawn[1]["buffer"]["values"])
