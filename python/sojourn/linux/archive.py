"""Archives in the format "newc" of cpio, which kernels unpack as their first file system.

The format is that of Documentation/driver-api/early-userspace/buffer-format.rst in Linux. The same entries give the same bytes.
"""

import stat
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A file, a folder, a link or a device."""

    path: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)


def directory(path: str) -> Entry:
    """A folder."""
    return Entry(path, stat.S_IFDIR | 0o755)


def file(path: str, content: bytes) -> Entry:
    """A file that can be executed."""
    return Entry(path, stat.S_IFREG | 0o755, content)


def link(path: str, target: str) -> Entry:
    """A symbolic link."""
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def device(path: str, major: int, minor: int) -> Entry:
    """A character device."""
    return Entry(path, stat.S_IFCHR | 0o600, b"", (major, minor))


def archive(entries: Iterable[Entry]) -> bytes:
    """The archive of some entries; a folder comes before what is in it."""
    parts = [_encoded(number, entry) for number, entry in enumerate(entries, start=1)]
    return b"".join([*parts, _encoded(0, Entry("TRAILER!!!", 0))])


def _encoded(number: int, entry: Entry) -> bytes:
    name = entry.path.encode() + b"\0"
    major, minor = entry.device
    fields = (number, entry.mode, 0, 0, 1, 0, len(entry.content), 0, 0, major, minor, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + name) + _padded(entry.content)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
