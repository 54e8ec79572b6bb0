"""The Parquet files of a store, and how it is known that they belong together and are whole.

Each carries the same digest of the keys of all its store's runs, so that files of different times, or of another store, are found
out, and a seal (``seal.py``), so that a changed bit is.
"""

import hashlib
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from sojourn.analysis.frames import EVERY, NAMES, metrics_of
from sojourn.store import seal
from sojourn.store.marker import SCHEMA

#: The key of the files' own metadata under which Sojourn's are.
METADATA = "sojourn"

#: Rows of a row group: of runs fewer, since a specification takes some kilobytes.
GROUP_ROWS = {
    **{"runs": 4_096, "groups": 16_384, "flows": 16_384, "queues": 16_384, "transfers": 65_536, "series": 65_536},
    **{"programs": 256},
}

#: Rows of a piece of a file.
PIECE_ROWS = 4_096


def path(directory: Path, name: str) -> Path:
    """The file of one frame."""
    return directory / f"{name}.parquet"


def paths(directory: Path) -> list[Path]:
    """The files of all frames, there or not; of those that need not be there only if they are."""
    return [file for name in EVERY if name in NAMES or path(directory, name).exists() for file in [path(directory, name)]]


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
    """A file whose rows come piece by piece, and that has row groups which do not depend on the pieces.

    Polars writes a file in one go. Until then the pieces wait compressed in a file without a name in the same folder, which the
    system removes whatever becomes of the process. So they take no memory, and of a store's files one is written at a time.
    """

    def __init__(self, file: Path, name: str, schema: pl.Schema) -> None:
        self._file, self._rows, self._schema = file, GROUP_ROWS[name], schema
        self._waiting = tempfile.TemporaryFile(dir=file.parent)  # noqa: SIM115
        self._lengths: list[int] = []

    def write(self, piece: pl.DataFrame) -> None:
        """Adds rows."""
        if piece.height:
            began = self._waiting.tell()
            piece.write_ipc_stream(self._waiting, compression="zstd")
            self._lengths.append(self._waiting.tell() - began)

    @property
    def is_needed(self) -> bool:
        """Whether there are rows."""
        return bool(self._lengths)

    def close(self, digest: str) -> None:
        """Writes the file with a digest, and seals it."""
        rows = register_io_source(self._read, schema=self._schema, validate_schema=True)
        rows.sink_parquet(self._file, compression="zstd", row_group_size=self._rows, metadata={METADATA: metadata(digest)})
        self._waiting.close()
        seal.seal(self._file)

    def abandon(self) -> None:
        """Forgets rows that are not in the file yet."""
        self._waiting.close()

    def _read(self, *_: object) -> Iterator[pl.DataFrame]:
        """The pieces. Polars could ask for some columns and rows only, but all are written."""
        self._waiting.seek(0)
        for length in self._lengths:
            # Of a bare BytesIO polars 2.1 keeps an object for good.
            yield pl.read_ipc_stream(io.BufferedReader(io.BytesIO(self._waiting.read(length))))


#: Adds rows to a frame.
Write = Callable[[str, Iterable[pl.DataFrame]], None]


@contextmanager
def writing(directory: Path, schemas: Mapping[str, pl.Schema]) -> Iterator[tuple[Write, Digest]]:
    """Writes the files of all frames; gives what adds rows, and the digest of the keys so far."""
    digest = Digest()
    with ExitStack() as stack:
        writers = {name: Writer(path(directory, name), name, columns) for name, columns in schemas.items()}
        for writer in writers.values():
            stack.callback(writer.abandon)

        def write(name: str, pieces: Iterable[pl.DataFrame]) -> None:
            for piece in pieces:
                if name == "runs":
                    digest.add(piece["key"])
                writers[name].write(piece)

        yield write, digest
        for name, writer in writers.items():
            if writer.is_needed or name in NAMES:
                writer.close(str(digest))


def pieces(file: Path, schema: pl.Schema) -> Iterator[pl.DataFrame]:
    """The rows of a file, some thousands at a time, with the columns of a schema; what the file lacks is null."""
    frame = pl.scan_parquet(file)
    rows, group = frame.select(pl.len()).collect().item(), GROUP_ROWS[file.stem]
    there = frame.select(column for column in frame.collect_schema() if column in schema)
    # A row group at a time, because polars decodes all of one to read a part.
    for begin in range(0, rows, group):
        for piece in there.slice(begin, group).collect().iter_slices(PIECE_ROWS):
            yield aligned(piece, schema)


def aligned(rows: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Rows with the columns of a schema; what they do not have is null."""
    missing = [pl.lit(None, kind).alias(column) for column, kind in schema.items() if column not in rows.columns]
    return rows.with_columns(missing).select(list(schema)).cast(schema)
