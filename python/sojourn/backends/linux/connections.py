"""The states of connections as the kernel told them (``struct tcp_info`` of include/uapi/linux/tcp.h)."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from sojourn.backends.backend import CONNECTIONS
from sojourn.backends.linux.units import NANOSECONDS

#: The file that the guest writes, and its columns (``flows_connections`` of flow.c).
FILE = "connections"
_COLUMNS = (
    *("time", "flow", "state", "ca_state", "retransmits", "backoff", "rto", "snd_mss", "unacked", "sacked", "lost", "retrans"),
    *("rtt", "rttvar", "snd_ssthresh", "snd_cwnd", "total_retrans", "pacing_rate", "bytes_acked", "min_rtt", "data_segs_out"),
    *("latest_rtt", "bytes_delivered"),
)

#: Lines that are read at one go.
_LINES_AT_ONCE = 10_000

#: What stands for "none yet": TCP_INFINITE_SSTHRESH of include/net/tcp.h, ~0 of a minimum that nothing has fallen below, and
#: ~0 of a rate without a limit.
_NO_SSTHRESH, _NO_MINIMUM, _NO_RATE = 0x7FFFFFFF, 2**32 - 1, 2**64 - 1

_MICROSECONDS = 1e6


def states(folder: Path) -> Iterator[pl.DataFrame]:
    """The states that a run's guest wrote into a folder, some thousands at once: ``CONNECTIONS``."""
    with (folder / FILE).open() as file:
        while lines := list(islice(file, _LINES_AT_ONCE)):
            yield _frame([[int(word) for word in line.split()] for line in lines])


def _frame(rows: list[list[int]]) -> pl.DataFrame:
    told = pl.DataFrame(rows, schema=dict.fromkeys(_COLUMNS, pl.UInt64), orient="row")
    known = told.with_columns(
        _unless("snd_ssthresh", _NO_SSTHRESH) * pl.col("snd_mss"),
        pl.col("snd_cwnd") * pl.col("snd_mss"),
        _unless("pacing_rate", _NO_RATE),
        pl.col("time") / NANOSECONDS,
        _unless("latest_rtt", 0) / NANOSECONDS,
        pl.col("rto") / _MICROSECONDS,
        # Of one sample both are known.
        *(pl.when(pl.col("rtt") > 0).then(pl.col(name)) / _MICROSECONDS for name in ("rtt", "rttvar")),
        _unless("min_rtt", _NO_MINIMUM) / _MICROSECONDS,
    )
    return known.select(pl.col(name).cast(kind) for name, kind in CONNECTIONS.items())


def _unless(name: str, none: int) -> pl.Expr:
    """A column without the value that stands for none."""
    return pl.when(pl.col(name) != none).then(pl.col(name))
