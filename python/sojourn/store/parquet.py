"""The Parquet files of a store, and how it is known that they belong together and are whole.

Each carries the same digest of the keys of all its store's runs, so that files of different times, or of another store, are found
out, and a seal (``seal.py``), so that a changed bit is.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sojourn.analysis.frames import NAMES, metrics_of
from sojourn.store import seal
from sojourn.store.marker import SCHEMA

if TYPE_CHECKING:
    import pyarrow

#: The key of the files' own metadata under which Sojourn's are.
METADATA = "sojourn"

#: Rows of a row group: of runs fewer, since a specification takes some kilobytes.
GROUP_ROWS = {"runs": 4_096, "groups": 16_384, "flows": 16_384, "queues": 16_384, "transfers": 65_536, "series": 65_536}

#: Rows that are read at once, and bytes of a column's file that are.
PIECE_ROWS, BUFFER = 4_096, 1 << 20

#: Columns of long text that nobody looks for by value; they need no least and greatest value in the files' metadata.
_TEXTS = {"request", "specification"}


def path(directory: Path, name: str) -> Path:
    """The file of one frame."""
    return directory / f"{name}.parquet"


def paths(directory: Path) -> list[Path]:
    """The files of all frames, there or not."""
    return [path(directory, name) for name in NAMES]


def metadata(digest: str) -> str:
    """What files carry under ``METADATA`` until they are sealed."""
    return seal.told(SCHEMA, digest)


def digest(file: Path) -> str | None:
    """The digest in a file; None if the file is incomplete, its footer damaged, or it is of a schema that is not read."""
    said = seal.read(file)
    return None if said is None or said.schema != SCHEMA else said.digest


def scan(file: Path, name: str) -> pl.LazyFrame:
    """The file of a frame, read when it is collected; metrics that it lacks are at its end, null."""
    frame = pl.scan_parquet(file)
    return frame.with_columns(pl.lit(None, pl.Float64()).alias(metric) for metric in lacking(frame.collect_schema(), name))


def lacking(columns: Iterable[str], name: str) -> list[str]:
    """The metrics that a frame has in this version and that are not among these columns: those of the version that wrote them."""
    there = set(columns)
    return [metric for metric in metrics_of(name) if metric not in there]


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

        self._file = file
        self._rows = GROUP_ROWS[name]
        self._schema = schema.to_frame().to_arrow(compat_level=pl.CompatLevel.oldest()).schema
        self._pieces: list[pyarrow.Buffer] = []
        self._waiting = 0
        self._writer = parquet.ParquetWriter(
            file, self._schema, compression="zstd", write_statistics=[column for column in schema if column not in _TEXTS]
        )

    def write(self, piece: pl.DataFrame) -> None:
        """Adds rows."""
        # As a copy: the columns of a frame may refer to the whole records that they were read from.
        rows = piece.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()).cast(self._schema)
        while rows.num_rows:
            part = rows.slice(0, self._rows - self._waiting)
            rows = rows.slice(part.num_rows)
            self._pieces.append(_packed(part))
            self._waiting += part.num_rows
            if self._waiting == self._rows:
                self._write_group()

    def close(self, digest: str) -> None:
        """Writes what is left and the digest, and seals the file."""
        if self._waiting:
            self._write_group()
        self._writer.add_key_value_metadata({METADATA: metadata(digest)})
        self._writer.close()
        seal.seal(self._file)

    def abandon(self) -> None:
        """Closes the file, whole or not."""
        self._writer.close()

    def _write_group(self) -> None:
        import pyarrow

        # In one piece: the bytes of a file would show in how many its rows came.
        rows = pyarrow.concat_tables(map(_unpacked, self._pieces)).combine_chunks()
        self._pieces, self._waiting = [], 0
        self._writer.write_table(rows, row_group_size=self._rows)
        del rows
        # Otherwise the allocator's free memory grows with the number of groups.
        pyarrow.default_memory_pool().release_unused()


def _packed(rows: "pyarrow.Table") -> "pyarrow.Buffer":
    """Rows that wait for their group to be full, in little memory; those of all files would be 40 MB."""
    from pyarrow import BufferOutputStream, ipc

    packed = BufferOutputStream()
    with ipc.new_stream(packed, rows.schema, options=ipc.IpcWriteOptions(compression="zstd", use_threads=False)) as stream:
        stream.write_table(rows)
    return packed.getvalue()


def _unpacked(packed: "pyarrow.Buffer") -> "pyarrow.Table":
    from pyarrow import ipc

    with ipc.open_stream(packed, options=ipc.IpcReadOptions(use_threads=False)) as stream:
        return stream.read_all()


def pieces(file: Path, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    """The rows of a file, some thousands at a time, with the columns of a schema; what the file lacks is null."""
    from pyarrow import parquet

    with parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False) as opened:
        there = [column for column in opened.schema_arrow.names if column in schema]
        for batch in opened.iter_batches(batch_size=PIECE_ROWS, columns=there):
            yield aligned(pl.DataFrame(batch), schema)


def aligned(rows: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Rows with the columns of a schema; what they do not have is null."""
    missing = [pl.lit(None, kind).alias(column) for column, kind in schema.items() if column not in rows.columns]
    return rows.with_columns(missing).select(list(schema)).cast(schema)
