"""The four Parquet files of a store, and how it is known that they belong together.

Each carries the same digest of the keys of all its store's runs, so that files of different times, or of another store, are found
out.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sojourn.results import NAMES
from sojourn.store.marker import SCHEMA

#: The key of the files' own metadata under which Sojourn's are.
METADATA = "sojourn"

#: Rows of a row group: of runs fewer, since a specification takes some kilobytes.
GROUP_ROWS = {"runs": 4_096, "flows": 65_536, "queues": 65_536, "series": 65_536}

#: Columns of long text that nobody looks for by value; they need no least and greatest value in the files' metadata.
_TEXTS = {"request", "specification"}


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


def axes(file: Path) -> list[str]:
    """The axes among the columns of a file, which are between the key and the seed."""
    columns = list(pl.read_parquet_schema(file))
    return columns[1 : columns.index("seed")]


class Digest:
    """A digest of keys, whatever their order: how many they are, and the exclusive or of their hashes."""

    def __init__(self) -> None:
        self._count, self._mixed = 0, 0

    def add(self, keys: pl.Series) -> None:
        """Adds some keys."""
        for key in keys:
            self._mixed ^= int.from_bytes(hashlib.blake2b(key.encode(), digest_size=16).digest(), "big")
        self._count += len(keys)

    def __str__(self) -> str:
        return f"{self._count}-{self._mixed:032x}"


class Writer:
    """A file that is written piece by piece, in row groups that do not depend on the pieces.

    Args:
        file: the file.
        name: the frame whose rows it holds.
        schema: the columns of that frame.
    """

    def __init__(self, file: Path, name: str, schema: pl.Schema) -> None:
        # Loaded here, because commands that keep nothing should not wait for it.
        from pyarrow import parquet

        self._rows, self._schema = GROUP_ROWS[name], schema.to_frame().to_arrow().schema
        self._pieces: list[pl.DataFrame] = []
        self._waiting = 0
        self._writer = parquet.ParquetWriter(
            file, self._schema, compression="zstd", write_statistics=[column for column in schema if column not in _TEXTS]
        )

    def write(self, piece: pl.DataFrame) -> None:
        """Adds rows."""
        self._pieces.append(piece)
        self._waiting += piece.height
        if self._waiting < self._rows:
            return
        rows = pl.concat(self._pieces)
        whole = rows.height // self._rows * self._rows
        for start in range(0, whole, self._rows):
            self._write_group(rows[start : start + self._rows])
        self._pieces, self._waiting = [rows[whole:].rechunk()], rows.height - whole

    def close(self, digest: str) -> None:
        """Writes what is left, and the digest."""
        if self._waiting:
            self._write_group(pl.concat(self._pieces))
        self._writer.add_key_value_metadata({METADATA: metadata(digest)})
        self._writer.close()

    def abandon(self) -> None:
        """Closes the file, whole or not."""
        self._writer.close()

    def _write_group(self, rows: pl.DataFrame) -> None:
        # In one piece: the bytes of a file would show in how many its rows came.
        self._writer.write_table(rows.rechunk().to_arrow().cast(self._schema), row_group_size=self._rows)


def pieces(file: Path, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    """The rows of a file, some thousands at a time, with the columns of a schema; what the file does not have is null."""
    from pyarrow import parquet

    with parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False) as opened:
        there = set(opened.schema_arrow.names)
        missing = [pl.lit(None, kind).alias(column) for column, kind in schema.items() if column not in there]
        for batch in opened.iter_batches(batch_size=4096, columns=[column for column in schema if column in there]):
            rows = pl.DataFrame(batch).with_columns(missing).select(list(schema))
            yield rows.cast(schema)
