"""Flows that were limited by a buffer at one of their ends, not by the network that is studied."""

from collections.abc import Callable
from typing import NamedTuple

import polars as pl

#: Seconds for which a flow may wait unmentioned: buffers that grow, as Linux's do, limit the first round trips.
LEAST = 1.0


class Buffer(NamedTuple):
    """A buffer that can limit a flow."""

    #: The column of ``flows`` with the seconds for which it did.
    column: str
    told: str
    #: What to raise.
    setting: str


BUFFERS = (
    Buffer("rwnd_limited", "Receivers' windows", "stack.receive_buffer"),
    Buffer("sndbuf_limited", "Senders' buffers", "stack.send_buffer"),
)


def notes(scan: Callable[[str], pl.LazyFrame]) -> list[str]:
    """What is said of flows that waited for a second or more for a buffer: a line for each kind that limited any."""
    flows = scan("flows").select("key", *(buffer.column for buffer in BUFFERS))
    counted = flows.select(pl.len().alias("all"), *(each for buffer in BUFFERS for each in _counts(buffer)))
    found = counted.collect(engine="streaming").row(0, named=True)
    return [_line(buffer, found, scan) for buffer in BUFFERS if found[f"{buffer.column}_flows"]]


def _counts(buffer: Buffer) -> tuple[pl.Expr, pl.Expr]:
    time = pl.col(buffer.column)
    return (time >= LEAST).sum().alias(f"{buffer.column}_flows"), time.max().alias(f"{buffer.column}_longest")


def _line(buffer: Buffer, found: dict[str, float], scan: Callable[[str], pl.LazyFrame]) -> str:
    some, longest = (found[f"{buffer.column}_{name}"] for name in ("flows", "longest"))
    # The window is that of the run of a flow that waited longest, not of all runs: a join would hold the keys of all.
    key = scan("flows").filter(pl.col(buffer.column) == longest).select("key").head(1).collect(engine="streaming").item()
    window = scan("runs").filter(key=key).select("window_s").collect(engine="streaming").item()
    share = 100 * longest / window
    # Connections that arrive are one row of flows, and may wait at the same time.
    of_time = f" ({share:.3g} % of the time)" if share <= 100 else ""
    return (
        f"{buffer.told} limited {some:,} of {found['all']:,} flows, for up to {longest:.3g} s{of_time} ({buffer.column}): "
        f"raise {buffer.setting} unless that is meant."
    )
