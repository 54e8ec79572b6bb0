"""The directory of an atlas: a store of runs for each landmark, and tables of what they say.

``atlas.parquet``, ``queues.parquet`` and ``ranges.parquet`` are made of the tables of all landmarks, of which each has its own in
``tables``. So several commands can fill one directory, each its landmarks.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.atlas import rows
from sojourn.atlas.pairs import AXES
from sojourn.store import write_whole

#: The whole: verdicts, queues over time, and maps of ranges.
ATLAS, CURVES, RANGES = "atlas.parquet", "queues.parquet", "ranges.parquet"

#: What a check by a kernel adds to a row: who, and its verdict.
CHECKED: Mapping[str, Any] = {
    **dict.fromkeys(("check", "check_state"), pl.String()),
    "check_value": pl.Float64(),
    **dict.fromkeys(("check_held", "check_seeds"), pl.Int64()),
}

_TABLES, _VERDICTS, _CURVES, _CHECK, _RANGES = "tables", "verdicts", "queues", "check", "ranges"


class Folder:
    """The files of an atlas.

    Args:
        path: of the directory, which is made when something is written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def store(self, landmark: str, checked_by: str | None = None) -> Path:
        """Where the runs of a landmark are, or those by which a kernel checks it."""
        return self._path / (landmark if checked_by is None else f"{landmark}-{checked_by.replace(':', '-')}")

    def add(self, landmark: str, found: pl.DataFrame, curves: pl.DataFrame) -> None:
        """Keeps what a landmark says, in place of what is there of the same pairs."""
        self._add(_VERDICTS, landmark, found, list(rows.PLACE))
        self._add(_CURVES, landmark, curves, ["landmark", *AXES])
        self.join()

    def add_check(self, landmark: str, found: pl.DataFrame) -> None:
        """Keeps what a kernel says of some pairs of a landmark: its name and its verdicts."""
        self._add(_CHECK, landmark, found, list(rows.PLACE))
        self.join()

    def add_ranges(self, landmark: str, found: pl.DataFrame) -> None:
        """Keeps maps of a landmark, in place of those that are there of the same pairs and planes."""
        self._add(_RANGES, landmark, found, ["landmark", *AXES, "plane"])
        whole = self._all(_RANGES)
        if whole is not None:
            write_whole(self._path / RANGES, lambda path: whole.write_parquet(path, compression="zstd"))

    def checks(self, landmark: str) -> pl.DataFrame | None:
        """What a kernel has said of a landmark so far."""
        return self._kept(_CHECK, landmark)

    def rows(self, landmark: str) -> pl.DataFrame | None:
        """What the simulator has said of a landmark."""
        return self._kept(_VERDICTS, landmark)

    def ranges(self, landmark: str) -> pl.DataFrame | None:
        """The maps of a landmark so far."""
        return self._kept(_RANGES, landmark)

    def join(self) -> pl.DataFrame:
        """Writes the whole atlas, of all tables that there are, and returns its verdicts."""
        found, checks, curves = (self._all(kind) for kind in (_VERDICTS, _CHECK, _CURVES))
        whole = found if found is not None else pl.DataFrame(schema=rows.ROWS)
        if checks is None:
            checks = pl.DataFrame(schema={**{name: rows.ROWS[name] for name in rows.PLACE}, **CHECKED})
        whole = whole.join(checks, on=rows.PLACE, how="left", maintain_order="left")
        states = whole.select("state", "check_state").iter_rows()
        agrees = pl.Series("agreement", [rows.agreement(here, there) for here, there in states], pl.String())
        whole = whole.with_columns(agrees)
        write_whole(self._path / ATLAS, lambda path: whole.write_parquet(path, compression="zstd"))
        if curves is not None:
            write_whole(self._path / CURVES, lambda path: curves.write_parquet(path, compression="zstd"))
        return whole

    def _all(self, kind: str) -> pl.DataFrame | None:
        tables = [pl.read_parquet(path) for path in sorted((self._path / _TABLES).glob(f"*.{kind}.parquet"))]
        return pl.concat(tables) if tables else None

    def _kept(self, kind: str, landmark: str) -> pl.DataFrame | None:
        path = self._table(kind, landmark)
        return pl.read_parquet(path) if path.is_file() else None

    def _table(self, kind: str, landmark: str) -> Path:
        return self._path / _TABLES / f"{landmark}.{kind}.parquet"

    def _add(self, kind: str, landmark: str, found: pl.DataFrame, place: list[str]) -> None:
        path = self._table(kind, landmark)
        if path.is_file():
            kept = pl.read_parquet(path).join(found.select(place), on=place, how="anti", maintain_order="left")
            found = pl.concat([kept, found])
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda unfinished: found.write_parquet(unfinished, compression="zstd"))
