"""How long a run's beginning differs from the rest of it, from its samples over time: whether ``warm_up`` is long enough.

Nothing is left out because of it. The rule is MSER-5 (``statistics.warm_up``).
"""

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from sojourn.statistics import warm_up

#: Runs that are looked at for one line; the samples of all runs of a large campaign take long to read.
MOST_RUNS = 100

QUEUE: Final = "queue length"
GOODPUT: Final = "goodput"


def found(scan: Callable[[str], pl.LazyFrame], axes: Sequence[str], most_runs: int | None = None) -> pl.DataFrame:
    """How long each run looks transient: a row for each run and each of queue length and goodput of which it has samples.

    Columns: ``axes``, ``seed``, ``measure``, ``transient_s`` (null if the rule has no answer), ``warm_up_s``.
    """
    names = ["key", *axes, "seed"]
    every = scan("runs").select(*names, (pl.col("simulated_s") - pl.col("window_s")).alias("warm_up_s"))
    runs = (every if most_runs is None else every.head(most_runs)).collect()
    series = scan("series").filter(pl.col("key").is_in(runs["key"].implode()))
    links = series.filter(kind="queue").select("which").head(1).collect()["which"]
    queue = series.filter(pl.lit(bool(len(links))), kind="queue", measure="packets", which=links[0] if len(links) else "")
    delivered = series.filter(kind="flow", measure="bytes_delivered")
    total = delivered.group_by("key", "seed", "time").agg(pl.col("value").sum())
    rows = [
        *_settled(queue.select("key", "seed", "time", "value"), QUEUE, False),
        *_settled(total, GOODPUT, True),
    ]
    schema = {"key": pl.String(), "seed": runs.schema["seed"], "measure": pl.String(), "transient_s": pl.Float64()}
    of_runs = pl.DataFrame(rows, schema=schema, orient="row")
    told = runs.join(of_runs, on=["key", "seed"], how="inner", maintain_order="left")
    return told.select(*axes, "seed", "measure", "transient_s", "warm_up_s")


def _settled(samples: pl.LazyFrame, measure: str, is_total: bool) -> list[tuple[str, int, str, float | None]]:
    """When each run settles, s; what is counted since its start is taken by the interval between samples."""
    value = pl.col("value").diff().drop_nulls() if is_total else pl.col("value")
    by_run = samples.sort("time").group_by("key", "seed", maintain_order=True)
    rows = by_run.agg(value.alias("value"), (pl.col("time").slice(1, 1) - pl.col("time").first()).first().alias("interval"))
    ends = []
    for key, seed, values, interval in rows.collect().iter_rows():
        left_out = warm_up(values) if interval else None
        if len(values) >= 10:  # two batches
            ends.append((key, seed, measure, None if left_out is None else left_out * interval))
    return ends


def note(scan: Callable[[str], pl.LazyFrame], axes: Sequence[str]) -> str | None:
    """One line on cells most of whose runs look transient for longer than ``warm_up``; None if there are none, or no samples."""
    if not scan("series").head(1).collect().height:
        return None
    # Runs without an answer count as none: besides trends, rare spikes such as losses leave the rule without one.
    runs = found(scan, axes, MOST_RUNS).with_columns(pl.col("transient_s").fill_null(0))
    cells = runs.group_by(*axes, "measure", maintain_order=True).agg(pl.col("transient_s").median(), pl.col("warm_up_s").first())
    late = cells.filter(pl.col("transient_s") > pl.col("warm_up_s"))
    if not late.height:
        return None
    measure = late["measure"][0]
    late = late.filter(measure=measure)
    longest, every = float(late["transient_s"].to_numpy().max()), cells.filter(measure=measure).height
    if every == 1:
        return f"By MSER-5 the {measure} looks transient for the first {longest:.3g} s; warm_up is {late['warm_up_s'][0]:.3g} s."
    cells_late = f"in {late.height:,} of {every:,} cells, up to {longest:.3g} s"
    return f"By MSER-5 the {measure} looks transient for longer than warm_up {cells_late}."
