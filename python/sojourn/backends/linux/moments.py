"""A run on Linux that is watched: the guest writes its moments while the kernel goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TextIO

import polars as pl

from sojourn.backends.backend import MOMENT_FLOWS, MOMENT_QUEUES, Moment
from sojourn.backends.linux import causes, observed, reading
from sojourn.backends.linux.machine import Machine
from sojourn.backends.linux.plan import Plan
from sojourn.backends.linux.units import NANOSECONDS
from sojourn.backends.result import RunResult
from sojourn.specification import RunSpecification, link_name
from sojourn.units import PICOSECONDS

#: The file that the guest writes, and the line that ends each moment (``show`` of main.c).
FILE, _END = "moments", "shown"


#: Between two looks at what has been written, in s of the host's time.
_LOOK = 0.02


class WatchedRun:
    """A run whose guest writes how it goes; see ``SteppedRun``. The kernel goes on however late its moments are asked for.

    ``begin`` makes the plan of the run with moments at an interval in ps, and the kernel that carries it out.
    """

    def __init__(
        self,
        run: RunSpecification,
        begin: Callable[[int], tuple[Plan, AbstractContextManager[Machine]]],
        cancelled: threading.Event,
    ) -> None:
        self._run, self._begin, self._cancelled = run, begin, cancelled
        self._found: RunResult | None = None

    def moments(self, interval: int) -> Iterator[Moment]:
        plan, kernel = self._begin(interval)
        with kernel as carried_out, closing(Reader(self._run, plan, carried_out.folder)) as reader:
            for _ in carried_out.looks(self._run["duration"] / PICOSECONDS, self._cancelled, _LOOK):
                yield from reader.new()
            self._found = observed.result(self._run, plan, carried_out.result(), carried_out.folder)
            yield from reader.new()

    def result(self) -> RunResult:
        assert self._found is not None, "the last moment has been shown"
        return self._found


class Reader:
    """Reads the moments of a run from a folder as its guest writes them."""

    def __init__(self, run: RunSpecification, plan: Plan, folder: Path) -> None:
        self._run, self._plan = run, plan
        self._path = folder / FILE
        self._file: TextIO | None = None
        self._lines: list[str] = []
        #: The beginning of a line whose end has not been written.
        self._rest = ""

    def new(self) -> Iterator[Moment]:
        """The moments that were written since the last call."""
        if self._file is None:
            if not self._path.exists():
                return
            self._file = self._path.open()
        *lines, self._rest = (self._rest + self._file.read()).split("\n")
        for line in lines:
            if line == _END:
                yield self._moment()
                self._lines = []
            else:
                self._lines.append(line)

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()

    def _moment(self) -> Moment:
        (_, time), *rows = (line.split() for line in self._lines)
        told = [(kind, reading.pairs(words)) for kind, *words in rows]
        queues = [values for kind, values in told if kind == "queue"]
        flows = [values for kind, values in told if kind == "flow"]
        return Moment(
            int(time) / NANOSECONDS,
            pl.DataFrame([self._queue(place, values) for place, values in enumerate(queues)], schema=MOMENT_QUEUES, orient="row"),
            pl.DataFrame([self._flow(number, values) for number, values in enumerate(flows)], schema=MOMENT_FLOWS, orient="row"),
        )

    def _queue(self, place: int, values: dict[str, str]) -> dict[str, object]:
        length = {name: int(values[name]) for name in ("packets", "bytes")}
        link = {"link": link_name(self._run, self._run["links"][self._plan.queues[place]]), **length}
        if not self._run["probe"]["queue_statistics"]:
            return link
        return {
            **link,
            "drops": int(values["drops"]),
            "marks": causes.told(values["kind"], values["report"]).marks,
            "departures": int(values["departures"]),
            "bytes_sent": int(values["bytes_sent"]),
            "sojourn_sum": int(values["sojourn_sum"]) / NANOSECONDS,
        }

    def _flow(self, number: int, values: dict[str, str]) -> dict[str, object]:
        flow = self._plan.flows[number]
        if flow.is_generated:
            return {"bytes_delivered": int(values["received"])}
        if not flow.is_tcp:
            return {"bytes_delivered": int(values["received"]) * flow.entry["source"]["parameters"]["packet_size"]}
        rtt = int(values["rtt"]) / NANOSECONDS or None
        return {"bytes_delivered": int(values["received"]), "cwnd": int(values["cwnd"]), "rtt": rtt}
