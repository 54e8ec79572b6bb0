"""Files of a store: written whole or not at all, locked, and put aside."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a whole file or none: a reader never sees half of one, and of several writers the last to finish wins."""
    unfinished = path.with_name(f".{uuid4().hex}.unfinished")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keeps other processes that want the same out meanwhile; the lock goes with the process, however that ends."""
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def flush(path: Path) -> None:
    """Has the system write a file, or a directory's entries, to the device."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def set_aside(path: Path) -> Path:
    """Moves a file into the folder ``set-aside`` next to it, under its name or a numbered one, and says where it is."""
    folder = path.parent / "set-aside"
    folder.mkdir(exist_ok=True)
    target, number = folder / path.name, 1
    while target.exists():
        number += 1
        target = folder / f"{path.stem}-{number}{path.suffix}"
    path.rename(target)
    return target
