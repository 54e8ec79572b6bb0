"""A name and its parameters in one value: ``"codel"``, or ``{ name = "codel", target = "2 ms" }``.

Which names and parameters there are comes from the catalogue, for reading as well as for the JSON Schema.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from sojourn import catalogue, policies, trust
from sojourn.catalogue import Algorithm, Value
from sojourn.errors import within
from sojourn.plugins import source
from sojourn.plugins.source import Source
from sojourn.scenario import agents, parameters
from sojourn.scenario.quantities import LIMIT_SCHEMA
from sojourn.scenario.reading import folder_of, shared
from sojourn.units import BandwidthDelayProducts, QueueLimit, parse_queue_limit

#: The profile of a scenario that names none: the current standards.
DEFAULT_PROFILE = "rfc"

_OVER = "The built-in congestion control whose window or rate it changes."


#: The keys that name the file of a plugin: one that is written for Sojourn, or an unmodified module of Linux.
FILES = ("file", "linux")


@dataclass(frozen=True)
class Choice(ABC):
    """A name and its parameters, as pydantic reads them from a scenario."""

    #: The key that a plain string stands for.
    shorthand: ClassVar[str] = "name"

    @classmethod
    @abstractmethod
    def read(cls, keys: dict[str, object], folder: Path) -> Self:
        """Checks the keys of a table; a ``ValueError`` says what is wrong and what is allowed.

        Paths are relative to ``folder``.
        """

    @property
    def given(self) -> tuple[str, ...]:
        """The keys that were set; the others have their defaults."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plugin = values.pop("plugin", None)
        keys = [value if isinstance(value, Mapping) else [name] for name, value in values.items() if value is not None]
        return tuple(_identifying(plugin) if key == "name" else key for several in keys for key in several)

    def __deepcopy__(self, _: object) -> Self:
        """Itself, which does not change: pydantic copies defaults."""
        return self

    @classmethod
    @abstractmethod
    def json_schema(cls) -> JsonSchemaValue:
        """The JSON Schema, for editors."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(cls._from_scenario, ref=cls.__qualname__)

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        return cls.json_schema()

    @classmethod
    def _from_scenario(cls, given: object, info: ValidationInfo) -> Self:
        return shared(cls, given, info, lambda given: cls.of(given, folder_of(info)))

    @classmethod
    def of(cls, given: object, folder: Path) -> Self:
        """Reads a name or a table of a scenario; a ``ValueError`` says what is wrong and what is allowed."""
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls.read({cls.shorthand: given}, folder)
        if isinstance(given, Mapping):
            return cls.read({str(key): value for key, value in given.items()}, folder)
        raise ValueError(f'{given!r} is not a name or a table such as {{ {cls.shorthand} = "..." }}')


#: What the FIFOs of Linux count (tc-bfifo(8)); "fifo" counts either.
_COUNTED = {"pfifo": "packets", "bfifo": "bytes"}


def _is_counted_in(spelling: str, limit: QueueLimit | BandwidthDelayProducts) -> None:
    """Whether a discipline by this name counts what its limit is in; bandwidth-delay products are packets."""
    unit = "packets" if isinstance(limit, BandwidthDelayProducts) else limit.unit
    if (counted := _COUNTED.get(spelling, unit)) != unit:
        other = next(name for name, its in _COUNTED.items() if its == unit)
        raise ValueError(f"{spelling} counts {counted}, {other} {unit}, and droptail either")


@dataclass(frozen=True)
class QueueChoice(Choice):
    """The queue discipline at a link's egress; a limit of ``None`` means unlimited."""

    name: str
    limit: QueueLimit | BandwidthDelayProducts | None
    parameters: Mapping[str, Value]
    #: What defines it; none if it is built in.
    plugin: Source | None = None

    @classmethod
    def read(cls, keys: dict[str, object], folder: Path) -> Self:
        plugin = agents.read(keys, folder, "queue") if agents.names_one(keys) else _plugin(keys, folder)
        spelling = "" if plugin is not None else _name(keys)
        discipline = catalogue.load().queue(spelling) if plugin is None else queue_of(plugin)
        limit: QueueLimit | BandwidthDelayProducts | None = None
        if "limit" in keys:
            with within("limit"):
                limit = parse_queue_limit(keys.pop("limit"))
                _is_counted_in(spelling.lower(), limit)
        values = parameters.read(keys, discipline.parameters, discipline.name, _identifying(plugin), "limit")
        return cls(name=discipline.name, limit=limit, parameters=values, plugin=plugin)

    @property
    def discipline(self) -> Algorithm:
        """What the catalogue or the plugin says of it."""
        return catalogue.load().queue(self.name) if self.plugin is None else queue_of(self.plugin)

    @classmethod
    def json_schema(cls) -> JsonSchemaValue:
        queues = catalogue.load().queues
        common = {"limit": LIMIT_SCHEMA}
        own = [_own_table(common), _own_table({}, "linux", "A queue discipline of Linux that a kernel was built with")]
        return _schema("A queue discipline.", queues, [*_tables(queues, common), *own, *_agent_tables("queue", common)])


@dataclass(frozen=True)
class SlowStartChoice(Choice):
    """A slow start and its parameters."""

    name: str
    parameters: Mapping[str, Value]

    @classmethod
    def read(cls, keys: dict[str, object], _folder: Path) -> Self:
        slow_start = catalogue.load().slow_start(_name(keys))
        values = parameters.read(keys, slow_start.parameters, slow_start.name, "name")
        return cls(name=slow_start.name, parameters=values)

    @classmethod
    def json_schema(cls) -> JsonSchemaValue:
        slow_starts = catalogue.load().slow_starts
        names = {"enum": [entry.name for entry in slow_starts], "default": slow_starts[0].name}
        return {"anyOf": [names, *_tables(slow_starts, {})], "description": "A slow start."}


@dataclass(frozen=True)
class TcpChoice(Choice):
    """The congestion control of a flow and, if it has a window, the slow start it is combined with: ``None`` is the default."""

    name: str
    slow_start: SlowStartChoice | None
    parameters: Mapping[str, Value]
    #: What defines it; none if it is built in.
    plugin: Source | None = None

    @classmethod
    def read(cls, keys: dict[str, object], folder: Path) -> Self:
        known = catalogue.load()
        plugin = agents.read(keys, folder) if agents.names_one(keys) else _plugin(keys, folder)
        control = known.congestion_control(_name(keys)) if plugin is None else control_of(plugin)
        if control.rate_based and "slow_start" in keys:
            raise ValueError(f"slow_start: {control.name} has no slow start, because it sends at a rate of its own")
        if isinstance(plugin, agents.Agent) and plugin.agent["over"] is None and "slow_start" in keys:
            raise ValueError('slow_start: an agent without "over" alone sets the window, from the first acknowledgement on')
        slow_start: SlowStartChoice | None = None
        if "slow_start" in keys:
            with within("slow_start"):
                slow_start = SlowStartChoice.of(keys.pop("slow_start"), folder)
        others = ("name",) if control.rate_based else (_identifying(plugin), "slow_start")
        values = parameters.read(keys, control.parameters, control.name, *others)
        return cls(name=control.name, slow_start=slow_start, parameters=values, plugin=plugin)

    @property
    def control(self) -> Algorithm:
        """What the catalogue or the plugin says of it."""
        return catalogue.load().congestion_control(self.name) if self.plugin is None else control_of(self.plugin)

    @classmethod
    def json_schema(cls) -> JsonSchemaValue:
        known = catalogue.load()
        windows = [entry for entry in known.congestion_controls if not entry.rate_based]
        rates = [entry for entry in known.congestion_controls if entry.rate_based]
        common = {"slow_start": SlowStartChoice.json_schema()}
        own = [_own_table(common), _own_table(common, "linux", "An unmodified congestion control module of Linux")]
        own += _agent_tables("flow", common)
        tables = [*_tables(windows, common), *_tables(rates, {}), *own]
        return _schema("A congestion control.", known.congestion_controls, tables)


@dataclass(frozen=True)
class StackChoice(Choice):
    """A stack profile and the settings that differ from it; a profile of ``None`` means the scenario's."""

    profile: str | None
    settings: Mapping[str, Value]

    shorthand: ClassVar[str] = "profile"

    @classmethod
    def read(cls, keys: dict[str, object], _folder: Path) -> Self:
        known = catalogue.load()
        profile = keys.pop("profile", None)
        if profile is not None and not isinstance(profile, str):
            raise ValueError(f"profile: {profile!r} is not a name")
        name = None if profile is None else known.profile(profile).name
        settings = parameters.read(keys, known.stack_settings, "the stack", "profile")
        return cls(profile=name, settings=settings)

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


def control_of(plugin: Source) -> Algorithm:
    """The congestion control of a plugin."""
    if plugin.language == source.AGENT:
        return agents.algorithm(plugin.file, "flow")
    return _declared(plugin, "control")


def queue_of(plugin: Source) -> Algorithm:
    """The queue discipline of a plugin."""
    if plugin.language == source.AGENT:
        return agents.algorithm(plugin.file, "queue")
    if plugin.language != source.LINUX:
        return _declared(plugin, "queue")
    # Only a kernel that was built with it runs it, so it is not loaded.
    if "register_qdisc" not in plugin.files[plugin.file]:
        raise ValueError(f"linux: {plugin.file} registers no queue discipline")
    return Algorithm(name=plugin.file, title=plugin.file, class_="own")


def _agent_tables(of: str, common: Mapping[str, Any]) -> list[JsonSchemaValue]:
    """The tables of an agent of a flow or a queue, by who decides for it."""
    registry = {key: [each for each in agents.registry()[key] if each["of"] == of] for key in ("features", "actions", "rewards")}
    named = {
        key: {
            "description": f"{title}, by name or with its parameters.",
            "anyOf": [
                {"enum": [entry["name"] for entry in registry[f"{key}s"]]},
                {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            ],
        }
        for key, title in (("action", "What it sets"), ("reward", "What an interval is worth"))
    }
    properties = {
        "interval": {"type": "string", "examples": ["1 rtt", "30 ms", "10 acks"], "description": "When it is asked."},
        "observe": {
            "type": "array",
            "items": {"enum": [entry["name"] for entry in registry["features"]]},
            "minItems": 1,
            "description": "What it sees.",
        },
        "history": {"type": "integer", "minimum": 1, "maximum": agents.MOST_HISTORY, "description": "Intervals that it sees."},
        "only_tcp_info": {"type": "boolean", "description": "Whether it sees only what a kernel's tcp_info shows."},
        **({} if of == "queue" else {"over": {"description": _OVER, "type": ["string", "object"]}}),
        **named,
        **common,
    }
    who = {
        "agent": {"const": True, "description": "It waits for an environment."},
        "actions": {"type": "string", "description": "A file with the actions of an episode; its path is relative to this file."},
        "policy": {"type": "string", "description": "A file with a policy, JSON or ONNX; its path is relative to this file."},
    }
    titles = {"agent": "A controller that learns", "actions": "The actions of an episode", "policy": "A policy"}
    return [
        {
            "type": "object",
            "title": f"{titles[key]}, of a {of}",
            "properties": {key: what, **properties},
            "required": [key],
            "additionalProperties": False,
        }
        for key, what in who.items()
    ]


def _declared(plugin: Source, kind: Literal["control", "queue"]) -> Algorithm:
    # It starts a process, so what does not need it does not load it.
    from sojourn.plugins.declared import declared

    control, queue = "congestion control", "queue discipline"
    found = getattr(declared(plugin), kind)
    if not isinstance(found, Algorithm):
        has, lacks = (queue, control) if kind == "control" else (control, queue)
        raise ValueError(f"file: {plugin.file} defines a {has}, and no {lacks}")
    return found


def _plugin(keys: dict[str, object], folder: Path) -> Source | None:
    """The plugin whose file a table names, if it does."""
    given = [key for key in ("name", *FILES) if key in keys]
    if not set(given) & set(FILES):
        return None
    if len(given) > 1:
        raise ValueError(f'give either "{given[0]}" or "{given[1]}"')
    key = given[0]
    file = keys.pop(key)
    if not isinstance(file, str):
        raise ValueError(f"{key}: {file!r} is not the name of a file")
    with within(key):
        if Path(file).suffix in policies.ENDINGS:
            raise ValueError(f'"{file}" is the file of a policy; write {{ policy = "{file}" }}')
        trust.check(file, folder)
        return source.read(folder / file, as_linux=key == "linux")


def _identifying(plugin: Source | None) -> str:
    """The key that says which algorithm it is."""
    if plugin is None:
        return "name"
    if isinstance(plugin, agents.Agent):
        return {"environment": "agent", "script": "actions"}.get(plugin.decider, plugin.decider)
    return "linux" if plugin.language == source.LINUX else "file"


def _name(keys: dict[str, object]) -> str:
    name = keys.pop("name", None)
    if not isinstance(name, str):
        raise ValueError('missing key "name"' if name is None else f"name: {name!r} is not a name")
    if source.language_of(Path(name)) is not None:
        raise ValueError(f'"{name}" is not a name; write {{ file = "{name}" }}')
    if Path(name).suffix in policies.ENDINGS:
        raise ValueError(f'"{name}" is not a name; write {{ policy = "{name}" }}')
    return name


def _schema(description: str, entries: Iterable[Algorithm], tables: Iterable[JsonSchemaValue]) -> JsonSchemaValue:
    spellings = [name for entry in entries for name in (entry.name, *entry.aliases)]
    return {"anyOf": [{"enum": spellings}, *tables], "description": description}


def _own_table(common: Mapping[str, Any], key: str = "file", title: str = "Your own algorithm") -> JsonSchemaValue:
    """A table that names the file of a plugin, which declares its parameters itself."""
    what = "A file in C" if key == "linux" else "A file in Python or C, or a shared library"
    return {
        "type": "object",
        "title": title,
        "properties": {key: {"type": "string", "description": f"{what}; its path is relative to this file."}, **common},
        "required": [key],
        "not": {"required": ["name"]},
    }


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
