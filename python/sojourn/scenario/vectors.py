"""Connection vectors of Tmix: what the applications of recorded connections wrote, and when.

The formats are the two of the ns-2 manual, section "Connection Vectors": the original one of Weigle, Adurthi,
Hernández-Campos, Jeffay and Smith, "Tmix: A Tool for Generating Realistic TCP Application Workloads in ns-2", CCR 36(3),
2006, and the alternate one, which says of each wait what it comes after. The first connection of a file says which it is, as
in ns-2. Times are in microseconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from sojourn.scenario.files import MOST_ROWS, read_text
from sojourn.units import PICOSECONDS

MICROSECOND = PICOSECONDS // 1_000_000

#: The greatest number that a line may have: as a time, 31 years.
_MOST = 10**15

#: Lines that say what the network was like: segments, windows, round trip, losses. The scenario has its own.
_OF_NETWORK = ("m", "w", "r", "l")

#: Names of sequential and of concurrent connections.
_ORIGINAL, _ALTERNATE = ("SEQ", "CONC"), ("S", "C")


class Write(NamedTuple):
    """A write: whether the acceptor writes, how long it waits (ps), and the bytes."""

    at_server: bool
    wait: int
    size: int


@dataclass(frozen=True)
class Vector:
    """A connection: when it begins (ps), whether its ends write without waiting for each other, and what they write."""

    start: int
    concurrent: bool
    writes: tuple[Write, ...]

    def as_json(self) -> dict[str, Any]:
        """The vector as a run's specification has it."""
        writes = [{"at_server": write.at_server, "wait": write.wait, "bytes": write.size} for write in self.writes]
        return {"concurrent": self.concurrent, "writes": writes}


@dataclass(frozen=True)
class Vectors:
    """The connections of a file, in order of their beginnings."""

    name: str
    vectors: tuple[Vector, ...]

    def as_json(self) -> dict[str, Any]:
        """The application as a run's specification has it."""
        return {"vectors": {"vectors": [vector.as_json() for vector in self.vectors]}}

    def arrivals(self) -> dict[str, Any]:
        """The arrivals as a run's specification has them."""
        return {"process": {"listed": [(vector.start, 1) for vector in self.vectors]}, "sizes": None}


def read(path: Path) -> Vectors:
    """The connections of a file."""
    lines = read_text(path).splitlines()
    if len(lines) > MOST_ROWS:
        raise ValueError(f'"{path.name}": {len(lines):,} lines; at most {MOST_ROWS:,}')
    vectors = sorted(_vectors(path.name, lines), key=lambda vector: vector.start)
    if not vectors:
        raise ValueError(f'"{path.name}" has no connections')
    return Vectors(path.name, tuple(vectors))


def _vectors(name: str, lines: list[str]) -> Iterator[Vector]:
    reading: _Reading | None = None
    names: tuple[str, ...] = (*_ORIGINAL, *_ALTERNATE)
    for number, line in enumerate(lines, start=1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if words[0] in names:
            if reading is not None:
                yield reading.end()
            else:
                names = _ORIGINAL if words[0] in _ORIGINAL else _ALTERNATE
            reading = _Reading(name, number, words)
        elif reading is None:
            raise ValueError(f'"{name}": line {number}: "{words[0][:20]}" before the first of {", ".join(names)}')
        else:
            reading.take(number, words)
    if reading is not None:
        yield reading.end()


class _Reading:
    """A connection that is being read."""

    def __init__(self, name: str, number: int, words: list[str]) -> None:
        self.name, self.number = name, number
        self.concurrent = words[0].startswith("C")
        counts = 2 if self.concurrent else 1
        if len(words) < 2 + counts:
            self._fail(
                number, f"{words[0]} needs a start and {'two numbers of writes' if self.concurrent else 'a number of epochs'}"
            )
        self.start = self._value(number, words[1]) * MICROSECOND
        self.counts = [self._value(number, word) for word in words[2 : 2 + counts]]
        self.writes: list[Write] = []
        self.alternate = words[0] in _ALTERNATE
        #: The lines that it has, and the numbers that each needs.
        self.known = ("I", "A") if self.alternate else ("c>", "c<", "t>", "t<") if self.concurrent else (">", "<", "t")
        self.needed = ("send_wait_time", "recv_wait_time", "bytes") if self.alternate else ("one number",)
        #: How long the next write waits: of either end in turn, or of each end.
        self.waits = [0, 0]
        self.closed: set[str] = set()

    def take(self, number: int, words: list[str]) -> None:
        """A line after the first."""
        kind, *values = words
        if kind in _OF_NETWORK:
            return
        if kind not in self.known:
            what = "concurrent" if self.concurrent else "sequential"
            self._fail(number, f'"{kind[:20]}" in a {what} connection; known: {", ".join((*self.known, *sorted(_OF_NETWORK)))}')
        if len(values) != len(self.needed):
            self._fail(number, f'"{kind}" needs {", ".join(self.needed)}')
        read = [self._value(number, value) for value in values]
        if self.alternate:
            self._write(kind, number, *read)
        else:
            self._data_or_time(kind, *read)

    def _data_or_time(self, kind: str, value: int) -> None:
        """A line of data, or of the time before some."""
        end = int(kind.endswith("<"))
        lane = end if self.concurrent else 0
        if kind.startswith("t"):
            self.waits[lane] += value * MICROSECOND
        elif value:  # Without data nothing is written, and nobody waits for it.
            self.writes.append(Write(end == 1, self.waits[lane], value))
            self.waits[lane] = 0

    def _write(self, kind: str, number: int, after_own: int, after_other: int, size: int) -> None:
        """A write: how long it waits after the end's own write before, how long after what it answers, and its bytes."""
        if kind in self.closed:
            self._fail(number, f'"{kind}" after its line of 0 bytes, which closes the connection')
        if not size:
            self.closed.add(kind)
            return
        at_server = kind == "A"
        answers = not self.concurrent and bool(self.writes) and self.writes[-1].at_server != at_server
        if answers and after_own:
            self._fail(number, f'"{kind}" answers the line before; its send_wait_time must be 0')
        if not answers and after_other and (self.concurrent or self.writes):
            self._fail(number, f'"{kind}" answers nothing; its recv_wait_time must be 0')
        self.writes.append(Write(at_server, (after_own + after_other) * MICROSECOND, size))

    def end(self) -> Vector:
        """The connection, when its last line has been read."""
        if not self.writes:
            self._fail(self.number, "a connection on which nothing is written never ends")
        found = [sum(write.at_server == at_server for write in self.writes) for at_server in (False, True)]
        if self.concurrent and any(here > said for here, said in zip(found, self.counts, strict=True)):
            self._fail(self.number, f"{found[0]} and {found[1]} writes, but the line says {self.counts[0]} and {self.counts[1]}")
        if not self.concurrent and max(found) > self.counts[0]:
            self._fail(self.number, f"{max(found)} epochs, but the line says {self.counts[0]}")
        return Vector(self.start, self.concurrent, tuple(self.writes))

    def _value(self, number: int, text: str) -> int:
        if not (text.isascii() and text.isdigit()) or len(text) > len(str(_MOST)) or int(text) > _MOST:
            self._fail(number, f'"{text[:20]}" must be a whole number from 0 to 10^15')
        return int(text)

    def _fail(self, number: int, what: str) -> NoReturn:
        raise ValueError(f'"{self.name}": line {number}: {what}')
