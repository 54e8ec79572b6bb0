"""What can go wrong, sorted by who can mend it.

The command line turns these into one line on stderr and an exit status; nothing else in Sojourn prints or exits.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

#: The name of the exception that a panic of code in Rust arrives as. It is no ``Exception``, and each library has its own.
PANIC = "PanicException"


class SojournError(Exception):
    """The base of all errors that Sojourn raises on purpose."""


class InputError(SojournError):
    """What the user gave is wrong: a file, a key, a name, an option. Its text is one clear line."""

    #: What another program said of it, such as a compiler: shown below that line as it is.
    output = ""


class within:  # noqa: N801 - it is used as a function
    """Says where something is wrong: an error in what is given begins with the place, and is raised as one of a kind.

    No generator, which takes several times as long: each cell of a sweep comes here a dozen times.
    """

    def __init__(self, place: str, kind: type[Exception] = ValueError) -> None:
        self._place, self._kind = place, kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, ValueError | InputError):
            raise self._kind(f"{self._place}: {error}") from None


def check_out(path: Path) -> None:
    """Checks that a file can be where ``--out`` says."""
    if path.is_dir():
        raise InputError(f"--out {path}: a directory; give a file")
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: no directory {path.parent}")


class CompilationFailed(ValueError):
    """A user's source does not compile: one line, and the compiler's output."""

    def __init__(self, message: str, output: str) -> None:
        super().__init__(message)
        self.output = output


class RunFailed(SojournError):
    """A backend could not finish a run that looked right."""

    #: Of a campaign the ``Result`` of its other runs, if there is any.
    result: Any = None
    #: Of a campaign the axes of the cells whose runs failed.
    cells: Sequence[Mapping[str, str]] = ()

    #: What its programs had written, by paths, until that is kept in a folder.
    files: Mapping[str, bytes] = MappingProxyType({})
    folder: Path | None = None

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.folder is None else f"{text}; what its programs wrote is in {self.folder}"


class RunCancelled(SojournError):
    """A run was stopped on request before it was finished."""


class StoreFailed(SojournError):
    """A directory of results could not be read or written; what was in it is in it still."""


class ClusterLost(SojournError):
    """The scheduler of a cluster has gone while runs were made; those that had finished are kept."""
