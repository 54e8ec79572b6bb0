"""What programs read of files that go with a scenario, as digests: part of what their runs depend on."""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from sojourn import names

#: The most that is read of a folder.
MOST_BYTES = 4 << 30

#: Files of text up to this size are searched for the names of others.
_MOST_TEXT = 1 << 20

#: Words of a command that stand for all of the folder, which programs see as /scenario.
_WHOLE = frozenset({".", "./", "/scenario", "/scenario/"})

#: Modules of Python, which are named without their endings.
_MODULES = re.compile(rb"(?:^|[\s;'\"])(?:import|from|-m)\s+([\w.]+(?:\s*,\s*[\w.]+)*)", re.MULTILINE)

#: A file as it is: who has seen its content need not read it again.
_State = tuple[int, ...]


def of_file(path: Path) -> str:
    """The SHA-256 of a file."""
    return _digest(str(path), _state(path.stat()))


def of_folder(folder: Path) -> str:
    """A digest of all that is in a folder: names, contents, and what may be executed.

    Raises:
        ValueError: it has more than ``MOST_BYTES``.
    """
    return _together(_Reading(follows=False).inside(folder, ""))


def of_named(folder: Path, texts: Iterable[str]) -> str:
    """The same of what texts name in a folder, of what those files name that are text, and so on.

    A folder that is named counts with all that is in it, except for folders that are hidden, results, and what Python compiles.

    Raises:
        ValueError: it has more than ``MOST_BYTES``.
    """
    try:
        there = {entry.name: Path(entry.path) for entry in os.scandir(folder)}
    except OSError:
        there = {}
    known = tuple(there)
    given = [text.encode() for text in texts]
    if any(word in _WHOLE for text in texts for word in text.split()):
        waiting = {name for name, path in there.items() if _counts(path)}
    else:
        waiting = {name for text in given for name in _named(text, known)}
    reading = _Reading(follows=True)
    counted: dict[str, list[tuple[str, str]]] = {}
    while waiting:
        name = waiting.pop()
        counted[name] = list(reading.of(there[name], name))
        waiting |= {other for file in reading.files() for other in _named_in(*file, known)} - counted.keys()
    return _together(row for name in sorted(counted) for row in counted[name])


class _Reading:
    """Reads files: what is there, by paths below the folder, and how much.

    Args:
        follows: whether a link to a file counts as what it leads to, too.
    """

    def __init__(self, *, follows: bool) -> None:
        self._follows = follows
        self._bytes = 0
        self._files: list[tuple[str, _State]] = []

    def files(self) -> list[tuple[str, _State]]:
        """The files that were read since this was asked last."""
        read, self._files = self._files, []
        return read

    def inside(self, folder: Path, name: str) -> Iterator[tuple[str, str]]:
        """What is in a folder."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            yield name, "cannot be read"
            return
        for entry in entries:
            path = Path(entry.path)
            if not self._follows or _counts(path):
                yield from self.of(path, f"{name}/{entry.name}" if name else entry.name)

    def of(self, path: Path, name: str) -> Iterator[tuple[str, str]]:
        """A file, or a folder with what is in it."""
        about = path.lstat()
        if stat.S_ISLNK(about.st_mode):
            yield name, f"link {path.readlink()}"
            try:
                about = path.stat()
            except OSError:
                return
            # Links to folders may lead around in a circle: below a folder that counts, none is followed.
            if not self._follows or ("/" in name and stat.S_ISDIR(about.st_mode)):
                return
        if stat.S_ISDIR(about.st_mode):
            yield name, "folder"
            yield from self.inside(path, name)
        elif stat.S_ISREG(about.st_mode):
            yield name, self._content(path, about, name)
        else:
            yield name, f"of kind {stat.S_IFMT(about.st_mode):o}"

    def _content(self, path: Path, about: os.stat_result, name: str) -> str:
        self._bytes += about.st_size
        if self._bytes > MOST_BYTES:
            raise ValueError(f'more than {MOST_BYTES >> 30} GiB with "{name}"')
        self._files.append((str(path), _state(about)))
        try:
            digest = _digest(str(path), _state(about))
        except OSError:
            return "cannot be read"
        return f"{'program' if about.st_mode & 0o111 else 'file'} {digest}"


def _together(rows: Iterable[tuple[str, str]]) -> str:
    found = hashlib.sha256()
    for row in rows:
        for part in row:
            found.update(os.fsencode(part) + b"\0")
    return found.hexdigest()


def _counts(path: Path) -> bool:
    """Whether something counts that is in a folder that does."""
    if not stat.S_ISDIR(path.lstat().st_mode):
        return True
    return not path.name.startswith(".") and path.name != "__pycache__" and not _has_results(path)


def _has_results(folder: Path) -> bool:
    try:
        return (folder / names.MARKER).exists()
    except OSError:  # it may not be entered
        return False


def _named(text: bytes, known: Iterable[str]) -> set[str]:
    """Those of some names that stand in a text: a module of Python without its ending, too."""
    modules = {word.decode() for found in _MODULES.findall(text) for word in re.findall(rb"\w+", found)}
    found = {name for name in known if name.removesuffix(".py") in modules}
    for name in known:
        encoded = os.fsencode(name)
        if encoded in text and re.search(rb"(?<![\w.-])" + re.escape(encoded) + rb"(?![\w-]|\.\w)", text):
            found.add(name)
    return found


@lru_cache(1 << 16)
def _named_in(path: str, state: _State, known: tuple[str, ...]) -> frozenset[str]:
    _, size, *_ = state
    if size > _MOST_TEXT:
        return frozenset()
    try:
        text = Path(path).read_bytes()
    except OSError:
        return frozenset()
    return frozenset() if b"\0" in text else frozenset(_named(text, known))


@lru_cache(1 << 16)
def _digest(path: str, _as_it_is: _State) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _state(about: os.stat_result) -> _State:
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
