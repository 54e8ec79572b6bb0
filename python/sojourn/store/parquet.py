"""The Parquet files of a store, and how it is known that they belong together.

Each carries the same digest of the keys of all its store's runs, so that files of different times, or of another store, are found
out.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from sojourn.results import NAMES, metrics_of
from sojourn.store.marker import SCHEMA

#: The key of the files' own metadata under which Sojourn's are.
METADATA = "sojourn"


def path(directory: Path, name: str) -> Path:
    """The file of one frame."""
    return directory / f"{name}.parquet"


def paths(directory: Path) -> list[Path]:
    """The files of all frames, there or not."""
    return [path(directory, name) for name in NAMES]


def metadata(digest: str) -> str:
    """What files carry under ``METADATA``."""
    return json.dumps({"schema": SCHEMA, "digest": digest})


def digest(file: Path) -> str | None:
    """The digest that a file carries; none if it is no whole file of a store of this schema."""
    try:
        told = json.loads(pl.read_parquet_metadata(file)[METADATA])
        return str(told["digest"]) if told["schema"] == SCHEMA else None
    except (OSError, pl.exceptions.PolarsError, KeyError, ValueError, TypeError):
        return None


def scan(file: Path, name: str) -> pl.LazyFrame:
    """The file of a frame, read when it is collected; metrics that came after it are null columns at its end."""
    frame = pl.scan_parquet(file)
    return frame.with_columns(pl.lit(None, pl.Float64()).alias(metric) for metric in lacking(frame.collect_schema(), name))


def lacking(columns: Iterable[str], name: str) -> list[str]:
    """The metrics that a frame has in this version, and that these columns are without."""
    there = set(columns)
    return [metric for metric in metrics_of(name) if metric not in there]


def is_whole(file: Path) -> bool:
    """Whether all of a file can be read; its columns are read one by one, since all together may be large."""
    try:
        for column in pl.read_parquet_schema(file):
            pl.read_parquet(file, columns=[column])
    except (OSError, pl.exceptions.PolarsError):
        return False
    return True


def axes(file: Path) -> list[str]:
    """The axes among the columns of a file, which are between the key and the seed."""
    columns = list(pl.read_parquet_schema(file))
    return columns[1 : columns.index("seed")]
