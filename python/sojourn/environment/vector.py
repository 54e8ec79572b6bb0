"""Many environments of one agent each, which native threads carry on at once."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sojourn.environment.episodes import SEEDS, TERMS, Curriculum, Episode, Episodes, Runs, as_actions, random_of
from sojourn.environment.single import Observation, one_agent

#: What the intervals of several environments were worth, from their raw terms, an array each.
Rewards = Callable[[dict[str, NDArray[np.float64]]], NDArray[np.float64]]


class BottleneckVector(VectorEnv[Observation, NDArray[Any], NDArray[Any]]):
    """The environments of ``Bottleneck``, so many at once: a step of all is one call into the engine.

    An environment whose episode has ended begins its next one at the step after that, whose action it ignores and whose reward is
    0 (``AutoresetMode.NEXT_STEP``). ``infos`` has each raw term of rewards as an array, and at resets ``seed``.

    Args:
        scenario: See ``Bottleneck``.
        num_envs: How many.
        threads: How many native threads; as many as there are cores unless given.
        reward: What the intervals of all environments are worth, an array, from their raw terms, an array each; the scenario's
            ``reward`` unless given.
        curriculum: Changes what is drawn for an episode; episodes are counted over all environments.

    Raises:
        InputError: the scenario is wrong, or has not one agent.
    """

    def __init__(
        self,
        scenario: str | Path | Mapping[str, Any],
        num_envs: int = 1,
        *,
        threads: int | None = None,
        reward: Rewards | None = None,
        curriculum: Curriculum | None = None,
    ) -> None:
        self._episodes = Episodes(scenario, curriculum)
        one_agent(self._episodes)
        self._runs: Runs | None = Runs(num_envs, self._episodes, threads)
        self.num_envs = num_envs
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = self._episodes.observations
        self.single_action_space = self._episodes.actions
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._randoms = [np.random.default_rng() for _ in range(num_envs)]
        self._over: NDArray[np.bool_] | None = None
        self._reward = reward
        self._number = 0

    def _open(self) -> Runs:
        if self._runs is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment was closed; make a new one")
        return self._runs

    def _episode(self, seed: int) -> Episode:
        self._number += 1
        return self._episodes.of(seed, self._number - 1)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 - Gymnasium's
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode in each environment: with ``seed``, ``seed + 1`` and so on, those given, or drawn ones."""
        runs = self._open()
        seeds = [seed + place for place in range(self.num_envs)] if isinstance(seed, int) else seed
        given = [None] * self.num_envs if seeds is None else list(seeds)
        if len(given) != self.num_envs:
            raise ValueError(f"seed: {len(given)} seeds for {self.num_envs} environments")
        begun = []
        for place, one in enumerate(given):
            if one is not None:
                self._randoms[place] = random_of(one)
            begun.append(self._episode(self._drawn_seed(place) if one is None else int(one)))
        runs.reset(list(range(self.num_envs)), begun)
        self._over = (runs.truncated | runs.terminated).astype(np.bool_)
        infos = self._infos(runs)
        infos["seed"] = np.array([episode.seed for episode in begun])
        return runs.observations.copy(), infos

    def _drawn_seed(self, place: int) -> int:
        return int(self._randoms[place].integers(SEEDS))

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Sets what the actions say, and goes on to the next question of each environment."""
        runs = self._open()
        if self._over is None:
            raise ResetNeeded("no episode has begun: call reset")
        places: list[int] = np.flatnonzero(self._over).tolist()
        begun = [self._episode(self._drawn_seed(place)) for place in places]
        try:
            runs.step(as_actions(actions, self.single_action_space), places, begun)
        except ValueError as error:
            raise InvalidAction(str(error)) from None
        terminated, truncated = runs.terminated.astype(np.bool_), runs.truncated.astype(np.bool_)
        self._over = terminated | truncated
        infos = self._infos(runs)
        rewards = runs.rewards.copy() if self._reward is None else self._own_rewards(self._reward, infos, places)
        if places:
            infos["seed"] = np.zeros(self.num_envs, dtype=np.int64)
            infos["seed"][places] = [episode.seed for episode in begun]
            infos["_seed"] = np.isin(np.arange(self.num_envs), places)
        return runs.observations.copy(), rewards, terminated, truncated, infos

    def _own_rewards(self, reward: Rewards, infos: dict[str, Any], begun: list[int]) -> NDArray[np.float64]:
        """What a function makes of the terms; an episode that begins has had no interval."""
        found = np.array(reward({name: infos[name] for name in TERMS}), dtype=np.float64)
        if found.shape != (self.num_envs,):
            raise ValueError(f"reward: the function gave an array of shape {found.shape}; {(self.num_envs,)} is needed")
        found[begun] = 0
        return found

    def _infos(self, runs: Runs) -> dict[str, Any]:
        return dict(zip(TERMS, runs.terms.T.copy(), strict=True))

    def save(self, place: int, folder: str | Path) -> Path:
        """Writes the episode of one environment; see ``Bottleneck.save``."""
        return self._open().save(place, folder)

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002 - Gymnasium's
        """Ends all episodes. The environments cannot be used afterwards."""
        self._runs = None
