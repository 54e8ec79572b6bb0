"""Which run is exported, and where to."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from sojourn import api
from sojourn.backends.simulator import Simulator
from sojourn.errors import InputError, SojournError
from sojourn.runs import Run
from sojourn.store import write_whole


def one_run(
    file: str | Path,
    seed: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Run:
    """The one run of a scenario file with a seed, its own unless given.

    Raises:
        InputError: the file will not do, or what is left of its sweep is no single cell.
    """
    asked = api.campaign(file, 1, only, changes)
    cells = list(islice(asked.cells(), 2))
    if len(cells) != 1:
        raise InputError(f"{file}: sweep: one run is exported at a time; choose one of the {asked.size} cells with --only")
    run = cells[0].run(0)
    if seed is not None:
        run = Run(run.axes, seed, {**run.specification, "seed": seed})
    try:
        Simulator().check(run.specification)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    return run


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a whole file or none.

    Raises:
        InputError: there is no place for it.
        SojournError: it cannot be written.
    """
    if path.is_dir():
        raise InputError(f"--out {path}: is a directory; give a file")
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: there is no directory {path.parent}")
    with _told(path):
        try:
            write_whole(path, write)
        finally:
            path.with_suffix(".unfinished").unlink(missing_ok=True)


def make_directory(path: Path) -> None:
    """Makes a directory that may be there if it is empty.

    Raises:
        InputError: something else is there, or there is no place for it.
        SojournError: it cannot be made.
    """
    if path.exists() and not path.is_dir():
        raise InputError(f"--out {path}: is a file; give a new or an empty directory")
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: there is no directory {path.parent}")
    with _told(path):
        path.mkdir(exist_ok=True)
        holds = next(path.iterdir(), None)
    if holds is not None:
        raise InputError(f'--out {path}: holds "{holds.name}"; give a new or an empty directory')


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SojournError(f"{path}: {error.strerror or error}") from error
