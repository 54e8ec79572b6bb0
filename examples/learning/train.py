"""Trains a congestion control by an evolution strategy, CMA-ES of the package pycma, and writes it as a policy.

    pip install "sojourn[learning]" "cma>=4.5,<5"
    python examples/learning/train.py --seed 1 --out policy.json

Each generation is a number of networks. All of them play the same episodes of ``train.toml``, with a seed each, in one vector of
environments; what a network is worth is its mean reward over time. Nothing else is random, so a seed always gives the same file.
"""

import argparse
import tomllib
from pathlib import Path

import cma  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from sojourn import policies
from sojourn.environment import BottleneckVector

Numbers = NDArray[np.float64]

TRAINING = Path(__file__).with_name("train.toml")

#: Neurons of the only hidden layer.
HIDDEN = 4

#: The strategy begins with weights of this deviation around 0: a network that does nothing.
DEVIATION = 0.3

#: The keys of an agent that a policy's file has: what it sees and sets.
MADE_FOR = ("interval", "observe", "history", "action")


class Networks:
    """Networks of one shape, each with a row of numbers: weights and biases of both layers."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.shapes = [(HIDDEN, inputs), (HIDDEN,), (1, HIDDEN), (1,)]
        self.count = sum(int(np.prod(shape)) for shape in self.shapes)

    def parts(self, rows: Numbers) -> list[Numbers]:
        """The weights and the biases of several networks."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])[:-1]
        return [part.reshape(-1, *shape) for part, shape in zip(np.split(rows, ends, axis=1), self.shapes, strict=True)]

    def actions(self, rows: Numbers, observations: Numbers) -> Numbers:
        """What each network does at each of its observations, which are as many for all."""
        first, biases, second, bias = self.parts(rows)
        seen = observations.reshape(len(rows), -1, self.inputs)
        hidden = np.tanh(np.einsum("nhi,nei->neh", first, seen) + biases[:, np.newaxis])
        decided: Numbers = np.tanh(np.einsum("noh,neh->neo", second, hidden) + bias[:, np.newaxis])
        return decided.reshape(-1, 1)

    def policy(self, row: Numbers, agent: dict[str, object]) -> policies.Policy:
        """One of them as a policy."""
        first, biases, second, bias = (part[0].tolist() for part in self.parts(row[np.newaxis]))
        layers = [policies.Layer(first, biases, "tanh"), policies.Layer(second, bias, "tanh")]
        return policies.Policy(layers, agent)


def worth(environments: BottleneckVector, networks: Networks, rows: Numbers, seeds: list[int]) -> Numbers:
    """What each network is worth: the mean over time of the reward in the episodes of these seeds."""
    observations, _ = environments.reset(seed=seeds * len(rows))
    rewards, seconds = np.zeros(environments.num_envs), np.zeros(environments.num_envs)
    is_under_way = np.ones(environments.num_envs, dtype=bool)
    while is_under_way.any():
        actions = networks.actions(rows, observations.astype(np.float64))
        observations, reward, terminated, truncated, infos = environments.step(actions)
        # The next episodes, which begin where one has ended, do not count.
        lasted = np.where(is_under_way, infos["seconds"], 0.0)
        rewards, seconds = rewards + lasted * reward, seconds + lasted
        is_under_way &= ~(terminated | truncated)
    means: Numbers = (rewards / seconds).reshape(len(rows), -1).mean(axis=1)
    return means


def train(seed: int, generations: int, population: int, episodes: int, scenario: Path = TRAINING) -> policies.Policy:
    """The policy that a training leaves: the middle of the last generation."""
    environments = BottleneckVector(scenario, population * episodes)
    networks = Networks(int(np.prod(environments.single_observation_space.shape or ())))
    settings = {"seed": seed, "popsize": population, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(np.zeros(networks.count), DEVIATION, settings)
    random = np.random.default_rng(seed)
    for generation in range(generations):
        rows = np.array(strategy.ask())
        found = worth(environments, networks, rows, random.integers(2**31, size=episodes).tolist())
        strategy.tell(list(rows), (-found).tolist())
        print(f"generation {generation + 1}: mean reward {found.mean():.3f}, best {found.max():.3f}", flush=True)
    tcp = tomllib.loads(scenario.read_text())["flows"][0]["tcp"]
    return networks.policy(np.array(strategy.result.xfavorite), {key: tcp[key] for key in MADE_FOR})


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description="Train a congestion control.")
    parser.add_argument("--seed", type=int, default=1, help="of the training (default: 1)")
    parser.add_argument("--generations", type=int, default=150, help="how many (default: 150)")
    parser.add_argument("--population", type=int, default=16, help="networks of a generation (default: 16)")
    parser.add_argument("--episodes", type=int, default=6, help="that each plays (default: 6)")
    parser.add_argument("--out", type=Path, default=Path("policy.json"), help="the file, .json or .onnx (default: policy.json)")
    given = parser.parse_args()
    policies.write(train(given.seed, given.generations, given.population, given.episodes), given.out)


if __name__ == "__main__":
    main()
