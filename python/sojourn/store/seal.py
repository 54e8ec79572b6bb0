"""The seal of a Parquet file: checksums in its own metadata, by which a changed bit is noticed before anything parses the file.

One is of the rows, which is all before the footer, the other of the footer and of what follows it, so that opening a store need
not read the rows. Each is a CRC-32, which notices every error of up to 32 bits in a row and every one of two bits within 500 MB.
The checksums of Parquet's pages would not do: polars and DuckDB ignore them, and they leave out pages' headers and the footer.

The seal is put in place when the file is whole. In the metadata are zeros until then, and the footer's checksum is of a footer
with zeros in its own place, as a TCP header's is.

An ``OSError`` says that a file cannot be read or written, for no fault of its own.
"""

import errno
import json
import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

#: A checksum that is still to come.
BLANK = "0" * 8

#: What a file of a store says of itself, as ``told`` writes it.
_TOLD = re.compile(rb'\{"schema": \d+, "digest": "[^"]*", "rows": "(?P<rows>[0-9a-f]{8})", "footer": "(?P<footer>[0-9a-f]{8})"\}')

#: The end of a Parquet file: how long its footer is, and the magic number.
#: https://parquet.apache.org/docs/file-format/
_END, _MAGIC = struct.Struct("<I4s"), b"PAR1"

#: Bytes that are read at once.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Told:
    """What a file says of itself.

    Attributes:
        schema: the version of what a store's files hold.
        digest: the digest of its store's keys.
        rows: the checksum of its rows.
        end: where its rows end and its footer begins.
    """

    schema: int
    digest: str
    rows: int
    end: int


def told(schema: int, digest: str) -> str:
    """What a file is to say of itself, with room for the checksums."""
    return json.dumps({"schema": schema, "digest": digest, "rows": BLANK, "footer": BLANK})


def seal(file: Path) -> None:
    """Puts the checksums into a file that has room for them."""
    with file.open("r+b") as opened:
        begins, footer = _footer(opened)
        found = _find(footer)
        footer[found.start("rows") : found.end("rows")] = b"%08x" % _checksum(opened, begins)
        footer[found.start("footer") : found.end("footer")] = b"%08x" % zlib.crc32(footer)
        opened.seek(begins)
        opened.write(footer)


def read(file: Path) -> Told | None:
    """What a file says of itself; nothing if it is no whole file of a store, or its footer is damaged."""
    try:
        with _opened(file) as opened:
            begins, footer = _footer(opened)
        found = _find(footer)
        said, checksum = json.loads(found[0]), int(found["footer"], 16)
    except ValueError:
        return None
    footer[found.start("footer") : found.end("footer")] = BLANK.encode()
    if zlib.crc32(footer) != checksum:
        return None
    return Told(said["schema"], said["digest"], int(said["rows"], 16), begins)


def is_broken(file: Path) -> bool:
    """Whether a file is not as it was sealed."""
    said = read(file)
    if said is None:
        return True
    try:
        with _opened(file) as opened:
            return _checksum(opened, said.end) != said.rows
    except ValueError:
        return True


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """A file that is read.

    Raises:
        ValueError: it is none, or the device cannot read it.
    """
    try:
        with file.open("rb") as opened:
            yield opened
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EISDIR, errno.EIO):
            raise ValueError(error.strerror) from None
        raise


def _footer(file: BinaryIO) -> tuple[int, bytearray]:
    """Where the footer of a file begins, and its bytes to the end of the file.

    Raises:
        ValueError: it has none.
    """
    size = file.seek(0, os.SEEK_END)
    if size < len(_MAGIC) + _END.size:
        raise ValueError("too short")
    file.seek(size - _END.size)
    length, magic = _END.unpack(file.read(_END.size))
    begins = size - _END.size - length
    if magic != _MAGIC or begins < len(_MAGIC):
        raise ValueError("no Parquet file")
    file.seek(begins)
    return begins, bytearray(file.read())


def _find(footer: bytearray) -> re.Match[bytes]:
    """Where a footer has what the file says of itself: at its end, after values of columns that may look alike.

    Raises:
        ValueError: nowhere.
    """
    found = list(_TOLD.finditer(footer))
    if not found:
        raise ValueError("no file of a store")
    return found[-1]


def _checksum(file: BinaryIO, size: int) -> int:
    """The checksum of the first ``size`` bytes of a file, or of as many as there are."""
    file.seek(0)
    checksum, block = 0, memoryview(bytearray(_BLOCK))
    while size > 0 and (count := file.readinto(block[:size])):  # type: ignore[attr-defined]
        checksum = zlib.crc32(block[:count], checksum)
        size -= count
    return checksum
