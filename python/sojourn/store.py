"""Where results are kept while a campaign runs, and as files once it has ended.

A directory never holds two campaigns' results: it must be empty or not there. Each finished run goes to part files at once,
so that a crash loses only the runs under way; at the end the parts become one file a frame. No file depends on when, in what
order or on how many workers the runs were made.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl

from sojourn.errors import InputError
from sojourn.results import NAMES, Result


class Store:
    """Collects the results of runs, in memory and, given a directory, on disk.

    Raises:
        InputError: the directory holds anything, or cannot be made.
    """

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory
        self._parts: dict[int, Result] = {}
        if directory is not None:
            prepare(directory)

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, index: int, result: Result) -> None:
        """Keeps the result of the campaign's run number ``index``."""
        self._parts[index] = result
        if self.directory is not None:
            for name in NAMES:
                _write(getattr(result, name), self.directory / "parts" / f"{index:06}.{name}.parquet")

    def consolidate(self) -> Result | None:
        """All results so far, in the campaign's order, and their files; none when no run has finished."""
        result = Result.concat(self._parts[index] for index in sorted(self._parts)) if self._parts else None
        if self.directory is not None:
            if result is not None:
                for name in NAMES:
                    _write(getattr(result, name), self.directory / f"{name}.parquet")
            shutil.rmtree(self.directory / "parts")
            if result is None:
                self.directory.rmdir()
        return result


def prepare(directory: Path) -> None:
    """Makes the directory, or sees to it that it is empty.

    Raises:
        InputError: it holds anything, or cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        held = sorted(entry.name for entry in directory.iterdir())
        if held:
            what = "other results" if set(held) & {"parts", *(f"{name}.parquet" for name in NAMES)} else f'"{held[0]}"'
            raise InputError(f"--out {directory}: the directory holds {what} already; give a new or an empty one")
        (directory / "parts").mkdir()
    except OSError as error:
        raise InputError(f"--out {directory}: {error.strerror}") from None


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a whole file or none: a reader never sees half of one."""
    unfinished = path.with_suffix(".unfinished")
    write(unfinished)
    unfinished.replace(path)


def _write(frame: pl.DataFrame, path: Path) -> None:
    write_whole(path, lambda unfinished: frame.write_parquet(unfinished, compression="zstd", statistics=True))
