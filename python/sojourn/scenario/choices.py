"""A name and its parameters in one value: ``"codel"``, or ``{ name = "codel", target = "2 ms" }``.

Which names and parameters there are comes from the catalogue, for reading as well as for the JSON Schema.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from sojourn import catalogue
from sojourn.catalogue import Algorithm, Value
from sojourn.scenario import parameters
from sojourn.scenario.quantities import LIMIT_SCHEMA
from sojourn.units import BandwidthDelayProducts, QueueLimit, parse_queue_limit

#: The profile of a scenario that names none: the current standards.
DEFAULT_PROFILE = "rfc"


class Choice(ABC):
    """A name and its parameters, as pydantic reads them from a scenario."""

    #: The key that a plain string stands for.
    shorthand: ClassVar[str] = "name"

    @classmethod
    @abstractmethod
    def read(cls, keys: dict[str, object]) -> Self:
        """Checks the keys of a table; a ``ValueError`` says what is wrong and what is allowed."""

    @property
    @abstractmethod
    def given(self) -> tuple[str, ...]:
        """The keys that were set; the others have their defaults."""

    @classmethod
    @abstractmethod
    def json_schema(cls) -> JsonSchemaValue:
        """The JSON Schema, for editors."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls._from_scenario, ref=cls.__qualname__)

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        return cls.json_schema()

    @classmethod
    def _from_scenario(cls, given: object) -> Self:
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls.read({cls.shorthand: given})
        if isinstance(given, Mapping):
            return cls.read({str(key): value for key, value in given.items()})
        raise ValueError(f'{given!r} is not a name or a table such as {{ {cls.shorthand} = "..." }}')


@dataclass(frozen=True)
class QueueChoice(Choice):
    """The queue discipline at a link's egress; a limit of ``None`` means unlimited."""

    name: str
    limit: QueueLimit | BandwidthDelayProducts | None
    parameters: Mapping[str, Value]

    @classmethod
    def read(cls, keys: dict[str, object]) -> Self:
        discipline = catalogue.load().queue(_name(keys))
        limit: QueueLimit | BandwidthDelayProducts | None = None
        if "limit" in keys:
            try:
                limit = parse_queue_limit(keys.pop("limit"))
            except ValueError as error:
                raise ValueError(f"limit: {error}") from None
        values = parameters.read(keys, discipline.parameters, discipline.name, "name", "limit")
        return cls(name=discipline.name, limit=limit, parameters=values)

    @property
    def given(self) -> tuple[str, ...]:
        return ("name", *(("limit",) if self.limit is not None else ()), *self.parameters)

    @classmethod
    def json_schema(cls) -> JsonSchemaValue:
        queues = catalogue.load().queues
        return _schema("A queue discipline.", queues, _tables(queues, {"limit": LIMIT_SCHEMA}))


@dataclass(frozen=True)
class TcpChoice(Choice):
    """The congestion control of a flow and, if it has a window, the slow start it is combined with: ``None`` is the default."""

    name: str
    slow_start: str | None
    parameters: Mapping[str, Value]

    @classmethod
    def read(cls, keys: dict[str, object]) -> Self:
        known = catalogue.load()
        control = known.congestion_control(_name(keys))
        if control.rate_based and "slow_start" in keys:
            raise ValueError(f"slow_start: {control.name} has no slow start, because it sends at a rate of its own")
        slow_start: str | None = None
        if "slow_start" in keys:
            try:
                slow_start = known.slow_start(str(keys.pop("slow_start"))).name
            except ValueError as error:
                raise ValueError(f"slow_start: {error}") from None
        others = ("name",) if control.rate_based else ("name", "slow_start")
        values = parameters.read(keys, control.parameters, control.name, *others)
        return cls(name=control.name, slow_start=slow_start, parameters=values)

    @property
    def given(self) -> tuple[str, ...]:
        return ("name", *(("slow_start",) if self.slow_start is not None else ()), *self.parameters)

    @classmethod
    def json_schema(cls) -> JsonSchemaValue:
        known = catalogue.load()
        slow_start = {"enum": [entry.name for entry in known.slow_starts], "default": known.slow_starts[0].name}
        windows = [entry for entry in known.congestion_controls if not entry.rate_based]
        rates = [entry for entry in known.congestion_controls if entry.rate_based]
        tables = [*_tables(windows, {"slow_start": slow_start}), *_tables(rates, {})]
        return _schema("A congestion control.", known.congestion_controls, tables)


@dataclass(frozen=True)
class StackChoice(Choice):
    """A stack profile and the settings that differ from it; a profile of ``None`` means the scenario's."""

    profile: str | None
    settings: Mapping[str, Value]

    shorthand: ClassVar[str] = "profile"

    @classmethod
    def read(cls, keys: dict[str, object]) -> Self:
        known = catalogue.load()
        profile = keys.pop("profile", None)
        if profile is not None and not isinstance(profile, str):
            raise ValueError(f"profile: {profile!r} is not a name")
        name = None if profile is None else known.profile(profile).name
        settings = parameters.read(keys, known.stack_settings, "the stack", "profile")
        return cls(profile=name, settings=settings)

    @property
    def given(self) -> tuple[str, ...]:
        return (*(("profile",) if self.profile is not None else ()), *self.settings)

    @classmethod
    def json_schema(cls) -> JsonSchemaValue:
        known = catalogue.load()
        profiles = [entry.name for entry in known.profiles]
        profile = {"enum": profiles, "default": DEFAULT_PROFILE, "description": "Stack profile whose settings are the defaults."}
        table = {
            "type": "object",
            "properties": {"profile": profile} | parameters.schemas(known.stack_settings),
            "additionalProperties": False,
        }
        return {"anyOf": [{"enum": profiles}, table], "description": "A stack profile and the settings that differ from it."}


def _name(keys: dict[str, object]) -> str:
    name = keys.pop("name", None)
    if not isinstance(name, str):
        raise ValueError('missing key "name"' if name is None else f"name: {name!r} is not a name")
    return name


def _schema(description: str, entries: Iterable[Algorithm], tables: Iterable[JsonSchemaValue]) -> JsonSchemaValue:
    spellings = [name for entry in entries for name in (entry.name, *entry.aliases)]
    return {"anyOf": [{"enum": spellings}, *tables], "description": description}


def _tables(entries: Iterable[Algorithm], common: Mapping[str, Any]) -> list[JsonSchemaValue]:
    return [
        {
            "type": "object",
            "title": entry.title,
            "properties": {"name": {"enum": [entry.name, *entry.aliases]}, **common, **parameters.schemas(entry.parameters)},
            "required": ["name"],
            "additionalProperties": False,
        }
        for entry in entries
    ]
