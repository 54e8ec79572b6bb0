"""Traces: the rate or the delay of a link over time, from a file.

Two formats are read. A file of whole numbers is a trace of mahimahi's (mm-link(1)): each line is the time, in milliseconds, of an
opportunity to deliver 1500 bytes. Any other is CSV with a header: ``time_s`` and either ``rate_mbit_s`` or ``delay_ms``; a value
counts from its time on, and the time of the last row is the end of the trace.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from sojourn import names
from sojourn.errors import within
from sojourn.scenario.files import MOST_ROWS, numbers, read_text
from sojourn.scenario.quantities import at_least, dimension_schema
from sojourn.scenario.reading import folder_of
from sojourn.units import DURATION, PICOSECONDS, RATE, Dimension

MILLISECOND = PICOSECONDS // 1000

#: The rate of an opportunity of mahimahi's in a millisecond, which delivers 1500 bytes (mm-link(1)).
OPPORTUNITY = 1500 * 8 * 1000

#: The column of CSV for each kind of trace, and the unit of its values in base units.
COLUMNS = {RATE.name: ("rate_mbit_s", 1_000_000), DURATION.name: ("delay_ms", MILLISECOND)}

_KEYS = ("trace", "repeat")


@dataclass(frozen=True)
class Trace:
    """A rate in bits per second, or a delay in picoseconds, over time."""

    #: The file's name, without its folder.
    name: str
    #: Its end, in picoseconds.
    until: int
    #: Whether it then begins again; if not, the last value stays.
    repeats: bool
    #: Values, and from when on.
    steps: tuple[tuple[int, int], ...] = ()
    #: Instead: opportunities in each millisecond.
    counts: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The trace as a run's specification has it."""
        slots = {"step": MILLISECOND, "unit": OPPORTUNITY, "counts": self.counts}
        values = {"slots": slots} if self.counts else {"steps": self.steps}
        return {"name": self.name, **values, "until": self.until, "repeats": self.repeats}

    def mean(self) -> int:
        """The mean over the trace, rounded up."""
        return -(-_integral(self.as_json(), self.until) // self.until)


def mean(trace: Mapping[str, Any], start: int, end: int) -> float:
    """The mean of a specification's trace between two times."""
    length: int = trace["until"]
    cycle = _integral(trace, length)

    def until(time: int) -> int:
        whole, rest = divmod(time, length)
        if not trace["repeats"] and time > length:
            return cycle + (time - length) * _last(trace)
        return whole * cycle + _integral(trace, rest)

    return (until(end) - until(start)) / (end - start)


def steps(trace: Mapping[str, Any], end: int) -> Iterator[tuple[int, int]]:
    """The values of a specification's trace up to a time, and from when on."""
    values = trace.get("steps") or _values(trace["slots"])
    for start in range(0, end, trace["until"]) if trace["repeats"] else (0,):
        yield from ((start + at, value) for at, value in values if start + at < end)


def _values(slots: Mapping[str, Any]) -> list[tuple[int, int]]:
    return [(place * slots["step"], slots["unit"] * count) for place, count in enumerate(slots["counts"])]


def _integral(trace: Mapping[str, Any], time: int) -> int:
    """The integral over the trace up to a time within it, in its unit times picoseconds."""
    if "slots" in trace:
        slots = trace["slots"]
        whole, rest = divmod(time, slots["step"])
        counts: Sequence[int] = slots["counts"]
        partial = counts[whole] * rest if rest else 0
        return int(slots["unit"] * (sum(counts[:whole]) * slots["step"] + partial))
    ends = [*(at for at, _ in trace["steps"][1:]), trace["until"]]
    return sum(value * max(0, min(end, time) - at) for (at, value), end in zip(trace["steps"], ends, strict=True))


def _last(trace: Mapping[str, Any]) -> int:
    return int(trace["slots"]["unit"] * trace["slots"]["counts"][-1] if "slots" in trace else trace["steps"][-1][1])


def read(path: Path, dimension: Dimension, repeats: bool) -> Trace:
    """Reads a trace of a rate or of a delay."""
    lines = read_text(path, "the trace ").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise ValueError(f'the trace "{path.name}" is empty')
    is_mahimahi = lines[0].strip().isdecimal()
    with within(f'the trace "{path.name}"'):
        trace = _mahimahi(path.name, lines, repeats) if is_mahimahi else _csv(path.name, lines, dimension, repeats)
    if is_mahimahi and dimension is not RATE:
        raise ValueError(f'the trace "{path.name}" has opportunities to send, and no delays')
    return trace


def _mahimahi(name: str, lines: Sequence[str], repeats: bool) -> Trace:
    times: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip().isdecimal():
            raise ValueError(f'line {number}: "{line.strip()}" is not a whole number of milliseconds')
        times.append(int(line))
        if number > 1 and times[-1] < times[-2]:
            raise ValueError(f"line {number}: {times[-1]} is earlier than the line before, {times[-2]}")
    end = times[-1]
    if end == 0:
        raise ValueError("it ends at 0 ms")
    if end > MOST_ROWS:
        raise ValueError(f"{end:,} values; at most {MOST_ROWS:,}")
    counts = [0] * end
    for time in times:
        # An opportunity at the end of a millisecond is spread over it.
        counts[max(time - 1, 0)] += 1
    return Trace(name, end * MILLISECOND, repeats, counts=tuple(counts))


def _csv(name: str, lines: Sequence[str], dimension: Dimension, repeats: bool) -> Trace:
    column, unit = COLUMNS[dimension.name]
    steps = [(int(time), int(value)) for time, value in numbers(lines, ("time_s", column), (PICOSECONDS, unit))]
    if len(steps) < 2:
        raise ValueError("it needs two rows, of which the last is the end")
    if steps[0][0] != 0:
        raise ValueError("line 2: time_s must be 0")
    for number, (before, after) in enumerate(pairwise(steps), start=3):
        if after[0] <= before[0]:
            raise ValueError(f"line {number}: time_s must be later than in the line before")
    return Trace(name, steps[-1][0], repeats, steps=tuple(steps[:-1]))


def traced_schema(dimension: Dimension) -> dict[str, Any]:
    """The JSON Schema of a quantity, or a table that names a trace of it."""
    return {
        "anyOf": [
            dimension_schema(dimension),
            {
                "type": "object",
                "properties": {
                    "trace": {"type": "string", "description": f"File of the {dimension.name} over time."},
                    "repeat": {"type": "boolean", "default": True, "description": "Begin again at its end."},
                },
                "required": ["trace"],
                "additionalProperties": False,
            },
        ]
    }


def _reader(dimension: Dimension, least: int) -> Callable[[object, ValidationInfo], int | Trace]:
    """Reads a quantity, or a table that names a trace of it."""
    plain = at_least(dimension, least)

    def read_traced(given: object, info: ValidationInfo) -> int | Trace:
        if isinstance(given, Trace):
            return given
        if not isinstance(given, Mapping):
            return plain(given)
        names.check("key", given, _KEYS)
        file, repeats = given.get("trace"), given.get("repeat", True)
        if not isinstance(file, str) or not file:
            raise ValueError('"trace" must name a file')
        if not isinstance(repeats, bool):
            raise ValueError('"repeat" must be true or false')
        trace = read(folder_of(info) / file, dimension, repeats)
        if least and not trace.mean():
            raise ValueError(f'the trace "{trace.name}" is 0 all the time')
        return trace

    return read_traced


read_traced_duration = _reader(DURATION, 0)

TracedRate = Annotated[int | Trace, PlainValidator(_reader(RATE, 1)), WithJsonSchema(traced_schema(RATE))]
"""Bits a second, more than 0; or a trace."""
TracedDuration = Annotated[int | Trace, PlainValidator(read_traced_duration), WithJsonSchema(traced_schema(DURATION))]
"""Picoseconds, 0 or more; or a trace."""
