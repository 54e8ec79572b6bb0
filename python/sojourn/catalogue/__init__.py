"""What there is to choose from: congestion controls, slow starts, queue disciplines, stack profiles, and their parameters.

The engine is the only place that lists them. Everything in Python that must know a name, a parameter or a default asks
here, so a new algorithm in the engine needs no line of Python.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, Self, TypeVar

from sojourn import _engine, names, units

#: The value of a parameter. A length of a queue says its unit: ``{"packets": 50}`` or ``{"bytes": 75000}``.
Value = bool | int | float | str | dict[str, int] | None


class Listed:
    """What the engine lists as JSON. Facts that are not declared are left out, so that it may list more."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """The entry read from the engine's JSON."""
        return cls(**_known(cls, data))


def _known(kind: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    facts = {field.name: data[field.name] for field in fields(kind) if field.name in data}
    return {name: tuple(fact) if isinstance(fact, list) else fact for name, fact in facts.items()}


@dataclass(frozen=True, kw_only=True)
class Entry(Listed):
    """What every entry of the catalogue has."""

    name: str
    aliases: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Parameter(Listed):
    """One parameter: its kind, default and bounds, and where the default comes from. Quantities are in base units."""

    name: str
    #: number, integer, boolean, duration, size, rate, queue_length, choice or text.
    kind: str
    default: Value = None
    doc: str = ""
    source: str = ""
    choices: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        bounds = {bound: None if data.get(bound) is None else float(data[bound]) for bound in ("minimum", "maximum")}
        return cls(**_known(cls, data) | bounds)

    @property
    def has_unit(self) -> bool:
        """Whether its values are written as strings with a unit."""
        return self.kind in DIMENSIONS or self.kind == "queue_length"

    def format(self, value: Value) -> str:
        """A value as a scenario file would say it."""
        if value is None:
            return "none"
        dimension = DIMENSIONS.get(self.kind)
        if dimension is not None and isinstance(value, int):
            return dimension.format(value)
        if isinstance(value, dict):
            return ", ".join(LENGTH_UNITS[unit].format(amount) for unit, amount in value.items())
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value)

    def bound(self, bound: float) -> str:
        """A bound of its values as a scenario file would say it."""
        return self.format(int(bound) if float(bound).is_integer() else bound)

    @property
    def allowed(self) -> str:
        """The allowed values, for display."""
        if self.choices is not None:
            return ", ".join(self.choices)
        bounds = [f"from {self.bound(self.minimum)}"] if self.minimum is not None else []
        bounds += [f"to {self.bound(self.maximum)}"] if self.maximum is not None else []
        return " ".join([self.kind.replace("_", " "), *bounds])


#: The kinds of parameter that are written with a unit.
DIMENSIONS = {"duration": units.DURATION, "size": units.SIZE, "rate": units.RATE}
#: What a length of a queue is counted in.
LENGTH_UNITS = {"packets": units.PACKETS, "bytes": units.SIZE}


@dataclass(frozen=True, kw_only=True)
class StateValue(Listed):
    """A value of the inner state of an algorithm."""

    name: str
    unit: str = ""
    doc: str = ""
    #: Of a value that is the number of a phase, the phases from 0 on.
    phases: tuple[str, ...] | None = None

    @property
    def shown(self) -> tuple[float, str]:
        """The unit in which it is shown, and what a value is multiplied by to be in it."""
        return {"B": (1e-3, "kB"), "bit/s": (1e-6, "Mbit/s")}.get(self.unit, (1.0, self.unit))

    def format(self, value: float) -> str:
        """A value with its unit, or the phase that it is the number of."""
        if self.phases is not None and 0 <= value < len(self.phases):
            return self.phases[int(value)]
        factor, unit = self.shown
        return f"{value * factor:.4g} {unit}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Algorithm(Entry):
    """A congestion control, slow start, queue discipline or rule of video."""

    class_: str = ""
    year: int | None = None
    source: str = ""
    deviations: str = ""
    parameters: tuple[Parameter, ...] = ()
    #: What it tells of its inner state.
    state: tuple[StateValue, ...] = ()
    #: Whether it only sends: nothing comes back to it, so that neither a route back nor a stack matters.
    one_way: bool = False
    #: Whether what it sends is the same whatever the network does, so that it is never limited by the network.
    unresponsive: bool = False
    #: What it draws random numbers for, if it does; the rules under which alone it does; and the switches among its parameters
    #: that make it draw some.
    random: str | None = None
    random_rules: str | None = None
    random_if: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        parameters = tuple(map(Parameter.of, data.get("parameters", ())))
        state = tuple(map(StateValue.of, data.get("state", ())))
        return cls(**_known(cls, data) | {"class_": data.get("class", ""), "parameters": parameters, "state": state})

    @property
    def rate_based(self) -> bool:
        """Whether it keeps to a rate instead of a window: no connection is opened, and there is no slow start to choose."""
        return self.class_ == "rate"


@dataclass(frozen=True, kw_only=True)
class Sourced(Listed):
    """A value of a stack profile, with its source."""

    value: Value
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class ProfileSetting(Sourced):
    """One constant of a stack profile."""

    name: str


@dataclass(frozen=True, kw_only=True)
class AlgorithmDefault(Sourced):
    """A default under a stack profile that holds for one congestion control only.

    Its ``kind`` says what it sets: a parameter of the ``control``, a setting of the ``stack``, or of the ``slow_start`` its
    ``name`` or a parameter.
    """

    algorithm: str
    kind: str
    parameter: str


@dataclass(frozen=True, kw_only=True)
class Profile(Entry):
    """A named set of all stack settings, and of what holds for one congestion control only."""

    settings: tuple[ProfileSetting, ...] = ()
    defaults: tuple[AlgorithmDefault, ...] = ()

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        settings, defaults = map(ProfileSetting.of, data["settings"]), map(AlgorithmDefault.of, data["defaults"])
        return cls(**_known(cls, data) | {"settings": tuple(settings), "defaults": tuple(defaults)})

    def defaults_of(self, algorithm: Algorithm) -> dict[str, Value]:
        """The defaults of a congestion control's parameters, the profile's before the catalogue's."""
        return {parameter.name: parameter.default for parameter in algorithm.parameters} | self._own("control", algorithm)

    def settings_with(self, algorithm: Algorithm) -> dict[str, Value]:
        """The settings of the stack of a flow that has this congestion control."""
        return {setting.name: setting.value for setting in self.settings} | self._own("stack", algorithm)

    def parameter_of(self, default: AlgorithmDefault) -> Parameter | None:
        """The parameter that a default sets; None if it is the name of a slow start."""
        known = load()
        control = known.congestion_control(default.algorithm)
        if default.kind == "slow_start":
            parameters = known.slow_start(str(self.slow_start_with(control)["name"])).parameters
        else:
            parameters = known.stack_settings if default.kind == "stack" else control.parameters
        return next((parameter for parameter in parameters if parameter.name == default.parameter), None)

    def slow_start_with(self, algorithm: Algorithm) -> dict[str, Value]:
        """The ``name`` and parameters of this congestion control's slow start; empty if the profile has none for it."""
        return self._own("slow_start", algorithm)

    def _own(self, kind: str, algorithm: Algorithm) -> dict[str, Value]:
        return {
            default.parameter: default.value
            for default in self.defaults
            if default.kind == kind and default.algorithm == algorithm.name
        }


@dataclass(frozen=True, kw_only=True)
class Hook:
    """A hook of own congestion controls: what it is told and when it is called, in a sentence."""

    name: str
    told: list[str]
    called: str
    returns: bool
    changes_window: bool
    #: The need of the sender that it stands for.
    needs: str | None

    @property
    def call(self) -> str:
        """How it is written: ``on_ack(window, ack)``."""
        return f"{self.name}({', '.join(self.told)})"


EntryT = TypeVar("EntryT", bound=Entry)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All that the engine offers."""

    version: str
    congestion_controls: tuple[Algorithm, ...]
    slow_starts: tuple[Algorithm, ...]
    queues: tuple[Algorithm, ...]
    video_rules: tuple[Algorithm, ...]
    stack_settings: tuple[Parameter, ...]
    profiles: tuple[Profile, ...]
    hooks: tuple[Hook, ...]
    #: The fields of what hooks are shown, by the name of its class.
    shown: Mapping[str, tuple[str, ...]]

    @cached_property
    def _known(self) -> dict[str, dict[str, Any]]:
        """The entries of those lists that were asked for, by their names and aliases."""
        return {}

    def _named(self, what: str, name: str, entries: Iterable[EntryT]) -> EntryT:
        if what not in self._known:
            self._known[what] = _by_spelling(entries)
        known: dict[str, EntryT] = self._known[what]
        return _look_up(what, name, known)

    def congestion_control(self, name: str) -> Algorithm:
        """Finds a congestion control by name or alias; a ``ValueError`` names the nearest known one."""
        return self._named("congestion control", name, self.congestion_controls)

    def slow_start(self, name: str) -> Algorithm:
        """Finds a slow start by name; a ``ValueError`` names the nearest known one."""
        return self._named("slow start", name, self.slow_starts)

    def queue(self, name: str) -> Algorithm:
        """Finds a queue discipline by name or alias; a ``ValueError`` names the nearest known one."""
        return self._named("queue discipline", name, self.queues)

    def video_rule(self, name: str) -> Algorithm:
        """Finds a rule that chooses bit rates of video by name; a ``ValueError`` names the nearest known one."""
        return self._named("rule", name, self.video_rules)

    def profile(self, name: str) -> Profile:
        """Finds a stack profile by name or alias; a ``ValueError`` names the nearest known one."""
        return self._named("stack profile", name, self.profiles)


def find(what: str, name: str, entries: Iterable[EntryT]) -> EntryT:
    """The entry of that name or alias, whatever the case of its letters.

    Raises:
        ValueError: there is none; the message names the nearest.
    """
    return _look_up(what, name, _by_spelling(entries))


def _by_spelling(entries: Iterable[EntryT]) -> dict[str, EntryT]:
    """Entries by their names and aliases, in lower case; of two with one spelling the first."""
    found: dict[str, EntryT] = {}
    for entry in entries:
        for spelling in (entry.name, *entry.aliases):
            found.setdefault(spelling.casefold(), entry)
    return found


def _look_up(what: str, name: str, entries: Mapping[str, EntryT]) -> EntryT:
    entry = entries.get(name.casefold())
    if entry is None:
        raise ValueError(names.unknown(what, name, dict.fromkeys(entry.name for entry in entries.values())))
    return entry


@cache
def load() -> Catalogue:
    """The catalogue of the engine this package is built with."""
    data = json.loads(_engine.catalogue())
    return Catalogue(
        version=data["version"],
        **{
            kind: tuple(map(Algorithm.of, data[kind])) for kind in ("congestion_controls", "slow_starts", "queues", "video_rules")
        },
        stack_settings=tuple(map(Parameter.of, data["stack_settings"])),
        profiles=tuple(map(Profile.of, data["profiles"])),
        hooks=tuple(Hook(**each) for each in data["own"]["hooks"]),
        shown={name: tuple(field for field, _ in fields) for name, fields in data["own"]["shown"].items()},
    )
