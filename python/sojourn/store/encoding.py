"""A record as bytes: its labels, summary, groups and what is few rows as JSON, its frames as Arrow streams, all compressed."""

import io
import json
import struct
import zlib
from typing import Any

import polars as pl

from sojourn.analysis.records import Record, Rows
from sojourn.backends.result import FRAMES

#: The frames of a record, without rows.
_FRAMES = {name: columns.to_frame() for name, columns in FRAMES.items()}

#: Bytes of the JSON and of each frame; a frame without rows takes none.
_HEAD = struct.Struct(f"<{1 + len(_FRAMES)}Q")

#: From how many bytes on a frame is compressed as Arrow does it, column by column, and all of it no more: which is fast, but of
#: little use to small frames, of which most is names.
_LARGE = 100_000


def encode(record: Record) -> bytes:
    """The record as bytes."""
    every: dict[str, Rows] = {name: getattr(record, name) for name in _FRAMES}
    few = {name: rows for name, rows in every.items() if isinstance(rows, list)}
    told = [record.key, dict(record.axes), record.seed, dict(record.summary), list(record.groups), few]
    frames = [frame for frame in every.values() if isinstance(frame, pl.DataFrame)]
    large = sum(frame.estimated_size() for frame in frames) >= _LARGE
    streams = (b"" if isinstance(rows, list) else _stream(rows, large) for rows in every.values())
    parts = [json.dumps(told).encode(), *streams]
    return zlib.compress(_HEAD.pack(*map(len, parts)) + b"".join(parts), 0 if large else 1)


def decode(encoded: bytes) -> Record:
    """The record that the bytes stand for.

    Raises:
        ValueError: they stand for none.
    """
    try:
        everything = memoryview(zlib.decompress(encoded))
        lengths, body = _HEAD.unpack_from(everything), everything[_HEAD.size :]
        if sum(lengths) != len(body):
            raise ValueError(f"not a record: {len(body)} bytes instead of {sum(lengths)}")
        parts: list[memoryview] = []
        for length in lengths:
            parts.append(body[:length])
            body = body[length:]
        # Records of earlier builds have no rows here.
        key, axes, seed, summary, groups, *few = json.loads(bytes(parts[0]))
        rows = {name: list(map(tuple, listed)) for each in few for name, listed in each.items()}
        frames: dict[str, Any] = {
            name: rows[name] if name in rows else _frame(part, empty)
            for (name, empty), part in zip(_FRAMES.items(), parts[1:], strict=True)
        }
    except (zlib.error, struct.error, OSError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"not a record: {error}") from None
    return Record(key, axes, seed, summary, groups, **frames)


def _stream(frame: pl.DataFrame, large: bool) -> bytes:
    if not frame.height:
        return b""
    stream = io.BytesIO()
    frame.write_ipc_stream(stream, compression="zstd" if large else "uncompressed")
    return stream.getvalue()


def _frame(stream: memoryview, empty: pl.DataFrame) -> pl.DataFrame:
    if not stream:
        return empty
    # Of a bare BytesIO polars 2.1 keeps an object for good, which comes to 70 MB for a million runs.
    return pl.read_ipc_stream(io.BufferedReader(io.BytesIO(stream)))
