"""Agents as scenarios write them: ``tcp = { agent = true, interval = "1 rtt", ... }``, or with the actions of a file; queues too.

What features, actions and rewards there are says the engine's crate for controllers that learn (``crates/learning``).
"""

import csv
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from sojourn import _engine, catalogue, names, policies
from sojourn.catalogue import Algorithm, StateValue
from sojourn.errors import within
from sojourn.plugins.source import AGENT, Source
from sojourn.policies import Policy
from sojourn.scenario import parameters
from sojourn.scenario.files import MOST_ROWS, read_text
from sojourn.units import DURATION, RATE

#: The key that names the file of a policy.
POLICY = "policy"

#: The keys that say that something is an agent, and who decides for it.
WHO = ("agent", "actions", POLICY)

#: What an agent sees unless told otherwise: the features of PCC-RL, of ten intervals (network_sim.py, SimulatedNetworkEnv).
OBSERVED = ("latency_inflation", "latency_ratio", "send_ratio")
HISTORY = 10

#: What an agent in a queue sees: what PIE computes its probability from, and what becomes of it.
OBSERVED_IN_QUEUES = ("queue_delay", "departure_rate", "drop_probability")

#: The most intervals of an observation.
MOST_HISTORY = 1_000

#: The columns of a file of actions.
COLUMNS = ("flow", "time", "action")

#: The other keys of an agent.
KEYS = ("interval", "observe", "history", "action", "reward", "only_tcp_info", "over")

Json = dict[str, Any]

#: What an agent decides for.
Of = Literal["flow", "queue"]


@dataclass(frozen=True)
class Agent(Source):
    """An agent, which stands among the user's own algorithms of a run."""

    #: As the specification has it.
    agent: Json = field(default_factory=dict)

    __hash__ = Source.__hash__

    @property
    def decider(self) -> str:
        """Who decides: ``environment``, ``script`` or ``policy``."""
        decider = self.agent["decider"]
        return decider if isinstance(decider, str) else next(iter(decider))


@cache
def registry() -> Json:
    """The features, actions, rewards and raw terms that there are, and what agents tell of themselves."""
    listed: Json = json.loads(_engine.learning_catalogue())
    return listed


def algorithm(file: str, of: Of) -> Algorithm:
    """An agent of a flow or a queue as an entry of the catalogue."""
    state = tuple(map(StateValue.of, registry()["state"][of]))
    return Algorithm(name=file, title="a controller that learns", class_="own", state=state)


def decides_for(keys: Mapping[str, object]) -> Of:
    """What an agent with these keys decides for: a queue if they name something that only queues have."""
    action = keys.get("action")
    observed = keys.get("observe")
    named = [action.get("name") if isinstance(action, Mapping) else action, *(observed if isinstance(observed, list) else [])]
    of_queues = [each["name"] for what in ("actions", "features") for each in registry()[what] if each["of"] == "queue"]
    return "queue" if any(name in of_queues for name in named) else "flow"


def default_of(parameter: Json) -> str:
    """The default of a parameter of an action or a reward, as a scenario has it."""
    default = parameter["default"]
    if parameter["kind"] == "rate":
        return f'"{RATE.format(default)}"'
    return " ".join(default) if isinstance(default, list) else f"{default:g}"


@cache
def _version() -> str:
    """The digest of what carries agents out besides the engine: it is part of the keys of their runs."""
    return hashlib.sha256(_engine.learning_sources().encode()).hexdigest()


def names_one(keys: Mapping[str, object]) -> bool:
    """Whether a table is an agent's."""
    return any(key in keys for key in WHO)


def read(keys: dict[str, object], folder: Path, of: Of = "flow") -> Agent:
    """Reads an agent, and takes its keys from the table; a ``ValueError`` says what is wrong and what is allowed."""
    given = [key for key in ("name", "file", "linux", *WHO) if key in keys]
    if len(given) > 1:
        raise ValueError(f'give either "{given[0]}" or "{given[1]}"')
    who = keys.pop(given[0])
    file, decider = _decider(given[0], who, folder)
    own = {key: keys.pop(key) for key in KEYS if key in keys}
    if isinstance(decider, Policy):
        agent = {**_agreed(own, decider.agent, file, of), "decider": {POLICY: decider.as_json()}}
    else:
        agent = {**_settings(own, of), "decider": decider}
    _check(json.dumps(agent, sort_keys=True))
    digest = hashlib.sha256(f"{_version()}{json.dumps(agent, sort_keys=True)}".encode()).hexdigest()
    return Agent(file, AGENT, digest, {}, agent)


def _settings(own: Mapping[str, object], of: Of) -> Json:
    """What an agent sees, when it is asked and what it sets, of the keys that say so."""
    # PIE updates its probability every 15 ms (RFC 8033 section 4.2).
    usual = ("1 rtt", OBSERVED, "window_factor") if of == "flow" else ("15 ms", OBSERVED_IN_QUEUES, "probability")
    return {
        "interval": _interval(own.get("interval", usual[0])),
        "observe": _observed(own.get("observe", list(usual[1])), of),
        "history": _history(own.get("history", HISTORY)),
        "action": _named(own.get("action", usual[2]), "action", of),
        "reward": None if "reward" not in own else _named(own["reward"], "reward", of),
        "only_tcp_info": _flag(own.get("only_tcp_info", False), "only_tcp_info"),
        "over": None if "over" not in own else _over(own["over"]),
    }


def _agreed(own: Mapping[str, object], trained: Mapping[str, object], file: str, of: Of) -> Json:
    """The same of a policy, whose file may say it; a scenario may say the same again, and what the file leaves open."""
    with within(f'{POLICY}: "{file}"'):
        for key in trained:
            names.check("key", key, KEYS)
        of_file = _settings(trained, of)
    settings = _settings({**trained, **own}, of)
    for key in trained:
        if settings[key] != of_file[key]:
            raise ValueError(f'{key}: {_shown(own[key])} is not what "{file}" was trained with, {_shown(trained[key])}')
    return settings


def _shown(value: object) -> str:
    return json.dumps(value)


@lru_cache(maxsize=256)
def _check(agent: str) -> None:
    try:
        _engine.describe_agent(agent)
    except _engine.SpecificationError as error:
        raise ValueError(str(error)) from None


def spaces(agent: Json) -> Json:
    """What an agent's observations and actions are: ``low``, ``high``, and ``box`` with two bounds or a number of ``steps``."""
    described: Json = json.loads(_engine.describe_agent(json.dumps(agent)))
    return described


def _decider(key: str, who: object, folder: Path) -> tuple[str, object]:
    """What the algorithm is called, and who decides. An episode is called as it was when it was carried out."""
    if key == "agent":
        if who is not True:
            raise ValueError(f"agent: {who!r} makes no sense; write agent = true")
        return AGENT, "environment"
    if not isinstance(who, str):
        raise ValueError(f"{key}: {who!r} is not the name of a file")
    with within(key):
        if key == POLICY:
            return Path(who).name, policies.read(folder / who)
        return AGENT, {"script": read_actions(folder / who)}


def read_actions(path: Path) -> list[list[float]]:
    """The actions of a file, flow by flow, in order."""
    rows = [row for row in csv.reader(read_text(path).splitlines()) if row]
    with within(f'"{path.name}"'):
        if not rows or tuple(rows[0]) != COLUMNS:
            raise ValueError(f"line 1: must be {','.join(COLUMNS)}")
        if len(rows) - 1 > MOST_ROWS:
            raise ValueError(f"{len(rows) - 1:,} rows; at most {MOST_ROWS:,}")
        found: dict[int, list[float]] = {}
        for line, row in enumerate(rows[1:], start=2):
            try:
                flow, action = int(row[0]), float(row[2])
            except (IndexError, ValueError):
                raise ValueError(f'line {line}: "{",".join(row)}" is not a flow, a time and an action') from None
            if not 0 <= flow < MOST_ROWS or not math.isfinite(action):
                raise ValueError(f"line {line}: a flow is a number from 0, and an action a finite number")
            found.setdefault(flow, []).append(action)
    return [found.get(flow, []) for flow in range(max(found, default=-1) + 1)]


def _interval(given: object) -> Json:
    allowed = 'a time such as "30 ms", round trips such as "1 rtt", or acknowledgements such as "10 acks"'
    if not isinstance(given, str):
        raise ValueError(f"interval: {given!r} is not {allowed}")
    number, _, unit = given.strip().rpartition(" ")
    if unit in ("rtt", "rtts", "ack", "acks"):
        try:
            count = float(number)
        except ValueError:
            raise ValueError(f'interval: "{given}" is not {allowed}') from None
        if unit.startswith("ack"):
            if count < 1 or count != int(count):
                raise ValueError(f'interval: "{given}": a number of acknowledgements must be whole and at least 1')
            return {"acknowledgements": int(count)}
        if not (0 < count < math.inf):
            raise ValueError(f'interval: "{given}": must be more than 0, and finite')
        return {"round_trips": count}
    with within("interval"):
        try:
            time = DURATION.parse(given)
        except ValueError as error:
            raise ValueError(f"{error}; allowed: {allowed}") from None
        if time <= 0:
            raise ValueError(f'"{given}" must be more than 0')
        return {"time": time}


def _observed(given: object, of: str) -> list[str]:
    known = [feature["name"] for feature in registry()["features"] if feature["of"] == of]
    if not isinstance(given, list) or not given or not all(isinstance(name, str) for name in given):
        raise ValueError("observe: must be a list of features, at least one")
    for name in given:
        names.check("feature", name, known, place="observe: ")
    return list(given)


def _history(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= MOST_HISTORY:
        raise ValueError(f"history: {given!r} is not a number of intervals (from 1 to {MOST_HISTORY:,})")
    return given


def _flag(given: object, key: str) -> bool:
    if not isinstance(given, bool):
        raise ValueError(f"{key}: {given!r} is not true or false")
    return given


def _named(given: object, key: str, of: str) -> Json:
    """An action or a reward of a flow or a queue with its parameters."""
    table = {"name": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise ValueError(f'{key}: {given!r} is not a name or a table such as {{ name = "..." }}')
    listed = {entry["name"]: entry for entry in registry()[f"{key}s"] if entry["of"] == of}
    names.check(key, table["name"], listed, place=f"{key}: ")
    entry = listed[table["name"]]
    values = {parameter["name"]: parameter["default"] for parameter in entry["parameters"]}
    kinds = {parameter["name"]: parameter["kind"] for parameter in entry["parameters"]}
    for name, value in table.items():
        if name == "name":
            continue
        names.check(f"key of {table['name']}", name, values, place=f"{key}: ")
        with within(f"{key}: {name}"):
            values[name] = _value(value, kinds[name])
    return {"name": table["name"], "parameters": values}


def _value(given: object, kind: str) -> object:
    if kind == "rate":
        return RATE.parse(given)
    if kind == "steps":
        return given  # the engine says what is wrong
    if isinstance(given, bool) or not isinstance(given, int if kind == "integer" else int | float):
        raise ValueError(f"{given!r} is not {'an' if kind == 'integer' else 'a'} {kind}")
    return given


def _over(given: object) -> Json:
    """The built-in congestion control that an agent is over."""
    table = {"name": given} if isinstance(given, str) else given
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise ValueError(f'over: {given!r} is not a name or a table such as {{ name = "cubic" }}')
    with within("over"):
        control = catalogue.load().congestion_control(table["name"])
        if control.rate_based:
            raise ValueError(f"{control.name} has no window and no rate to change")
        others = {key: value for key, value in table.items() if key != "name"}
        values = parameters.read(others, control.parameters, control.name, "name")
        filled = {parameter.name: values.get(parameter.name, parameter.default) for parameter in control.parameters}
    return {"name": control.name, "parameters": filled}
