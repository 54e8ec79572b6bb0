"""What packets of the cells of ``instructions`` cost, commit by commit: a file that the repository keeps.

It has a line for each cell and commit, in the order in which they were added. Counts of two lines can be compared if the
simulated time is the same and the engine was built by the same compiler.
"""

import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import polars as pl

from sojourn import _engine
from sojourn.bench.measurements import Row
from sojourn.errors import InputError
from sojourn.store import write_whole

#: What the engine is built of: a count is that of a commit if these are as it has them.
SOURCES = ("crates", "Cargo.toml", "Cargo.lock")

#: A line of a commit's message that says why more instructions are needed begins so.
BECAUSE = "Instructions: "


@dataclass(frozen=True)
class Recorded:
    """What a cell cost at a commit; ``seconds`` are the simulated seconds of a data-centre cell."""

    commit: str
    date: str
    rustc: str
    seconds: float
    cell: str
    instructions_a_packet: float
    steps_a_packet: float
    share_of_bare_loop: float
    #: Why more instructions are needed than at the commits before; empty if nobody says so.
    why: str


#: The columns of the file.
SCHEMA: dict[str, type[pl.String | pl.Float64]] = {
    field.name: pl.String if field.type is str else pl.Float64 for field in fields(Recorded)
}


def read(path: Path) -> list[Recorded]:
    """All lines of the file; none if there is no such file yet."""
    if not path.exists():
        return []
    return [Recorded(**line) for line in pl.read_csv(path, schema=SCHEMA).fill_null("").iter_rows(named=True)]


def append(path: Path, added: Sequence[Recorded]) -> None:
    """Adds lines at the end, in place of those of the same commits."""
    commits = {each.commit for each in added}
    lines = [*(each for each in read(path) if each.commit not in commits), *added]
    write_whole(path, pl.DataFrame([asdict(line) for line in lines], schema=SCHEMA).write_csv)


@dataclass(frozen=True)
class Commit:
    """What lines have in common: a commit with its date, the compiler of its engine, and what it and those before it say."""

    commit: str
    date: str
    rustc: str
    why: str


def recorded(rows: Iterable[Row], seconds: float, commit: Commit) -> list[Recorded]:
    """The lines of the rows of the part ``instructions``."""
    return [
        Recorded(
            **asdict(commit),
            seconds=seconds,
            cell=str(row["cell"]),
            instructions_a_packet=round(float(row["instructions_a_packet"]), 1),
            steps_a_packet=round(float(row["steps_a_packet"]), 3),
            share_of_bare_loop=round(float(row["share_of_bare_loop"]), 3),
        )
        for row in rows
    ]


def here(path: Path) -> Commit:
    """The commit that the engine is of, for a file in the repository; it says why since the last line of another.

    Raises:
        InputError: the file is a directory or in no repository, or the sources of the engine are not as the commit has them.
    """
    if path.is_dir():
        raise InputError(f"--history {path}: a directory; give a file")
    try:
        commit, date = git(path.parent, "show", "--no-patch", "--abbrev=8", "--format=%h %cs", "HEAD").split()
        root = git(path.parent, "rev-parse", "--show-toplevel").strip()
        changed = git(Path(root), "status", "--porcelain", "--", *SOURCES)
    except (OSError, subprocess.CalledProcessError):
        raise InputError(f"--history {path}: not in a clone of Sojourn's repository, or git is missing") from None
    if changed:
        raise InputError(f"--history {path}: {changed.split()[1]} is not as the commit {commit} has it; commit it first")
    before = [line.commit for line in read(path) if line.commit != commit and is_before(path.parent, line.commit)]
    why = "; ".join(reasons(path.parent, before[-1])) if before else ""
    return Commit(commit, date, compiler(), why)


def is_before(folder: Path, commit: str) -> bool:
    """Whether it is the commit that is checked out, or one that that comes from."""
    asked = ["git", "-C", str(folder), "merge-base", "--is-ancestor", commit, "HEAD"]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


def reasons(folder: Path, commit: str) -> list[str]:
    """What the messages of the commits since then say of instructions."""
    lines = git(folder, "log", "--format=%B", f"{commit}..HEAD").splitlines()
    return [line.removeprefix(BECAUSE) for line in lines if line.startswith(BECAUSE)]


def compiler() -> str:
    """The version of rustc that built the engine, as the engine's file has it."""
    found = re.search(rb"rustc version ([\w.-]+)", Path(_engine.__file__).read_bytes())
    return "unknown" if found is None else found[1].decode()


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints."""
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True).stdout
