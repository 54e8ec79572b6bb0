"""``sojourn.json``, which says that a directory is a store, of which schema, and which build of Sojourn made it."""

import json
import os
from pathlib import Path

from sojourn import _engine
from sojourn.errors import InputError
from sojourn.metrics import of_run

NAME = "sojourn.json"

#: The version of what a store's files hold. Every change of the journal or of columns other than metrics counts it up.
SCHEMA = 4


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
        said = {"schema": SCHEMA, "metrics": _metrics(), "engine": _engine.version(), "digest": _engine.digest()}
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
        schema = said["schema"]
    except FileNotFoundError:
        raise InputError(f"{directory}: not a results directory (no {NAME})") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{directory / NAME}: cannot be read; use another directory") from None
    if schema != SCHEMA:
        raise InputError(f"{directory}: written with schema {schema}, but this version reads {SCHEMA}; use another directory")
    if differing := sorted(set(said["metrics"]).symmetric_difference(_metrics())):
        raise InputError(f"{directory}: its metrics differ from those of this version ({', '.join(differing)})")


def _metrics() -> list[str]:
    """The metrics that are columns of ``runs``."""
    return [metric.name for metric in of_run()]
