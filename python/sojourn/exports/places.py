"""Where exports are written."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn.errors import InputError, SojournError, check_out
from sojourn.store import write_whole


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a whole file or none."""
    check_out(path)
    with told(path):
        write_whole(path, write)


def make_directory(path: Path) -> None:
    """Makes a directory that may be there if it is empty."""
    if path.exists() and not path.is_dir():
        raise InputError(f"--out {path}: a file; give a new or empty directory")
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: no directory {path.parent}")
    with told(path):
        path.mkdir(exist_ok=True)
        holds = next(path.iterdir(), None)
    if holds is not None:
        raise InputError(f'--out {path}: holds "{holds.name}"; give a new or empty directory')


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turns what goes wrong around a file into one line that names it."""
    try:
        yield
    except OSError as error:
        raise SojournError(f"{path}: {error.strerror or error}") from error
