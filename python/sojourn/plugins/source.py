"""The source of a plugin: the user's file, and in C those that it includes from beside it.

The text travels with the run, so that its result says what made it and other machines can make it too. A shared library stays
where it is: the run has its digest, and the library is kept in the user's cache under it.
"""

import hashlib
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sojourn import names

#: Languages by the ending of a file's name.
LANGUAGES = {".py": "python", ".c": "c", ".so": "library"}

#: The language of an unmodified congestion control module of Linux, which is in C too.
LINUX = "linux"

#: The language of an agent (``sojourn.scenario.agents``), which the engine's crate for controllers that learn carries out.
AGENT = "agent"

#: The keys of a scenario that name the file of an algorithm: the user's own, a module of Linux, a policy, an episode's actions.
NAMING_FILES = ("file", "linux", "policy", "actions")

#: The ending of a file beside a module of Linux that says what the module shows of its inner state.
SHOWS = ".shows.c"

#: A file that C includes from beside the file itself.
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)

#: The most that a plugin's text may have, in bytes: each run's specification has it.
LARGEST = 1 << 20


@dataclass(frozen=True)
class Source:
    """A user's file as it was read."""

    #: The file's name, without its folder.
    file: str
    #: One of ``LANGUAGES``, or ``LINUX``.
    language: str
    #: SHA-256 of the contents.
    digest: str
    #: Texts by name; none of a library.
    files: dict[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.file, self.digest))

    def as_json(self) -> dict[str, Any]:
        """The source as a run's specification has it."""
        return asdict(self)


def cache() -> Path:
    """The folder for what is compiled, which is there afterwards."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "sojourn" / "plugins"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def language_of(path: Path) -> str | None:
    """The language of a file by its name; none if it is no plugin's."""
    return LANGUAGES.get(path.suffix)


def is_linux(path: Path) -> bool:
    """Whether a file in C is a module of Linux: it registers a congestion control there."""
    return path.suffix == ".c" and path.is_file() and "tcp_register_congestion_control" in path.read_text("utf-8", "replace")


def shows_of(module: str) -> str:
    """What the file beside a module of Linux is called that says what this shows: ``tcp_mine.shows.c``."""
    return Path(module).stem + SHOWS


def read(path: Path, as_linux: bool = False) -> Source:
    """Reads a plugin's file; ``as_linux`` says that it is a module of Linux."""
    language = language_of(path)
    if as_linux:
        if language != "c":
            raise ValueError(f'"{path.name}" is not a module of Linux (allowed: .c)')
        files = {path.name: _text(path)}
        _gather(path.parent, path.name, files, with_others=True)
        shows = path.with_name(shows_of(path.name))
        if shows.is_file():
            files[shows.name] = _text(shows)
            _gather(path.parent, shows.name, files)
        return Source(path.name, LINUX, _digest(files), files)
    if language is None:
        allowed = ", ".join(LANGUAGES)
        raise ValueError(f'"{path.name}" is not a file of an algorithm (allowed: {allowed})')
    if language == "library":
        content = _bytes(path)
        digest = hashlib.sha256(content).hexdigest()
        kept = library(digest)
        if not kept.exists():
            # Whole or not at all: others may read it meanwhile.
            partial = kept.with_suffix(f".{os.getpid()}")
            partial.write_bytes(content)
            partial.replace(kept)
        return Source(path.name, language, digest)
    files = {path.name: _text(path)}
    if language == "c":
        _gather(path.parent, path.name, files)
    return Source(path.name, language, _digest(files), files)


def of_json(data: dict[str, Any]) -> Source:
    """The source that a run's specification has."""
    return Source(data["file"], data["language"], data["digest"], data["files"])


def library(digest: str) -> Path:
    """Where a shared library of this digest is kept."""
    return cache() / f"{digest}.so"


def _gather(folder: Path, name: str, files: dict[str, str], with_others: bool = False) -> None:
    """Adds the files that a file in C includes from beside it; what is not there is the compiler's to find or miss.

    With ``with_others`` also the file that a header belongs to: ``tcp_yeah.c`` calls functions of ``tcp_vegas.c``.
    """
    for included in INCLUDE.findall(files[name]):
        # Only what is beside the file travels; a path that leads elsewhere is left to the compiler.
        if included not in files and names.is_plain_file(included) and (folder / included).is_file():
            files[included] = _text(folder / included)
            _gather(folder, included, files, with_others)
            other = str(Path(included).with_suffix(".c"))
            if with_others and other not in files and (folder / other).is_file():
                files[other] = _text(folder / other)
                _gather(folder, other, files, with_others)


def _digest(files: dict[str, str]) -> str:
    hasher = hashlib.sha256()
    for name, text in sorted(files.items()):
        for part in (name.encode(), text.encode()):
            hasher.update(len(part).to_bytes(8, "little"))
            hasher.update(part)
    return hasher.hexdigest()


def _text(path: Path) -> str:
    content = _bytes(path)
    if len(content) > LARGEST:
        raise ValueError(f'"{path}": {len(content):,} bytes; an algorithm may have {LARGEST:,}')
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f'"{path}": not UTF-8 (byte {error.start})') from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f'"{path}": {error.strerror}') from None
