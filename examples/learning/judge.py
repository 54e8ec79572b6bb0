"""Compares the reward of a policy with that of a built-in congestion control in the same episodes.

    python examples/learning/judge.py policy.json --episodes 40

Each episode of ``held-out.toml`` is played twice: the policy decides, and an agent over CUBIC that leaves all to CUBIC.
"""

import argparse
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn import policies
from sojourn.environment import BottleneckVector

HELD_OUT = Path(__file__).with_name("held-out.toml")

#: The seed of the first episode, which no training draws: those are below 2^31.
FIRST_SEED = 2**31

Numbers = NDArray[np.float64]


def decided(policy: policies.Policy, observations: Numbers) -> Numbers:
    """The actions of a policy that train.py made, a row for each observation."""
    for layer in policy.layers:
        observations = np.tanh(observations @ np.array(layer.weights).T + np.array(layer.biases))
    return observations


def rewards(scenario: dict[str, Any], policy: policies.Policy | None, seeds: list[int]) -> Numbers:
    """The mean reward over time in each episode; without a policy nothing is changed."""
    environments = BottleneckVector(scenario, len(seeds))
    observations, _ = environments.reset(seed=seeds)
    found, seconds, is_under_way = np.zeros(len(seeds)), np.zeros(len(seeds)), np.ones(len(seeds), dtype=bool)
    while is_under_way.any():
        nothing = np.zeros((len(seeds), 1))
        actions = nothing if policy is None else decided(policy, observations.astype(np.float64).reshape(len(seeds), -1))
        observations, reward, terminated, truncated, infos = environments.step(actions)
        lasted = np.where(is_under_way, infos["seconds"], 0.0)
        found, seconds = found + lasted * reward, seconds + lasted
        is_under_way &= ~(terminated | truncated)
    return found / seconds


def judged(file: Path, against: str = "cubic", episodes: int = 40, scenario: Path = HELD_OUT) -> tuple[Numbers, Numbers]:
    """The rewards of a policy and of a built-in control in the same episodes."""
    data = tomllib.loads(scenario.read_text())
    seeds = list(range(FIRST_SEED, FIRST_SEED + episodes))
    policy = policies.read(file)
    data["flows"][0]["tcp"] |= policy.agent
    own = rewards(data, policy, seeds)
    data["flows"][0]["tcp"]["over"] = against
    return own, rewards(data, None, seeds)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Compare a policy's reward with a built-in control's.")
    parser.add_argument("policy", type=Path)
    parser.add_argument("--against", default="cubic", help="the built-in control (default: cubic)")
    parser.add_argument("--episodes", type=int, default=40, help="how many (default: 40)")
    parser.add_argument("--scenario", type=Path, default=HELD_OUT, help="the episodes (default: held-out.toml)")
    given = parser.parse_args()
    own, other = judged(given.policy, given.against, given.episodes, given.scenario)
    print(f"mean reward: {given.policy.name} {own.mean():.3f}, {given.against} {other.mean():.3f}")
    print(f"{given.policy.name} has the greater reward in {(own > other).sum()} of {given.episodes} episodes")


if __name__ == "__main__":
    main()
