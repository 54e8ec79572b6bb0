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


#: The columns of the file.
SCHEMA: dict[str, type[pl.String | pl.Float64]] = {
    field.name: pl.String if field.type is str else pl.Float64 for field in fields(Recorded)
}


def read(path: Path) -> list[Recorded]:
    """All lines of the file; none if there is no such file yet."""
    if not path.exists():
        return []
    return [Recorded(**line) for line in pl.read_csv(path, schema=SCHEMA).iter_rows(named=True)]


def append(path: Path, added: Sequence[Recorded]) -> None:
    """Adds lines at the end, in place of those of the same commits."""
    commits = {each.commit for each in added}
    lines = [*(each for each in read(path) if each.commit not in commits), *added]
    write_whole(path, pl.DataFrame([asdict(line) for line in lines], schema=SCHEMA).write_csv)


def recorded(rows: Iterable[Row], seconds: float, commit: str, date: str, rustc: str) -> list[Recorded]:
    """The lines of the rows of the part ``instructions``."""
    return [
        Recorded(
            **{"commit": commit, "date": date, "rustc": rustc},
            seconds=seconds,
            cell=str(row["cell"]),
            instructions_a_packet=round(float(row["instructions_a_packet"]), 1),
            steps_a_packet=round(float(row["steps_a_packet"]), 3),
            share_of_bare_loop=round(float(row["share_of_bare_loop"]), 3),
        )
        for row in rows
    ]


def here(path: Path) -> tuple[str, str, str]:
    """The commit that the engine is of, its date, and the compiler that built the engine, for a file in the repository.

    Raises:
        InputError: it is a directory or in no repository, or the sources of the engine are not as the commit has them.
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
    return commit, date, compiler()


def compiler() -> str:
    """The version of rustc that built the engine, as the engine's file has it."""
    found = re.search(rb"rustc version ([\w.-]+)", Path(_engine.__file__).read_bytes())
    return "unknown" if found is None else found[1].decode()


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints."""
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True).stdout
