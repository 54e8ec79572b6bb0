"""What every backend returns: frames of fixed columns, whatever made them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, repeat, starmap
from typing import Any, Self

import polars as pl

from sojourn.backends.columns import COLUMNS, Column
from sojourn.errors import RunFailed


def as_schema(columns: Iterable[Column]) -> pl.Schema:
    """The columns as polars has them."""
    return pl.Schema({column.name: getattr(pl, column.type)() for column in columns})


#: The frames of a run, by their names; docs/measures.md says what their columns are.
FRAMES = {name: as_schema(COLUMNS[name]) for name in ("flows", "queues", "queue_series", "flow_series", "transfers", "recorded")}
FLOWS, QUEUES, QUEUE_SERIES, FLOW_SERIES, TRANSFERS, RECORDED = FRAMES.values()

#: The frame of a run's programs, which a simulator does not have.
PROGRAMS = as_schema(COLUMNS["programs"])

#: What flows of datagrams that programs sent have for an algorithm: they have no connection that the network knows.
DATAGRAMS = ("udp", "quic")


@dataclass(frozen=True)
class RunResult:
    """The result of one run."""

    flows: pl.DataFrame
    queues: pl.DataFrame
    queue_series: pl.DataFrame
    flow_series: pl.DataFrame
    #: How much work the run was: events handled, and data packets delivered over the whole run.
    events: int
    data_packets_delivered: int
    #: Transfers that were completed, if the backend can tell.
    transfers: pl.DataFrame = field(default_factory=TRANSFERS.to_frame)
    #: What algorithms of users' own recorded.
    recorded: pl.DataFrame = field(default_factory=RECORDED.to_frame)
    #: What became of its programs, and what they wrote, by paths.
    programs: pl.DataFrame = field(default_factory=PROGRAMS.to_frame)
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class RunResults:
    """The results of several runs: each frame has the rows of all, run by run."""

    frames: Mapping[str, pl.DataFrame]
    #: How many rows of each frame each run has.
    heights: Mapping[str, Sequence[int]]
    events: Sequence[int]
    data_packets_delivered: Sequence[int]

    @classmethod
    def of(cls, result: RunResult) -> Self:
        """Those of a single run."""
        frames: dict[str, pl.DataFrame] = {name: getattr(result, name) for name in FRAMES}
        heights = {name: [frame.height] for name, frame in frames.items()}
        return cls(frames, heights, [result.events], [result.data_packets_delivered])

    def places(self, name: str) -> Iterator[slice]:
        """Where the rows of each run are in a frame."""
        return starmap(slice, pairwise(accumulate(self.heights[name], initial=0)))

    def each(self, name: str) -> Iterator[pl.DataFrame]:
        """A frame of each run."""
        rows = self.frames[name]
        if not rows.height:
            return repeat(rows, len(self.events))
        return (rows.slice(place.start, place.stop - place.start) for place in self.places(name))


#: Frames without rows, by the identity of their schema: most runs have no series, and to make a frame takes as long as a short
#: run.
_EMPTY = {id(schema): schema.to_frame() for schema in (*FRAMES.values(), PROGRAMS)}


def check_finite(columns: Mapping[str, Iterable[float | None]]) -> None:
    """Nothing that is kept is infinite or not a number: either would spoil each mean that it goes into. Null is neither.

    Raises:
        RunFailed: a value is one of them: whatever computed it is wrong.
    """
    wrong = [name for name, values in columns.items() if not math.isfinite(sum(filter(None, values)))]  # in C: it costs little
    if wrong:
        raise RunFailed(f"broken invariant: {', '.join(wrong)}: not a finite number")


#: Up to how many rows it is faster to make a frame by rows: a column costs as much as some fifty values of a row. Small runs take
#: a few milliseconds, of which this is a good part.
FEW = 50


def frame(columns: Mapping[str, Any], schema: pl.Schema) -> pl.DataFrame:
    """Columns as a frame of exactly the schema's columns, in its order.

    Raises:
        KeyError: a column is missing.
        RunFailed: a value is not a finite number: the backend is wrong.
    """
    listed = [columns[name] for name in schema]
    check_finite({name: columns[name] for name, kind in schema.items() if kind == pl.Float64})
    if not listed[0] and id(schema) in _EMPTY:
        return _EMPTY[id(schema)]
    if len(listed[0]) < FEW:
        return pl.DataFrame(list(zip(*listed, strict=True)), schema=schema, orient="row")
    return pl.DataFrame(
        [pl.Series(name, column, dtype=kind) for column, (name, kind) in zip(listed, schema.items(), strict=True)]
    )
