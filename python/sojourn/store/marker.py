"""``sojourn.json``, which says that a directory is a store, of which schema, and which build of Sojourn made it."""

import json
import os
from pathlib import Path

from sojourn import _engine
from sojourn.errors import InputError
from sojourn.metrics import METRICS

NAME = "sojourn.json"

#: The version of what a store's files hold. Every change of the journal, of columns other than metrics, or of what a metric means
#: counts it up; metrics may be added and removed.
SCHEMA = 8

#: Earlier schemas that are read too. Their files lack only columns, which are null (``results.newer``), and the files of frames
#: that were added since (``FRAMES_SINCE``), which are empty.
EARLIER = (5, 6, 7)

#: Frames that not all of these schemas have, and the first that does.
FRAMES_SINCE = {"transfers": 7}


def is_there(directory: Path) -> bool:
    """Whether the directory says that it is a store."""
    return (directory / NAME).is_file()


def make(directory: Path) -> None:
    """Makes the directory a store; it must be new or empty. Several processes may try at once.

    Raises:
        InputError: it holds anything else, or cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        held = sorted(entry.name for entry in directory.iterdir() if not entry.name.startswith(f".{NAME}."))
        if is_there(directory):
            return
        if held:
            raise InputError(f'--out {directory}: holds "{held[0]}" and is not a results directory; give a new or empty one')
        # Linked and not moved: the first marker stays, on which another process may already hold a lock.
        unfinished = directory / f".{NAME}.{os.getpid()}"
        said = {
            "schema": SCHEMA,
            "metrics": list(METRICS),
            "engine": _engine.version(),
            "digest": _engine.digest(),
        }
        unfinished.write_text(json.dumps(said) + "\n", encoding="utf-8")
        try:
            os.link(unfinished, directory / NAME)
        except FileExistsError:
            return
        finally:
            unfinished.unlink()
    except OSError as error:
        raise InputError(f"--out {directory}: {error.strerror}") from None


def check(directory: Path) -> None:
    """Sees to it that the store can be read by this version.

    Raises:
        InputError: the directory is no store, or one of another schema.
    """
    try:
        said = json.loads((directory / NAME).read_text(encoding="utf-8"))
        if not is_known(said["schema"]):
            raise InputError(f"{directory}: {_written_by(said)}; use that version or another directory")
        if not all(isinstance(metric, str) for metric in said["metrics"]):
            raise ValueError("metrics are names")
    except FileNotFoundError:
        raise InputError(f"{directory}: not a results directory (no {NAME})") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{directory / NAME}: cannot be read; use another directory") from None


def adopt(directory: Path) -> None:
    """Marks a store's files as of this version's schema; the store must be locked."""
    marker = directory / NAME
    text = marker.read_text(encoding="utf-8")
    for earlier in EARLIER:
        text = text.replace(f'"schema": {earlier},', f'"schema": {SCHEMA},', 1)
    # In place, since the lock is on this file.
    with marker.open("r+", encoding="utf-8") as file:
        file.write(text)


def is_known(schema: object) -> bool:
    """Whether this version reads files of a schema.

    Raises:
        ValueError: it is not the number of a schema.
    """
    if type(schema) is not int:
        raise ValueError("a schema is a number")
    return schema == SCHEMA or schema in EARLIER


def _written_by(said: dict[str, object]) -> str:
    """Which version reads results of another schema, as far as the marker says it."""
    build = f" by Sojourn {said['engine']} (engine {said.get('digest', 'unknown')})" if "engine" in said else ""
    return f"written with schema {said['schema']}{build}, but this version reads {SCHEMA}"
