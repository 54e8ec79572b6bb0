"""Episodes of a scenario: each is a scenario of its own, with what is drawn for it."""

import csv
import json
import operator
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from gymnasium import spaces
from gymnasium.error import Error, InvalidAction
from gymnasium.utils import seeding
from numpy.typing import NDArray

from sojourn import _engine, scenario, specification
from sojourn.backends.result import RunResult
from sojourn.backends.simulator import complaints, result_of
from sojourn.errors import InputError, RunFailed
from sojourn.scenario import agents
from sojourn.scenario.agents import Agent
from sojourn.scenario.model import Scenario
from sojourn.scenario.moving import moved
from sojourn.scenario.reading import Shared
from sojourn.sweeps.drawn import Drawn
from sojourn.sweeps.file import ENVIRONMENT, RANGE, SEARCH, SWEEP, ScenarioFile, drawn

#: What a saved episode is called.
SCENARIO, ACTIONS = "scenario.toml", "actions.csv"

#: Changes what is drawn for an episode: its number from 0, and the values by the names of ``[environment.draw]``.
Curriculum = Callable[[int, dict[str, Any]], Mapping[str, Any]]

#: What an interval was worth, from its raw terms.
Reward = Callable[[dict[str, float]], float]

#: The greatest seed of a scenario, and one more.
SEEDS = 2**63

#: The kinds of numpy's types that are numbers: yes or no, whole ones with and without sign, and others.
NUMBERS = "biuf"

#: The names of the raw terms of rewards, in order.
TERMS: tuple[str, ...] = tuple(term["name"] for term in agents.registry()["terms"])


@dataclass(frozen=True)
class Episode:
    """One episode: its seed, what was drawn, and its scenario as plain data."""

    seed: int
    number: int
    drawn: dict[str, Any]
    data: dict[str, Any]
    #: The specification of its run.
    text: str

    @property
    def about(self) -> dict[str, Any]:
        """What ``info`` says of it."""
        return {"seed": self.seed, "episode": self.number, "drawn": dict(self.drawn)}


@dataclass
class Episodes:
    """The episodes of a scenario file, or of a scenario given as plain data.

    Args:
        file: The path of a scenario file, or a scenario as ``tomllib`` reads it.
        curriculum: See ``Curriculum``.
        folder: What paths in plain data are relative to.

    Raises:
        InputError: the scenario is wrong, or no flow of it has an agent.
    """

    file: str | Path | Mapping[str, Any]
    curriculum: Curriculum | None = None
    folder: Path | None = None
    _shared: Shared = field(default_factory=Shared)

    def __post_init__(self) -> None:
        given = self.file
        if not isinstance(given, str | Path | Mapping):
            raise InputError(f"scenario: {given!r} is neither the path of a file nor a scenario as plain data")
        self.origin = str(given) if isinstance(given, str | Path) else "scenario"
        data = scenario.read_toml(Path(given)) if isinstance(given, str | Path) else dict(given)
        self.folder = Path(given).parent if isinstance(given, str | Path) else self.folder
        for key in data:
            if key not in ScenarioFile.all_keys():
                raise InputError(f"{self.origin}: {ScenarioFile.unknown(key)}")
        self._drawn = drawn(data, self.origin) or Drawn()
        self._base = {key: value for key, value in data.items() if key not in (SWEEP, SEARCH, RANGE, ENVIRONMENT)}
        first = self._with(0, 0, self._values(0))
        self.agent = _agent_of(scenario.from_data(first.data, self.origin, self.folder), self.origin)
        self.names = _agents_of(json.loads(first.text))
        described = agents.spaces(self.agent.agent)
        low, high = (np.array(described[bound], dtype=np.float32) for bound in ("low", "high"))
        self.observations = spaces.Box(low, high, dtype=np.float32)
        self.actions: spaces.Space[Any]
        if "steps" in described:
            self.actions = spaces.Discrete(described["steps"])
        else:
            least, most = described["box"]
            self.actions = spaces.Box(np.float64(least), np.float64(most), shape=(1,), dtype=np.float64)

    def of(self, seed: int, number: int) -> Episode:
        """The episode of a seed; the number is its place among those of the environment, for the curriculum.

        Raises:
            InputError: what is drawn makes no scenario.
        """
        values = self._values(seed)
        if self.curriculum is not None:
            changed = dict(self.curriculum(number, dict(values)))
            if unknown := next((name for name in changed if name not in values), None):
                raise InputError(f'{self.origin}: the curriculum sets "{unknown}", which is not in environment.draw')
            values |= changed
        return self._with(seed, number, values)

    def _values(self, seed: int) -> dict[str, Any]:
        """What is drawn with a seed."""
        random = np.random.default_rng(seed)
        return self._drawn.values({name: float(random.random()) for name in self._drawn.draw})

    def _with(self, seed: int, number: int, values: dict[str, Any]) -> Episode:
        """The episode in which this was drawn."""
        try:
            data = dict(self._drawn.assigned(self._base, values))
        except ValueError as error:
            raise InputError(f"{self.origin}: {ENVIRONMENT}: {error}") from None
        data["seed"] = seed
        read = scenario.from_data(data, self.origin, self.folder, self._shared)
        return Episode(seed, number, values, data, specification.text(specification.specify(read, seed)))


def _agent_of(read: Scenario, origin: str) -> Agent:
    """The agent of a scenario that waits for an environment."""
    queues = [link.queue.plugin for link in read.network.directed_links if link.queue is not None]
    for flows in read.flows:
        if _waits(flows.tcp.plugin) and (flows.arrivals is not None or flows.application is not None):
            raise InputError(f"{origin}: flows: an agent decides for flows that are there, not for arrivals or sessions")
    found: list[Agent] = []
    for agent in (*(flows.tcp.plugin for flows in read.flows), *queues):
        if isinstance(agent, Agent) and _waits(agent) and agent not in found:
            found.append(agent)
    if not found:
        raise InputError(f"{origin}: no agent to ask; give one flow tcp = {{ agent = true }}, or one queue")
    if len(found) > 1:
        raise InputError(f"{origin}: the agents of an environment have the same keys")
    return found[0]


def _waits(plugin: object) -> bool:
    return isinstance(plugin, Agent) and plugin.decider == "environment"


def _agents_of(run: Mapping[str, Any]) -> list[str]:
    """What the agents of a run are called: their flows by their numbers, or their queues by their links."""

    def is_asked(entry: Mapping[str, Any]) -> bool:
        place = entry.get("plugin")
        return place is not None and run["plugins"][place].get("agent", {}).get("decider") == "environment"

    number = 0
    found: list[str] = []
    for flow in run["flows"]:
        found += [f"flow_{each}" for each in range(number, number + flow["count"])] if is_asked(flow["source"]) else []
        number += flow["count"]
    queues = [link for link in run["links"] if link["queue"] is not None and is_asked(link["queue"])]
    return found + [f"queue_{place}" for place in range(len(queues))]


class Runs:
    """The runs of environments in the engine, and the arrays that it fills.

    Args:
        count: How many.
        episodes: Where they come from.
        threads: How many native threads carry them on; as many as there are cores unless given.

    Raises:
        InputError: a number is below 1.
    """

    def __init__(self, count: int, episodes: Episodes, threads: int | None = None) -> None:
        for name, number in (("num_envs", count), ("threads", threads)):
            if number is not None and number < 1:
                raise InputError(f"{name}: {number!r} is not a number of at least 1")
        self.agents = len(episodes.names)
        self.folder = episodes.folder
        self._engine = _engine.Environments(count, self.agents, threads)
        total = count * self.agents
        self.observations = np.zeros((total, *(episodes.observations.shape or ())), dtype=np.float32)
        self.rewards: NDArray[np.float64] = np.zeros(total)
        self.terms: NDArray[np.float64] = np.zeros((total, len(TERMS)))
        self.terminated = np.zeros(total, dtype=np.uint8)
        self.truncated = np.zeros(total, dtype=np.uint8)
        self._into = (self.observations, self.rewards, self.terms, self.terminated, self.truncated)
        self.episodes: list[Episode | None] = [None] * count

    def reset(self, places: list[int], begun: list[Episode]) -> None:
        """Begins episodes at some places, up to their first questions.

        Raises:
            InputError: the engine refuses one.
        """
        with complaints():
            self._engine.reset(places, [episode.text for episode in begun], self._into)
        for place, episode in zip(places, begun, strict=True):
            self.episodes[place] = episode

    def step(self, actions: NDArray[np.float64], places: list[int], begun: list[Episode]) -> None:
        """Gives all agents their actions and goes on to the next questions; episodes begin at some places instead.

        Raises:
            ValueError: an action is outside of its space.
            RunFailed: a run cannot go on.
        """
        try:
            self._engine.step(actions, places, [episode.text for episode in begun], self._into)
        except _engine.PluginFailed as error:
            raise RunFailed(str(error)) from None
        for place, episode in zip(places, begun, strict=True):
            self.episodes[place] = episode

    def now(self, place: int) -> int:
        """Up to when all has happened in an episode, in picoseconds."""
        return self._engine.now(place)

    def result(self, place: int) -> RunResult:
        """Ends an episode without further actions, and what ``sojourn run`` finds of its scenario.

        Raises:
            InputError: no episode is under way.
        """
        try:
            with complaints():
                return result_of(self._engine.finish(place))
        finally:
            self.episodes[place] = None

    def save(self, place: int, folder: str | Path) -> Path:
        """Writes an episode as a scenario that carries out the actions so far; its path. See ``Bottleneck.save``."""
        if place not in range(len(self.episodes)):
            raise InputError(f"place: {place!r} is no environment (there are {len(self.episodes)}, from 0)")
        episode = self.episodes[place]
        if episode is None:
            raise InputError("no episode is under way: reset begins one")
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        with (target / ACTIONS).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(agents.COLUMNS)
            writer.writerows((flow, time, repr(action)) for flow, time, action in self._engine.actions(place))
        data = _scripted(moved(episode.data, (self.folder or Path()).resolve(), target.resolve()))
        (target / SCENARIO).write_text(tomli_w.dumps(data), encoding="utf-8")
        return target / SCENARIO


def _scripted(part: Any) -> Any:
    """A part of a scenario with the actions of a file in place of an agent that waits."""
    if isinstance(part, list):
        return [_scripted(each) for each in part]
    if not isinstance(part, Mapping):
        return part
    is_agent = part.get("agent") is True
    kept = {key: _scripted(value) for key, value in part.items() if not (is_agent and key == "agent")}
    return {"actions": ACTIONS, **kept} if is_agent else kept


def as_actions(given: object, space: spaces.Space[Any]) -> NDArray[np.float64]:
    """Actions as the engine takes them: one number each.

    Raises:
        InvalidAction: they are no numbers.
    """
    try:
        array = np.asarray(given)
    except ValueError:  # lists of unequal lengths
        array = np.asarray(None)
    if array.dtype.kind not in NUMBERS:
        raise InvalidAction(f"action: {' '.join(reprlib.repr(given).split())} is no number")
    actions = np.ascontiguousarray(array, dtype=np.float64).reshape(-1)
    if isinstance(space, spaces.Discrete) and space.start:
        actions = actions - float(space.start)
    return actions


def random_of(seed: int) -> np.random.Generator:
    """Random numbers from a seed.

    Raises:
        Error: it is negative, or no whole number.
    """
    try:
        whole = operator.index(seed)
    except TypeError:
        raise Error(f"seed: {seed!r} is no whole number") from None
    return seeding.np_random(whole)[0]
