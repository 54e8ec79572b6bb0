"""Several agents on one path, as a parallel environment of PettingZoo."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, InvalidAction, ResetNeeded
from gymnasium.spaces import Space

from sojourn.environment.episodes import SEEDS, TERMS, Curriculum, Episodes, Reward, Runs, as_actions, random_of
from sojourn.environment.single import Observation
from sojourn.errors import InputError

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise ImportError(f"sojourn.environment needs gymnasium and pettingzoo: pip install sojourn[learning] ({error})") from None


class Several(ParallelEnv):  # type: ignore[misc] # PettingZoo has no types
    """The agents of a scenario: all of its flows with ``tcp = { agent = true }``, called ``flow_0`` and so on, or such queues.

    They decide at common times, so their ``interval`` must be a time. An agent whose connection is not open is among them: it
    sees what features are before anything happened, its action changes nothing, and its reward is 0. It leaves once its flow has
    delivered its data; all leave at the scenario's end.
    """

    metadata = {"name": "sojourn_bottleneck_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012 - PettingZoo's

    def __init__(
        self, scenario: str | Path | Mapping[str, Any], *, reward: Reward | None = None, curriculum: Curriculum | None = None
    ) -> None:
        self._episodes = Episodes(scenario, curriculum)
        if "time" not in self._episodes.agent.agent["interval"]:
            raise InputError(
                f'{self._episodes.origin}: interval: several agents decide at common times; give a time, such as "30 ms"'
            )
        self._runs: Runs | None = Runs(1, self._episodes, 1)
        self._reward = reward
        self._random = np.random.default_rng()
        self._number = 0
        self.possible_agents = list(self._episodes.names)
        self.agents: list[str] = []
        self.observation_spaces = dict.fromkeys(self.possible_agents, self._episodes.observations)
        self.action_spaces = dict.fromkeys(self.possible_agents, self._episodes.actions)

    def observation_space(self, agent: str) -> Space[Any]:
        """What an agent sees."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """What an agent sets."""
        return self.action_spaces[agent]

    def _open(self) -> Runs:
        if self._runs is None:
            raise ClosedEnvironmentError("the environment was closed; make a new one")
        return self._runs

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 - PettingZoo's
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begins an episode, up to the first question. The episode's seed is ``seed``, or else drawn."""
        runs = self._open()
        if seed is not None:
            self._random = random_of(seed)
        episode = self._episodes.of(int(self._random.integers(SEEDS)) if seed is None else seed, self._number)
        self._number += 1
        runs.reset([0], [episode])
        self.agents = list(self.possible_agents)
        infos = {agent: {**self._info(runs, place), **episode.about} for place, agent in enumerate(self.agents)}
        return self._observations(runs), infos

    def _observations(self, runs: Runs) -> dict[str, Observation]:
        return {
            agent: runs.observations[place].copy() for place, agent in enumerate(self.possible_agents) if agent in self.agents
        }

    def _info(self, runs: Runs, place: int) -> dict[str, Any]:
        return {"terms": dict(zip(TERMS, runs.terms[place].tolist(), strict=True)), "time": runs.now(0) / 1e12}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Sets what the actions say, and goes on to the next question."""
        runs = self._open()
        if not self.agents:
            raise ResetNeeded("the episode is over, or none has begun: call reset")
        if missing := next((agent for agent in self.agents if agent not in actions), None):
            raise InvalidAction(f"action: none for {missing}")
        given = np.zeros(len(self.possible_agents))
        for place, agent in enumerate(self.possible_agents):
            if agent in self.agents:
                numbers = as_actions(actions[agent], self.action_spaces[agent])
                if numbers.size != 1:
                    raise InvalidAction(f"action: {numbers.size} numbers for {agent}; 1 is asked for")
                given[place] = numbers[0]
        try:
            runs.step(given, [], [])
        except ValueError as error:
            raise InvalidAction(str(error)) from None
        present = [(place, agent) for place, agent in enumerate(self.possible_agents) if agent in self.agents]
        infos = {agent: self._info(runs, place) for place, agent in present}
        rewards = {
            agent: float(runs.rewards[place]) if self._reward is None else float(self._reward(infos[agent]["terms"]))
            for place, agent in present
        }
        terminations = {agent: bool(runs.terminated[place]) for place, agent in present}
        truncations = {agent: bool(runs.truncated[place]) for place, agent in present}
        observations = self._observations(runs)
        self.agents = [agent for agent in self.agents if not (terminations[agent] or truncations[agent])]
        return observations, rewards, terminations, truncations, infos

    def save(self, folder: str | Path) -> Path:
        """Writes the episode as a scenario with its actions; see ``Bottleneck.save``."""
        return self._open().save(0, folder)

    def close(self) -> None:
        """Ends the episode. The environment cannot be used afterwards."""
        self._runs = None

    def render(self) -> None:
        """Nothing: ``sojourn watch`` shows an episode that was saved."""


def parallel(
    scenario: str | Path | Mapping[str, Any], *, reward: Reward | None = None, curriculum: Curriculum | None = None
) -> Several:
    """The agents of a scenario as a parallel environment; see ``Several``, and ``Bottleneck`` for the arguments.

    Raises:
        InputError: the scenario is wrong, has no agent, or their interval is not a time.
    """
    return Several(scenario, reward=reward, curriculum=curriculum)
