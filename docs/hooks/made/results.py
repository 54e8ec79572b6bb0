"""Results of commands that take seconds: made when a page needs them, and kept in ``target/made`` until the code changes."""

import fcntl
import io
import os
import re
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from textwrap import indent
from typing import Any

import sojourn
from sojourn import backends
from sojourn.analysis.frames import EVERY
from sojourn.cli.commands import BAD_INPUT, status
from sojourn.store import query, write_whole

ROOT = Path(__file__).parents[3]

KEPT = ROOT / "target" / "made"

#: What results depend on besides the engine.
SOURCES = (
    "python/sojourn/[!_]*/**/*.py",
    "python/sojourn/*.py",
    "crates/learning/src/**/*.rs",
    "examples/*.*",
    "examples/learning/*.*",
    "examples/notebooks/*",
    "examples/range/*",
    "examples/search/*",
    "studies/*/*.toml",
    "studies/*/published/*",
    "docs/hooks/notebook_pages.py",
)

#: What a query finds.
Rows = list[tuple[Any, ...]]


class CommandFailed(Exception):
    """A command of a page did not end well."""


class Answers(ABC):
    """What can be asked in SQL."""

    @abstractmethod
    def rows(self, sql: str) -> Rows:
        """What a query finds."""

    def row(self, sql: str) -> tuple[Any, ...]:
        """The only row that a query finds."""
        (row,) = self.rows(sql)
        return row

    def value(self, sql: str) -> Any:
        """The only value that a query finds."""
        (value,) = self.row(sql)
        return value


@dataclass(frozen=True)
class Results(Answers):
    """The results that a command leaves, given without ``--out``."""

    command: str
    directory: Path
    printed: str

    def rows(self, sql: str) -> Rows:
        return ask(self.directory, sql)

    def listing(self, directory: str) -> str:
        """What the command prints, as code; ``directory`` is a reader's name for where the results are."""
        return code(re.sub(rf"(?<![\w.-]){re.escape(self.directory.name)}(?=[/\s])", directory, self.printed))

    def plot(self, options: str) -> bytes:
        """A figure as ``sojourn plot DIR`` draws it with some options."""
        folder = self.directory.parent
        with _alone():
            run(["plot", self.directory.name, *shlex.split(options), "--out", "figure.svg"], folder)
            return (folder / "figure.svg").read_bytes()


@cache
def _kept() -> Path:
    """Where results are kept: apart for each state of the code and of the files it is given, since any could change a run."""
    state = sha256(backends.named(backends.DEFAULT).identity.digest.encode())
    for path in sorted(path for place in SOURCES for path in ROOT.glob(place)):
        state.update(path.read_bytes())
    kept = KEPT / state.hexdigest()[:16]
    with _alone():
        for other in KEPT.iterdir():
            if other.is_dir() and other != kept:
                shutil.rmtree(other)
        kept.mkdir(exist_ok=True)
    return kept


@cache
def results(command: str, scenario: str | None = None) -> Results:
    """The results of a command such as ``sojourn run examples/queues.toml --seeds 3``, or of a scenario that a page shows."""
    arguments = _arguments(command)
    # Figures show the commands behind them: these are the words that a reader would write.
    name = Path(arguments[1]).stem if len(arguments) > 1 else f"sojourn-{arguments[0]}"
    folder = _kept() / _digest(f"{command}{scenario or ''}")
    with _alone():
        folder.mkdir(exist_ok=True)
        if scenario is not None:
            (folder / arguments[1]).write_text(scenario, encoding="utf-8")
        if not (folder / "examples").exists():
            (folder / "examples").symlink_to(ROOT / "examples")
        printed = run([*arguments, "--out", name], folder)
    return Results(command, folder / name, printed)


def kept(name: str, make: Callable[[], str]) -> str:
    """A text that takes long to make, by a name of its own: made once for each state of the code.

    Processes that begin at the same time make it each; none sees a part of it.
    """
    path = _kept() / name
    if not path.exists():
        text = make()
        write_whole(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))
    return path.read_text(encoding="utf-8")


@cache
def output(command: str) -> str:
    """What a command prints, as code."""
    return code(run(_arguments(command)))


def refusal(*commands: str) -> str:
    """Commands that bad input ends, each with the line that it gets, as code."""
    said = []
    for command in commands:
        with redirect_stderr(io.StringIO()) as complaint:
            ended = status(_arguments(command))
        if ended != BAD_INPUT:
            raise CommandFailed(f"{command} ends with status {ended}")
        said.append(f"$ {command}\n{complaint.getvalue()}")
    return code("".join(said))


def run(arguments: list[str], folder: Path = ROOT) -> str:
    """Carries out ``sojourn`` with some arguments from a folder; what it prints on a terminal as wide as pages have room."""
    printed = io.StringIO()
    with redirect_stdout(printed), chdir(folder), _columns(110):
        ended = status(arguments)
    if ended:
        raise CommandFailed(f"{shlex.join(['sojourn', *arguments])} ends with status {ended}")
    return printed.getvalue()


def ask(directory: Path, sql: str) -> Rows:
    """What a query finds in the frames of a directory, and in its published cells and claims if there are any."""
    with sojourn.open(directory) as store, query.opened() as database:
        for name in EVERY:
            store.scan(name)  # moves runs that wait in the journal to the files
            if (file := directory / f"{name}.parquet").exists():
                database.read_parquet(str(file)).create_view(name)
        for name in ("cells", "claims"):
            if (file := directory / f"{name}.csv").exists():
                database.read_csv(str(file)).create_view(name)
        return database.sql(sql).fetchall()


def _arguments(command: str) -> list[str]:
    program, *arguments = shlex.split(command)
    if program != "sojourn":
        raise CommandFailed(f"{command}: not a command of sojourn")
    return arguments


def code(text: str) -> str:
    """Text as a block of code."""
    lines = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return f"\n{indent(lines, '    ')}\n"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


@contextmanager
def _columns(number: int) -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(number)
    try:
        yield
    finally:
        del os.environ["COLUMNS"]
        if before is not None:
            os.environ["COLUMNS"] = before


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time makes results."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
