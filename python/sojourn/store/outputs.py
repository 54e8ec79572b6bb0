"""What programs wrote, and their files that are kept: beside the frames, in a folder for each run."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from sojourn.analysis.records import Record
from sojourn.store.files import flush

#: The folder in a directory of results.
FOLDER = "programs"

#: The folder of a program's files that are kept, in its own.
KEPT = "files"


def folder(directory: Path, key: str) -> Path:
    """The folder of a run."""
    return directory / FOLDER / key


def of_program(directory: Path, key: str, program: int) -> Path | None:
    """The folder of a program, by its place in the scenario: ``output``, ``errors`` and ``KEPT``; none if it left nothing."""
    return next(folder(directory, key).glob(f"{program}-*"), None)


def write(directory: Path, record: Record) -> None:
    """Writes the files of a run, whole or not at all; those that are there are as they were, and those of failures go."""
    if not record.programs:
        return
    shutil.rmtree(_of_failed(directory, record.key), ignore_errors=True)
    target = folder(directory, record.key)
    if record.files and not target.exists():
        _write(target, record.files)


def write_of_failed(directory: Path, key: str, files: Mapping[str, bytes]) -> Path:
    """Writes the files of a run that failed in place of those of an earlier time; returns their folder."""
    target = _of_failed(directory, key)
    shutil.rmtree(target, ignore_errors=True)
    _write(target, files)
    return target


def _of_failed(directory: Path, key: str) -> Path:
    return directory / FOLDER / f"{key}-failed"


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    unfinished = target.with_name(f"unfinished-{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    for path, content in files.items():
        file = unfinished / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        flush(file)
    unfinished.rename(target)
    flush(target.parent)
