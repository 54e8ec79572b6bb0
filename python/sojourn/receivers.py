"""Flows that were limited by their receivers' windows, not by the network that is studied."""

import polars as pl

#: Seconds for which a flow may wait unmentioned: a window that grows, as Linux's, limits the first round trips.
LEAST = 1.0

#: How to raise the window.
REMEDY = "raise stack.receive_buffer unless that is meant"


def note(flows: pl.LazyFrame) -> str | None:
    """One line on flows whose senders waited a second or more for their receivers' windows; None without such flows."""
    limited = pl.col("rwnd_limited")
    counts = flows.select(pl.len().alias("all"), (limited >= LEAST).sum().alias("limited"), limited.max().alias("longest"))
    every, some, longest = counts.collect(engine="streaming").row(0)
    if not some:
        return None
    return f"Receivers' windows limited {some:,} of {every:,} flows, for up to {longest:.3g} s (rwnd_limited): {REMEDY}."
