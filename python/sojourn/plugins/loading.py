"""Loads plugins: runs the user's Python, opens the user's libraries. What the engine is then handed is ``Loaded``."""

import ctypes
import json
import linecache
import sys
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar, cast

from sojourn import _engine
from sojourn.errors import within
from sojourn.plugins.compiler import compiled
from sojourn.plugins.declaring import Declaration, ShownAttribute
from sojourn.plugins.hooks import CongestionControl, Queue, defined
from sojourn.plugins.source import AGENT, Source, library, of_json

#: What a library defines, by the names of its symbols.
CONTROL_SYMBOL, QUEUE_SYMBOL = "sojourn_congestion_control", "sojourn_queue"

#: Why a module of Linux could not be started.
COMPLAINT_SYMBOL = "sojourn_complaint"


#: What instances are told besides their parameters; it would hide parameters of these names.
TOLD = ("flow", "link", "random")


DeclaredT = TypeVar("DeclaredT")


class NeverReturned(BaseException):
    """Raised in a hook that takes too long."""


class Loaded(Protocol):
    """A plugin for the engine (``crates/python/src/plugins``)."""

    file: str
    #: The addresses of what a library defines, 0 for what it does not; none of a file in Python.
    addresses: tuple[int, int] | None

    def described(self) -> dict[str, Any]:
        """What it defines, as the catalogue has it: ``control`` and ``queue``, None for what it does not define."""
        ...


def load_all(plugins: list[dict[str, Any]]) -> list[Loaded]:
    """The plugins of a run's specification."""
    return [Unloaded(plugin["file"]) if plugin["language"] == AGENT else load(of_json(plugin)) for plugin in plugins]


@cache
def load(source: Source) -> Loaded:
    """Loads a plugin; the same source is loaded once."""
    return PythonFile(source) if source.language == "python" else Library(source)


class Unloaded:
    """Stands for an agent among the plugins of a run, which the engine's crate for controllers that learn makes."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.addresses: tuple[int, int] | None = (0, 0)

    def described(self) -> dict[str, Any]:
        """See ``Loaded.described``."""
        return {"control": None, "queue": None}


class PythonFile:
    """A file in Python that has been run."""

    def __init__(self, source: Source) -> None:
        self.file = source.file
        self.addresses: tuple[int, int] | None = None
        text = source.files[source.file]
        # Tracebacks look for the line here, and the debugger by the whole path that it makes of the name (``Bdb.canonic``).
        for name in (self.file, str(Path(self.file).absolute())):
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        module = ModuleType(f"sojourn_plugin_{source.digest}")
        module.__file__ = self.file
        sys.modules[module.__name__] = module
        try:
            exec(compile(text, self.file, "exec"), module.__dict__)
        except BaseException as error:
            raise ValueError(self.explain("its top level", error)) from None
        self._control = self._class(module, CongestionControl)
        self._queue = self._class(module, Queue)
        if self._control is None and self._queue is None:
            raise ValueError(f"{self.file}: no class extends CongestionControl or Queue of sojourn.plugins")
        self._check_hooks()

    def _class(self, module: ModuleType, base: type) -> type[Any] | None:
        found = [
            each
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, base) and each.__module__ == module.__name__
        ]
        # A class that others of the file extend is a part of them.
        found = [each for each in found if not any(other is not each and issubclass(other, each) for other in found)]
        if len(found) > 1:
            listed = ", ".join(each.__name__ for each in found)
            raise ValueError(f"{self.file}: several classes extend {base.__name__}: {listed}; one is allowed")
        return found[0] if found else None

    def _check_hooks(self) -> None:
        if self._control is not None:
            hooks = self.control_hooks
            governs = self._control.governs
            for hook in ("on_congestion", "on_delivery" if governs else "increase"):
                if hook not in hooks:
                    raise ValueError(f"{self.place('control')}: {self._control.__name__} defines no {hook}")
        if self._queue is not None and {"admit", "release", "next_line"}.isdisjoint(self.queue_hooks):
            raise ValueError(f"{self.place('queue')}: {self._queue.__name__} defines no admit, release or next_line")

    @property
    def control_hooks(self) -> list[str]:
        """The hooks that the congestion control defines."""
        return defined(self._control, CongestionControl) if self._control is not None else []

    @property
    def queue_hooks(self) -> list[str]:
        """The hooks that the queue discipline defines."""
        return defined(self._queue, Queue) if self._queue is not None else []

    @property
    def needs(self) -> str:
        """What the congestion control needs of the sender besides what its hooks stand for, as the engine reads it."""
        kind = self._control
        if kind is None:
            raise ValueError(f"{self.file}: defines no congestion control")
        return json.dumps(
            {
                "one_way_delay": bool(kind.one_way_delay),
                "ecn": kind.ecn,
                "load_factor": bool(kind.load_factor),
                "recovery": kind.recovery,
                "governs": bool(kind.governs),
                "random": kind.draws is not None,
            }
        )

    @property
    def queue_draws(self) -> bool:
        """Whether the queue discipline draws random numbers."""
        return self._queue is not None and self._queue.draws is not None

    def control(self, parameters: str, random: object, recorder: object, flow: int) -> object:
        """An instance of the congestion control for a flow, with parameters as JSON."""
        return _instance(self._control, parameters, random, recorder, flow=flow)

    def queue(self, parameters: str, random: object, recorder: object, link: str) -> object:
        """An instance of the queue discipline for a link, with parameters as JSON."""
        return _instance(self._queue, parameters, random, recorder, link=link)

    def described(self) -> dict[str, Any]:
        return {"control": self._described(self._control), "queue": self._described(self._queue)}

    def _described(self, kind: type[Any] | None) -> dict[str, Any] | None:
        if kind is None:
            return None
        parameters = []
        for name, declaration in declarations(kind).items():
            if name in TOLD:
                raise ValueError(f"{self.file}: parameter {name}: its name is taken by what instances are told")
            with within(f"{self.file}: {name}"):
                parameters.append(declaration.described(name))
        lines = (kind.__doc__ or "").strip().splitlines()
        title = kind.title or (lines[0].rstrip(".") if lines else kind.__name__)
        state = [shown.described(name) for name, shown in _declared(kind, ShownAttribute).items()]
        return {"title": title, "source": kind.source, "random": kind.draws, "parameters": parameters, "state": state}

    def shown(self, kind: str) -> list[tuple[str, tuple[str, ...] | None]]:
        """The attributes that a class shows as its inner state, and the phases of those that are phases."""
        owner = self._control if kind == "control" else self._queue
        shown = _declared(owner, ShownAttribute) if owner is not None else {}
        return [(name, attribute.phases or None) for name, attribute in shown.items()]

    def place(self, kind: str, hook: str | None = None) -> str:
        """Where a class, or a hook of it, is defined: ``mine.py:12``."""
        owner = self._control if kind == "control" else self._queue
        code = getattr(getattr(owner, hook, None), "__code__", None) if hook is not None else None
        return f"{self.file}:{code.co_firstlineno}" if code is not None and code.co_filename == self.file else self.file

    def explain(self, hook: str, error: BaseException) -> str:
        """One line on what the user's code raised, with the last of its lines that led there."""
        if isinstance(error, SyntaxError) and error.filename == self.file:
            return f"{self.file}:{error.lineno}: {type(error).__name__}: {error.msg}"
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.file]
        place = f"{self.file}:{lines[-1]}" if lines else self.file
        if isinstance(error, NeverReturned):
            return f"{place}: {hook} {error}"
        said = " ".join(str(error).split())
        return f"{place}: {hook}: {type(error).__name__}{f': {said}' if said else ''}"


def declarations(kind: type) -> dict[str, Declaration]:
    """The parameters that a class and those that it extends declare, in order."""
    return _declared(kind, Declaration)


def _declared(kind: type, sought: type[DeclaredT]) -> dict[str, DeclaredT]:
    """The attributes of this kind that a class and those that it extends declare, in order."""
    found: dict[str, DeclaredT] = {}
    for each in reversed(kind.__mro__):
        for name, value in vars(each).items():
            if isinstance(value, sought):
                found[name] = value
            else:
                found.pop(name, None)
    return found


def _instance(kind: type[Any] | None, parameters: str, random: object, recorder: object, **told: object) -> object:
    if kind is None:
        raise ValueError("the file defines nothing of this kind")
    made = cast(Any, object.__new__(kind))
    values: Mapping[str, Any] = json.loads(parameters)
    for name, declaration in declarations(kind).items():
        setattr(made, name, declaration.seen(values[name]))
    for name in _declared(kind, ShownAttribute):
        setattr(made, name, None)
    if random is not None:
        made.random = random
    made._recorder = recorder
    for name, value in told.items():
        setattr(made, name, value)
    made.__init__()
    return made


class Library:
    """A shared library that has been opened; it stays open."""

    def __init__(self, source: Source) -> None:
        self.file = source.file
        path = library(source.digest) if source.language == "library" else compiled(source)
        if not path.exists():
            raise ValueError(f"{source.file}: the library {source.digest[:8]} is not in {path.parent} of this machine")
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise ValueError(f"{source.file}: {str(error).removeprefix(f'{path}: ')}") from None
        self._check_start()
        self._found = (self._address(CONTROL_SYMBOL), self._address(QUEUE_SYMBOL))
        self.addresses: tuple[int, int] | None = self._found
        if not any(self._found):
            wanted = f"{CONTROL_SYMBOL} or {QUEUE_SYMBOL}"
            raise ValueError(f"{source.file}: defines no {wanted}; use SOJOURN_CONGESTION_CONTROL or SOJOURN_QUEUE of sojourn.h")

    def _check_start(self) -> None:
        """Whether what stands between a module of Linux and Sojourn has started."""
        try:
            said = ctypes.c_char_p.in_dll(self._library, COMPLAINT_SYMBOL).value
        except ValueError:
            return  # it is no module of Linux
        if said is not None:
            raise ValueError(f"{self.file}: {said.decode()}")

    def _address(self, symbol: str) -> int:
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(self._library, symbol))
        except ValueError:
            return 0

    def described(self) -> dict[str, Any]:
        with within(self.file):
            described: dict[str, Any] = json.loads(_engine.describe_library(*self._found))
        return described
