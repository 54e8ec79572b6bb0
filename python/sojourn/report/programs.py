"""What became of programs: how each ended and what it wrote, of the first seed of each cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.report.contents import Cell, Contents
from sojourn.store import outputs

#: Programs that a page has at most, and characters of what each wrote: of more the last.
MOST_PROGRAMS, MOST_WRITTEN = 200, 4000


@dataclass(frozen=True)
class Written:
    """What a program wrote to one stream."""

    stream: str
    text: str
    #: The file that has all of it, if the page has not.
    file: Path | None


@dataclass(frozen=True)
class Ended:
    """A program and its end."""

    #: What tells its cell from the others, and the seed.
    run: str
    name: str
    host: str
    command: str
    start: str
    end: str
    how: str
    written: Sequence[Written]
    #: The folder of the files that are kept, and their number.
    folder: Path | None
    files_kept: int


@dataclass(frozen=True)
class Programs:
    """The programs that a page shows, of all that there are in the runs of first seeds."""

    shown: Sequence[Ended]
    count: int


def programs(contents: Contents) -> Programs:
    """The programs of the first run of each cell."""
    cells = {cell.first_key: cell for cell in contents.cells}
    rows = contents.result.scan("programs").filter(pl.col("key").is_in(list(cells)))
    count = int(rows.select(pl.len()).collect().item())
    places = {key: place for place, key in enumerate(cells)}
    order = pl.col("key").replace_strict(places, default=None, return_dtype=pl.Int64) if places else pl.col("key")
    first = rows.sort(order, "program").head(MOST_PROGRAMS).collect()
    return Programs([_ended(contents, cells[row["key"]], row) for row in first.iter_rows(named=True)], count)


def how(program: dict[str, Any]) -> str:
    """How a program ended, in words."""
    if program["stopped"]:
        return "stopped"
    return program["signal"] or f"status {program['status']}"


def _ended(contents: Contents, cell: Cell, row: dict[str, Any]) -> Ended:
    folder = outputs.of_program(contents.directory, row["key"], row["program"])
    return Ended(
        run=f"{contents.told(cell.axes)}, seed {cell.seeds[0]}",
        name=row["name"],
        host=row["host"],
        command=row["command"],
        start=f"{row['start']:.3f}",
        end="-" if row["end"] is None else f"{row['end']:.3f}",
        how=how(row),
        written=[_written(stream, row[stream], folder) for stream in ("output", "errors") if row[stream].strip()],
        folder=folder / outputs.KEPT if folder is not None and row["files_kept"] else None,
        files_kept=row["files_kept"],
    )


def _written(stream: str, text: str, folder: Path | None) -> Written:
    return Written(stream, text[-MOST_WRITTEN:], folder / stream if folder is not None and len(text) > MOST_WRITTEN else None)
