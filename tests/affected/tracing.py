"""What tests use of the project while they run: functions, files that they read as text, and other processes."""

import functools
import os
import sys
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from affected.units import MARK, marked

#: Programs that run nothing of the project in Python.
FOREIGN = {"cc", "chromium", "git", "maturin", "node", "rustc", "tshark"}

#: Events of Python's audit that another process is started or spoken to.
PROCESSES = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "socket.connect", "subprocess.Popen"}


def is_foreign(program: str, arguments: Sequence[str]) -> bool:
    """Whether a command runs nothing of the project: another program, Flent, or code for Python that does not name it."""
    if os.path.realpath(program) == os.path.realpath(sys.executable):
        match arguments[1:3]:
            case ["-c", code]:
                return "sojourn" not in code
            case ["-m", module]:
                return module == "flent"
        return False
    return os.path.basename(program) in FOREIGN


@dataclass
class Used:
    """What was used: functions as ``file::name``, files read as text, and whether other processes were."""

    functions: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    processes: bool = False

    def add(self, other: "Used") -> None:
        self.functions |= other.functions
        self.texts |= other.texts
        self.processes |= other.processes


class Tracer:
    """Traces modules that are imported from some folders once it is installed.

    Args:
        root: The project's folder; files are named relative to it.
        folders: Where the modules are, relative to the root.
        kept: The folder for bytecode with marks.
    """

    def __init__(self, root: Path, folders: Iterable[str], kept: Path) -> None:
        self.root = os.path.realpath(root)
        self.folders = tuple(os.path.join(self.root, folder) + os.sep for folder in folders)
        self.kept = str(kept)
        self.reached: set[str] = set()
        #: Functions called while a module was imported, which happens once for all tests of a process.
        self.at_import: set[str] = set()
        self._texts: set[str] = set()
        self._processes = False
        self._compiling = threading.RLock()
        self._is_compiling = False

    def install(self) -> None:
        sys.meta_path.insert(sys.meta_path.index(PathFinder), _Finder(self))
        sys.addaudithook(self._audit)

    def take(self) -> Used:
        """Returns what was used since the last time."""
        used = Used(set(self.reached), set(self._texts), self._processes)
        self.reached.clear()
        self._texts.clear()
        self._processes = False
        return used

    def label(self, path: str) -> str | None:
        """The name of a file of the project."""
        real = os.path.realpath(path)
        return os.path.relpath(real, self.root) if real.startswith(self.root + os.sep) else None

    def is_traced(self, path: str) -> bool:
        return os.path.realpath(path).startswith(self.folders)

    def compile(self, loader: SourceFileLoader, name: str) -> CodeType | None:
        """Takes a module's code from bytecode with marks, or makes it."""
        with self._compiling:
            before, sys.pycache_prefix, self._is_compiling = sys.pycache_prefix, self.kept, True
            try:
                return SourceFileLoader.get_code(loader, name)
            finally:
                sys.pycache_prefix, self._is_compiling = before, False

    def execute(self, loader: SourceFileLoader, module: ModuleType) -> None:
        before = set(self.reached)
        self.reached.clear()
        setattr(module, MARK, self.reached.add)
        SourceFileLoader.exec_module(loader, module)
        self.at_import |= self.reached
        self.reached |= before

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path = arguments[0]
            if isinstance(path, str) and path.endswith((".py", ".md")) and not self._is_compiling and (name := self.label(path)):
                self._texts.add(name)
        elif event in PROCESSES:
            if event == "subprocess.Popen" and is_foreign(
                os.fsdecode(arguments[0]), [os.fsdecode(each) for each in arguments[1]]
            ):
                return
            self._processes = True


class _Finder:
    """Finds modules as Python does, and gives those that are traced their loader."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader and self._tracer.is_traced(spec.loader.path):
            spec.loader = _Loader(self._tracer, name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, tracer: Tracer, name: str, path: str) -> None:
        super().__init__(name, path)
        self._tracer = tracer

    def get_code(self, fullname: str) -> CodeType | None:
        return self._tracer.compile(self, fullname)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:  # type: ignore[override]  # as importlib calls it
        return marked(data, path, self._tracer.label(path) or path)

    def exec_module(self, module: ModuleType) -> None:
        self._tracer.execute(self, module)


def forget(package: str, kept: Collection[tuple[str, str]]) -> None:
    """Empties the caches of a package's functions but some, so that what fills them is called again."""
    for module, names in list(sys.modules.items()):
        if module.partition(".")[0] == package:
            for name, value in list(vars(names).items()):
                if isinstance(value, functools._lru_cache_wrapper) and (module, name) not in kept:
                    value.cache_clear()
