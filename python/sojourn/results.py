"""The results of a campaign as frames."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn import catalogue, metrics, specification
from sojourn.backends.result import RunResult
from sojourn.runs import PICOSECONDS, Run

#: The frames of a result, which are also the names of its files.
NAMES = ("runs", "flows", "queues", "series")


@dataclass(frozen=True)
class Result:
    """What a campaign found. Every frame starts with the run's ``key``, its axes and its ``seed``.

    ``runs`` has a row a run: its specification and its metrics, which ``sojourn.metrics.METRICS`` explains; ``flows`` a row
    a flow; ``queues`` a row a link with a queue; ``series`` the samples over time in long form: time (s), kind (queue or
    flow), which one, measure, value. Each is a polars frame; ``frame.to_pandas()`` makes it a pandas one.
    """

    runs: pl.DataFrame
    flows: pl.DataFrame
    queues: pl.DataFrame
    series: pl.DataFrame

    @classmethod
    def concat(cls, parts: Iterable["Result"]) -> "Result":
        """Puts the results of several runs under one another."""
        listed = list(parts)
        return cls(*(pl.concat([getattr(part, name) for part in listed], rechunk=True) for name in NAMES))


def of_run(run: Run, result: RunResult) -> Result:
    """The result of a single run."""
    key = pl.DataFrame({"key": [run.key], **{axis: [value] for axis, value in run.axes.items()}, "seed": [run.seed]})
    flows, queues = (_label(key, frame) for frame in (result.flows, result.queues))
    series = _label(key, pl.concat([_long(result.queue_series, "queue", "link"), _long(result.flow_series, "flow", "flow")]))
    return Result(pl.concat([key, _summary(run, result)], how="horizontal"), flows, queues, series)


def _label(key: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    return key.join(frame, how="cross")


def _long(frame: pl.DataFrame, kind: str, which: str) -> pl.DataFrame:
    return frame.unpivot(index=["time", which], variable_name="measure", value_name="value").select(
        "time",
        pl.lit(kind).alias("kind"),
        pl.col(which).cast(pl.String).alias("which"),
        "measure",
        pl.col("value").cast(pl.Float64),
    )


def _never_established(flows: pl.DataFrame) -> int:
    """TCP flows whose SYN was never answered; rate-based sources open no connection."""
    rate_based = [control.name for control in catalogue.load().congestion_controls if control.rate_based]
    return flows.filter(pl.col("established").is_null() & ~pl.col("algorithm").is_in(rate_based)).height


def _summary(run: Run, result: RunResult) -> pl.DataFrame:
    spec = run.specification
    window = (spec["duration"] - spec["warm_up"]) / PICOSECONDS
    seen = metrics.observe(result.flows, result.queues, window)
    rate = specification.bottleneck_rate(spec)
    facts: dict[str, tuple[Any, pl.DataType]] = {
        "simulated_s": (run.simulated_seconds, pl.Float64()),
        "window_s": (window, pl.Float64()),
        "flow_count": (result.flows.height, pl.UInt32()),
        "bottleneck_mbps": (None if rate is None else rate / 1e6, pl.Float64()),
    }
    facts |= {name: (metric.compute(seen), pl.Float64()) for name, metric in metrics.METRICS.items() if name != "share_pct"}
    facts |= {
        "retransmissions": (result.flows["retransmissions"].sum(), pl.UInt64()),
        "timeouts": (result.flows["timeouts"].sum(), pl.UInt64()),
        "never_established": (_never_established(result.flows), pl.UInt32()),
        "aborted": (result.flows["aborted"].count(), pl.UInt32()),
        "events": (result.events, pl.UInt64()),
        "data_packets_delivered": (result.data_packets_delivered, pl.UInt64()),
        "specification": (specification.text(spec), pl.String()),
    }
    return pl.DataFrame(
        {name: [value] for name, (value, _) in facts.items()}, schema={name: kind for name, (_, kind) in facts.items()}
    )
