"""What the tables of a scenario are read with: the folder of its files, and what has been read of other scenarios like it."""

import marshal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationInfo

Part = TypeVar("Part")

#: Bytes of plain data whose tables are kept; these take some ten times as much memory.
MOST_BYTES = 1 << 20


class Shared:
    """Tables and choices that have been read, for scenarios that have most of them in common, such as the cells of a sweep.

    They are found by the plain data that they were read from. A file that they name is read once.
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[type, bytes], Any] = {}
        self._bytes = 0

    def read(self, kind: type[Part], given: Any, read: Callable[[object], Part]) -> Part:
        """What is read from plain data, unless the same has been read before; an error is raised each time."""
        try:
            data = marshal.dumps(given, 2)  # this version writes nothing of who else refers to the data
        except ValueError:  # no plain data
            return read(given)
        if (known := self._parts.get((kind, data))) is not None:
            part: Part = known
            return part
        part = read(given)
        self._bytes += len(data)
        if self._bytes > MOST_BYTES:
            self._parts.clear()
            self._bytes = len(data)
        self._parts[kind, data] = part
        return part


@dataclass(frozen=True)
class Reading:
    """The context in which pydantic reads a scenario."""

    #: What paths in it are relative to.
    folder: Path
    #: All that is read, of which only parts are shared.
    whole: object
    shared: Shared | None


def folder_of(info: ValidationInfo) -> Path:
    """The folder that paths in a scenario are relative to."""
    return info.context.folder if isinstance(info.context, Reading) else Path()


def shared(kind: type[Part], given: object, info: ValidationInfo, read: Callable[[object], Part]) -> Part:
    """What is read of a part of a scenario, or has been read of another one's."""
    reading = info.context
    if not isinstance(reading, Reading) or reading.shared is None or given is reading.whole:
        return read(given)
    return reading.shared.read(kind, given, read)
