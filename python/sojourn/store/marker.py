"""``sojourn.json``, which says that a directory is a store, of which schema, and which build of Sojourn made it."""

import json
import os
from pathlib import Path
from typing import Any

from sojourn import _engine, names
from sojourn.errors import InputError
from sojourn.store import seal
from sojourn.store.files import flush
from sojourn.store.journal import APPLICATION

NAME = names.MARKER

#: The version of what a store's files hold. Every change of the journal, of columns other than metrics, or of what a metric means
#: counts it up; metrics may be added and removed.
SCHEMA = 1


def is_there(directory: Path) -> bool:
    """Whether the directory says that it is a store."""
    return (directory / NAME).is_file()


def make(directory: Path) -> None:
    """Makes the directory a store; it must be new or empty. Several processes may try at once."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        held = sorted(entry.name for entry in directory.iterdir() if not entry.name.startswith(f".{NAME}."))
        if is_there(directory):
            return
        if held:
            raise InputError(f'--out {directory}: holds "{held[0]}" and is not a results directory; give a new or empty one')
        # Linked and not moved: the first marker stays, on which another process may already hold a lock.
        unfinished = directory / f".{NAME}.{os.getpid()}"
        try:
            unfinished.write_text(_text(), encoding="utf-8")
            # Otherwise a loss of power may leave it empty.
            flush(unfinished)
            os.link(unfinished, directory / NAME)
        except FileExistsError:
            return
        finally:
            unfinished.unlink(missing_ok=True)
    except FileExistsError:
        raise InputError(f"--out {directory}: is a file; give a directory") from None
    except OSError as error:
        raise InputError(f"--out {directory}: {error.strerror}") from None


def check(directory: Path) -> None:
    """Sees to it that the store can be read by this version."""
    try:
        said = _read(directory)
    except FileNotFoundError:
        raise InputError(f"{directory}: not a results directory (no {NAME})") from None
    except (OSError, ValueError):
        if _has_results(directory):
            remedy = "the results are not: a command that makes runs (sojourn run FILE --out DIR) writes it again"
            raise InputError(f"{directory / NAME}: is damaged; {remedy}") from None
        raise InputError(f"{directory / NAME}: cannot be read; use another directory") from None
    if said["schema"] != SCHEMA:
        remedy = "nothing was changed; use that version or another directory"
        raise InputError(f"{directory / NAME}: {_written_by(said)}; {remedy}")


def mend(directory: Path) -> bool:
    """Writes a damaged marker again where there are whole results; says whether that was needed."""
    try:
        _read(directory)
        return False
    except ValueError:
        if not _has_results(directory):
            return False
    marker = directory / NAME
    # In place, since other processes' locks are on this file.
    with marker.open("r+", encoding="utf-8") as file:
        file.truncate(0)
        file.write(_text())
    flush(marker)
    return True


def _read(directory: Path) -> dict[str, Any]:
    """What a marker says.

    Raises:
        OSError: there is none that can be read.
        ValueError: it is damaged.
    """
    try:
        said: dict[str, Any] = json.loads((directory / NAME).read_text(encoding="utf-8"))
        if type(said["schema"]) is not int:
            raise ValueError("a schema is a number")
        # What a marker of another schema holds besides is not known.
        if said["schema"] == SCHEMA and not isinstance(said["digest"], str):
            raise ValueError("a digest is a text")
    except (KeyError, TypeError) as error:
        raise ValueError(f"lacks {error}") from None
    return said


def _has_results(directory: Path) -> bool:
    """Whether files of a directory are this schema's results by themselves: its frames, or if it has none its journal."""
    said = seal.read(directory / "runs.parquet")
    if said is not None:
        return said.schema == SCHEMA
    try:
        with (directory / "journal.sqlite").open("rb") as journal:
            # Where SQLite keeps what a file's application is: https://sqlite.org/fileformat2.html#database_header
            return int.from_bytes(journal.read(72)[68:], "big") == APPLICATION
    except OSError:
        return False


def _text() -> str:
    return json.dumps({"schema": SCHEMA, "engine": _engine.version(), "digest": _engine.digest()}) + "\n"


def _written_by(said: dict[str, object]) -> str:
    """Which version reads results of another schema, as far as the marker says it."""
    build = f" by Sojourn {said['engine']} (engine {str(said.get('digest', 'unknown'))[:8]})" if "engine" in said else ""
    return f"results of schema {said['schema']}{build}, but this version reads schema {SCHEMA}"
