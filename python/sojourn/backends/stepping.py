"""A run of the simulator that is carried out bit by bit, with looks at it in between."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from sojourn import _engine, specification
from sojourn.backends.result import RunResult
from sojourn.backends.simulator import complaints, result_of
from sojourn.runs import PICOSECONDS
from sojourn.specification import RunSpecification

#: Events handled at one go, some hundredths of a second: an interrupt waits no longer.
EVENTS_AT_ONCE = 20_000

#: Each queue at a moment: its length, and what it did since the start of the run, null if queues are not measured. Sojourn times
#: are those of the packets sent, added up, in s.
QUEUES = pl.Schema(
    {
        "link": pl.String(),
        "packets": pl.UInt64(),
        "bytes": pl.UInt64(),
        "drops": pl.UInt64(),
        "marks": pl.UInt64(),
        "departures": pl.UInt64(),
        "bytes_sent": pl.UInt64(),
        "sojourn_sum": pl.Float64(),
    }
)

#: Each flow at a moment: payload delivered since the start of the run and, of all but those that only send, congestion window in
#: bytes and the latest RTT sample in s.
FLOWS = pl.Schema({"bytes_delivered": pl.UInt64(), "cwnd": pl.UInt64(), "rtt": pl.Float64()})


@dataclass(frozen=True)
class Moment:
    """What is to be seen at a moment of a run; queues and flows in the order of its result."""

    #: In s since the start of the run.
    time: float
    queues: pl.DataFrame
    flows: pl.DataFrame


class SteppedRun:
    """A run that is watched while it goes on; its result is that of ``Simulator.run``.

    Raises:
        InputError: the specification makes no sense.
    """

    def __init__(self, run: RunSpecification) -> None:
        with complaints():
            self._engine = _engine.Stepping(specification.text(run))
        self._end = run["duration"]

    def moments(self, interval: int) -> Iterator[Moment]:
        """Carries the run out and shows it whenever so many picoseconds have passed, and at its end.

        Raises:
            RunFailed: the run could not be finished.
        """
        while self._engine.now < self._end:
            until = min((self._engine.now // interval + 1) * interval, self._end)
            with complaints():
                while not self._engine.advance(until, EVENTS_AT_ONCE):
                    pass
            yield self._look()

    def _look(self) -> Moment:
        queues, flows = (
            pl.DataFrame(columns, schema=kinds)
            for columns, kinds in ((self._engine.queues(), QUEUES), (self._engine.flows(), FLOWS))
        )
        return Moment(self._engine.now / PICOSECONDS, queues, flows)

    def result(self) -> RunResult:
        """The result, once the last moment has been shown."""
        with complaints():
            return result_of(self._engine.finish())
