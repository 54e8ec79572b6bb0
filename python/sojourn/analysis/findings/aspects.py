"""What findings are about: of each aspect of runs, and of groups of flows, the first metric that the results have."""

import polars as pl

from sojourn.analysis import estimates
from sojourn.analysis.result import Result

#: What findings are about: of each line the first metric that the runs have, since the others would say the same again.
ASPECTS = (
    ("sojourn_mean_s", "rtt_mean_s"),
    ("total_mbps",),
    ("jain",),
    ("drop_pct", "loss_pct"),
    ("page_load_time_mean_s", "fct_mean_s"),
)

#: The same of groups of flows, where there are several.
OF_GROUPS = (("mos", "delay_p99_s"), ("video_stalled_pct",))

#: What a group has besides, if several have long-lived flows: its metric, and the one that tells that.
SHARE, LONG_LIVED = "share_pct", "jain"

#: Groups that findings are about, the first.
MOST_GROUPS = 4


def of_groups(found: Result) -> dict[str, list[str]]:
    """The groups of flows that findings are about, with the metrics of each; none where no run has several."""
    groups = found.scan("groups")
    if estimates.one_group(groups):
        return {}
    wanted = [*(name for names in OF_GROUPS for name in names), SHARE, LONG_LIVED]
    known = groups.group_by("flow_group").agg(pl.col(name).is_not_null().any() for name in wanted)
    order = groups.select("flow_group").unique(maintain_order=True).head(MOST_GROUPS).collect()["flow_group"].to_list()
    has = {row["flow_group"]: row for row in known.collect(engine="streaming").iter_rows(named=True)}
    long_lived = [group for group in order if has[group][LONG_LIVED]]
    chosen: dict[str, list[str]] = {}
    for group in order:
        names = [next((name for name in names if has[group][name]), None) for names in OF_GROUPS]
        # Of two shares one says both.
        shares = [SHARE] if len(long_lived) > 1 and group in long_lived[: 1 if len(order) == 2 else MOST_GROUPS] else []
        if measured := [*(name for name in names if name is not None), *shares]:
            chosen[group] = measured
    return chosen


def of_runs(rows: pl.LazyFrame) -> list[str]:
    """Of each aspect of whole runs the first metric that has a value."""
    there = rows.collect_schema()
    names = [name for aspect in ASPECTS for name in aspect if name in there]
    known = rows.select(pl.col(name).is_not_null().any() for name in names).collect(engine="streaming").row(0, named=True)
    found = (next((name for name in aspect if known.get(name)), None) for aspect in ASPECTS)
    return [name for name in found if name is not None]
