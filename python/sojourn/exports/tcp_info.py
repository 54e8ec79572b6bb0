"""The states of connections over time, under the names that Linux has for them in ``struct tcp_info``."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import polars as pl

from sojourn import backends
from sojourn.backends.backend import CONNECTIONS, Backend
from sojourn.errors import InputError
from sojourn.exports.places import make_directory, told
from sojourn.runs import Run
from sojourn.units import PICOSECONDS

#: How often a connection is looked at in a run whose scenario does not say: 100 ms.
INTERVAL = PICOSECONDS // 10

#: Linux include/net/tcp.h, TCP_INFINITE_SSTHRESH: the threshold before the first congestion.
INFINITE_SSTHRESH = 0x7FFFFFFF

#: What ``tcp_info`` does not have.
OURS = ("time", "flow", "latest_rtt", "bytes_delivered")


def interval(run: Run) -> int:
    """How often connections are looked at, in ps: ``probe.flow_series`` of the scenario, or every 100 ms."""
    return int(run.specification["probe"]["flow_series"] or INTERVAL)


def samples(run: Run, backend: str | Backend = backends.DEFAULT) -> Iterator[pl.DataFrame]:
    """Carries out a run and looks at every connection at the start and after each interval; the columns are ``CONNECTIONS``.

    The rows come in order of time, some thousands at once.
    """
    if not run.specification["flows"]:
        raise InputError("connections of flows are exported, and the scenario has none; those of programs are in its results")
    # Counts are of the measuring window; for all of the run it has to open at the start, which changes nothing else.
    pieces = backends.recording(backend).connections({**run.specification, "warm_up": 0}, interval(run))
    for piece in pieces:
        if piece.is_empty():
            raise InputError("no flow is a TCP connection; nothing to export")
        yield piece


def tcp_info(run: Run, backend: str | Backend = backends.DEFAULT) -> pl.DataFrame:
    """The states of a run's connections over time.

    ``time_s`` and ``flow``, and then those fields of Linux's ``tcp_info`` that the simulator knows, in their units: times in
    us, windows in segments, the pacing rate in bytes/s. Counts are since the start of the run. What is not known yet is null.

    Raises:
        InputError: the run has no connections, or the backend cannot record them.
    """
    return _as_linux(pl.concat(samples(run, backend)))


def _as_linux(found: pl.DataFrame) -> pl.DataFrame:
    segments = pl.col("snd_ssthresh") // pl.col("snd_mss")
    fields = found.with_columns(
        (pl.col("rto", "rtt", "rttvar", "min_rtt") * 1e6).round().cast(pl.UInt64),
        snd_cwnd=pl.col("snd_cwnd") // pl.col("snd_mss"),
        snd_ssthresh=segments.fill_null(INFINITE_SSTHRESH),
    )
    names = [name for name in CONNECTIONS if name not in OURS]
    return fields.select(pl.col("time").alias("time_s"), "flow", pl.col(names).name.prefix("tcpi_"))


def write_tcp_info(run: Run, directory: Path, backend: str | Backend = backends.DEFAULT) -> int:
    """Writes ``tcp_info`` of a run to a directory, new or empty: a CSV file a flow, called ``flow-0.csv`` and so on.

    Returns how many files they are.

    Raises:
        InputError: the run has no connections, the backend cannot record them, or the directory will not do.
        SojournError: a file cannot be written.
    """
    pieces = samples(run, backend)
    first = next(pieces)
    make_directory(directory)
    unfinished: dict[int, Path] = {}
    with told(directory):
        try:
            for piece in chain([first], pieces):
                rows_of = _as_linux(piece).partition_by("flow", as_dict=True, include_key=False, maintain_order=True)
                for (flow,), rows in rows_of.items():
                    is_first = flow not in unfinished
                    path = unfinished.setdefault(flow, directory / f"flow-{flow}.unfinished")
                    # Opened anew for each piece: there may be more flows than files that a process may have open.
                    with path.open("ab") as file:
                        rows.write_csv(file, include_header=is_first)
            for path in unfinished.values():
                path.replace(path.with_suffix(".csv"))
        finally:
            for path in unfinished.values():
                path.unlink(missing_ok=True)
    return len(unfinished)
