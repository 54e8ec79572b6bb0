"""One agent at a bottleneck, as an environment of Gymnasium."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from numpy.typing import NDArray

from sojourn.backends.result import RunResult
from sojourn.environment.episodes import SEEDS, TERMS, Curriculum, Episodes, Reward, Runs, as_actions
from sojourn.errors import InputError

Observation = NDArray[np.float32]


class Bottleneck(gymnasium.Env[Observation, Any]):
    """The agent of a scenario, which is a congestion control among others, or a queue discipline.

    An observation has ``history`` times the features that the scenario's ``observe`` lists, scaled, the latest interval last. An
    action is an array of one number, or the number of a step. ``info`` has the raw terms of rewards, the time in seconds, and
    after a reset the episode's seed and what was drawn for it. An episode is truncated at the scenario's ``duration``, and
    terminated once the agent's flow has delivered its data.

    Args:
        scenario: The path of a scenario file with one agent, or such a scenario as plain data.
        reward: What an interval is worth, from its raw terms; the scenario's ``reward`` unless given.
        curriculum: Changes what is drawn for an episode.

    Raises:
        InputError: the scenario is wrong, or has not one agent.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium's

    def __init__(
        self, scenario: str | Path | Mapping[str, Any], *, reward: Reward | None = None, curriculum: Curriculum | None = None
    ) -> None:
        self._episodes = Episodes(scenario, curriculum)
        one_agent(self._episodes)
        self._runs: Runs | None = Runs(1, self._episodes, 1)
        self._reward = reward
        self._number = 0
        self._is_over = True
        self.observation_space = self._episodes.observations
        self.action_space = self._episodes.actions

    def _open(self) -> Runs:
        if self._runs is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment was closed; make a new one")
        return self._runs

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 - Gymnasium's
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode, up to the agent's first question. The episode's seed is ``seed``, or else drawn."""
        runs = self._open()
        super().reset(seed=seed)
        chosen = seed if seed is not None else int(self.np_random.integers(SEEDS))
        episode = self._episodes.of(chosen, self._number)
        self._number += 1
        runs.reset([0], [episode])
        self._is_over = bool(runs.truncated[0] or runs.terminated[0])
        return runs.observations[0].copy(), {**self._info(runs), **episode.about}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets what the action says, and goes on to the next question."""
        runs = self._open()
        if self._is_over:
            raise ResetNeeded("the episode is over, or none has begun: call reset")
        actions = as_actions(action, self.action_space)
        try:
            runs.step(actions, [], [])
        except ValueError as error:
            raise InvalidAction(str(error)) from None
        terminated, truncated = bool(runs.terminated[0]), bool(runs.truncated[0])
        self._is_over = terminated or truncated
        info = self._info(runs)
        reward = float(runs.rewards[0]) if self._reward is None else float(self._reward(info["terms"]))
        return runs.observations[0].copy(), reward, terminated, truncated, info

    def _info(self, runs: Runs) -> dict[str, Any]:
        return {"terms": dict(zip(TERMS, runs.terms[0].tolist(), strict=True)), "time": runs.now(0) / 1e12}

    def save(self, folder: str | Path) -> Path:
        """Writes the episode as a scenario with a file of the actions so far: ``sojourn run`` makes the same of it, to the byte.

        After the last action the agent leaves everything as it is.

        Raises:
            InputError: no episode has begun.
        """
        return self._open().save(0, folder)

    def result(self) -> RunResult:
        """Carries the episode on to its end without further actions, and what ``sojourn run`` would find of it.

        Raises:
            InputError: no episode has begun.
        """
        runs = self._open()
        if runs.episodes[0] is None:
            raise InputError("no episode is under way: reset begins one")
        self._is_over = True
        return runs.result(0)

    def close(self) -> None:
        """Ends the episode. The environment cannot be used afterwards."""
        self._runs = None


def one_agent(episodes: Episodes) -> None:
    """Checks that there is one agent.

    Raises:
        InputError: there are several.
    """
    if (count := len(episodes.names)) > 1:
        raise InputError(f"{episodes.origin}: {count} agents; sojourn.environment.parallel is for several")
