"""A record as bytes: its labels, summary, groups and what is few rows as JSON, its frames as Arrow streams, all compressed."""

import io
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
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

#: Frames that may have millions of rows, and how many of these are in one stream, so that no more need be decoded at once. Series
#: of queues and flows are none of them: they have a column for each measure, and are written measure by measure.
_LONG, ROWS_AT_ONCE = ("transfers", "recorded"), 100_000


class Long:
    """A frame of many rows, of which those of one stream are decoded at a time; for what needs no more of a frame than this."""

    def __init__(self, streams: memoryview, height: int, lengths: Sequence[int], empty: pl.DataFrame) -> None:
        self._streams, self.height, self._lengths, self._empty = streams, height, lengths, empty

    def clear(self) -> pl.DataFrame:
        """The frame without rows."""
        return self._empty

    def iter_slices(self, rows: int) -> Iterator[pl.DataFrame]:
        """The rows, up to so many at a time."""
        begin = 0
        for length in self._lengths:
            yield from _frame(self._streams[begin : begin + length], self._empty).iter_slices(rows)
            begin += length


def encode(record: Record) -> bytes:
    """The record as bytes."""
    every: dict[str, Rows] = {name: getattr(record, name) for name in _FRAMES}
    few = {name: rows for name, rows in every.items() if isinstance(rows, list)}
    told = [record.key, dict(record.axes), record.seed, dict(record.summary), list(record.groups), few]
    frames = [frame for frame in every.values() if isinstance(frame, pl.DataFrame)]
    large = sum(frame.estimated_size() for frame in frames) >= _LARGE
    streams = {name: [] if isinstance(rows, list) else _streams(name, rows, large) for name, rows in every.items()}
    long = {name: [len(every[name]), *map(len, each)] for name, each in streams.items() if len(each) > 1}
    if record.programs:
        lengths = {path: len(content) for path, content in record.files.items()}
        told += [long, {"programs": list(record.programs), "files": lengths}]
    elif long:
        told.append(long)
    parts = [json.dumps(told).encode(), *map(b"".join, streams.values())]
    body = b"".join([*parts, *record.files.values()])
    return zlib.compress(_HEAD.pack(*map(len, parts)) + body, 0 if large else 1)


def decode(encoded: bytes, *, wholly: bool = True) -> Record:
    """The record that the bytes stand for.

    Args:
        encoded: what ``encode`` made of it.
        wholly: all of its rows are decoded; otherwise transfers and what algorithms recorded are ``Long`` if they are many.

    Raises:
        ValueError: they stand for none.
    """
    try:
        everything = memoryview(zlib.decompress(encoded))
        lengths, body = _HEAD.unpack_from(everything), everything[_HEAD.size :]
        if sum(lengths) > len(body):
            raise ValueError(f"not a record: {len(body)} bytes instead of {sum(lengths)}")
        parts: list[memoryview] = []
        for length in lengths:
            parts.append(body[:length])
            body = body[length:]
        # Records of earlier builds have no rows here.
        key, axes, seed, summary, groups, *more = json.loads(bytes(parts[0]))
        few, long, besides = (*more, {}, {}, {})[:3]
        files: dict[str, bytes] = {}
        if (more_bytes := sum(besides.get("files", {}).values())) != len(body):
            raise ValueError(f"not a record: {len(body)} bytes instead of {more_bytes} after its frames")
        for path, length in besides.get("files", {}).items():
            files[path], body = bytes(body[:length]), body[length:]
        frames: dict[str, Any] = {}
        for (name, empty), part in zip(_FRAMES.items(), parts[1:], strict=True):
            if name in few:
                frames[name] = list(map(tuple, few[name]))
            elif name in long:
                height, *lengths = long[name]
                slices = Long(part, height, lengths, empty)
                frames[name] = pl.concat(slices.iter_slices(height)) if wholly else slices
            else:
                frames[name] = _frame(part, empty)
    except (zlib.error, struct.error, OSError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"not a record: {error}") from None
    programs = list(map(tuple, besides.get("programs", ())))
    return Record(key, axes, seed, summary, groups, **frames, programs=programs, files=files)


def _streams(name: str, frame: pl.DataFrame, large: bool) -> list[bytes]:
    if not frame.height:
        return []
    return [_stream(rows, large) for rows in frame.iter_slices(ROWS_AT_ONCE if name in _LONG else frame.height)]


def _stream(frame: pl.DataFrame, large: bool) -> bytes:
    stream = io.BytesIO()
    frame.write_ipc_stream(stream, compression="zstd" if large else "uncompressed")
    return stream.getvalue()


def _frame(stream: memoryview, empty: pl.DataFrame) -> pl.DataFrame:
    if not stream:
        return empty
    # Of a bare BytesIO polars 2.1 keeps an object for good, which comes to 70 MB for a million runs.
    return pl.read_ipc_stream(io.BufferedReader(io.BytesIO(stream)))
