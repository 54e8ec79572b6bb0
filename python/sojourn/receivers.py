"""Flows that were limited by their receivers' windows, not by the network that is studied."""

import polars as pl

#: How to raise the window.
REMEDY = "raise stack.receive_buffer unless that is meant"


def note(flows: pl.LazyFrame) -> str | None:
    """One line on flows whose senders waited for their receivers' windows; None if there are no such flows."""
    limited = pl.col("rwnd_limited")
    counts = flows.select(pl.len().alias("all"), (limited > 0).sum().alias("limited"), limited.max().alias("longest"))
    every, some, longest = counts.collect(engine="streaming").row(0)
    if not some:
        return None
    return f"Receivers' windows limited {some:,} of {every:,} flows, for up to {longest:.3g} s (rwnd_limited): {REMEDY}."
