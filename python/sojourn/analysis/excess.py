"""Runs in whose window more is delivered than the bottleneck carries: data that were received before, behind a gap."""

import json
from collections.abc import Callable

import polars as pl

from sojourn.specification import RunSpecification, bottleneck, only_way

#: What is said to be above the rate: a whole packet at either end of the window is no excess.
LEAST = 1.01

#: Runs that are looked at for one line.
MOST_RUNS = 100


def note(scan: Callable[[str], pl.LazyFrame]) -> str | None:
    """One line on runs whose flows over the bottleneck have more throughput than its rate; None if there are none."""
    # Specifications take most of the file, so that only those of a few runs are read.
    above = scan("runs").filter(pl.col("total_mbps") > LEAST * pl.col("bottleneck_mbps")).head(MOST_RUNS)
    keys = above.select("key").collect(engine="streaming")["key"].to_list()
    if not keys:
        return None
    chosen = scan("runs").filter(pl.col("key").is_in(keys))
    runs = chosen.select("key", "window_s", "bottleneck_mbps", "specification").collect(engine="streaming")
    flows = scan("flows").filter(pl.col("key").is_in(runs["key"].to_list()))
    ends = flows.group_by("key", "sender", "receiver").agg(pl.col("bytes_delivered").sum()).collect(engine="streaming")
    shares = []
    for key, window, rate, text in runs.iter_rows():
        specification: RunSpecification = json.loads(text)
        link = bottleneck(specification)
        assert link is not None, "it has a rate"
        of_run = ends.filter(key=key).select("sender", "receiver", "bytes_delivered").iter_rows()
        delivered = sum(size for sender, receiver, size in of_run if only_way(specification, link, sender, receiver))
        shares.append((delivered * 8e-6 / window / rate, rate))
    share, rate = max(shares)
    if share < LEAST:
        return None
    return (
        f"Throughput over the bottleneck is up to {100 * share:.3g} % of its {rate:.4g} Mbit/s: data that waited at receivers "
        "for a gap when the window opened count when they are delivered; a longer window has less of it."
    )
