"""What single runs found, and the frames of many runs.

The result of a run is kept as a ``Record`` until there are many: to label and to lay out the frames of many runs at once takes
a small part of the time that it takes run by run.
"""

import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn import catalogue, metrics, specification
from sojourn.analysis.frames import own
from sojourn.backends import result as backend
from sojourn.backends.result import RECORDED, RunResult
from sojourn.metrics.metric import Metric
from sojourn.metrics.observation import Observation, observe, places
from sojourn.metrics.over_time import latest_change
from sojourn.names import BACKEND
from sojourn.runs import Run
from sojourn.units import PICOSECONDS


@dataclass(frozen=True)
class Record:
    """What one run found: its rows of ``runs`` and ``groups`` as ``columns`` has them, and the frames of the backend."""

    key: str
    axes: Mapping[str, str]
    seed: int
    summary: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]]
    flows: pl.DataFrame
    queues: pl.DataFrame
    transfers: pl.DataFrame
    queue_series: pl.DataFrame
    flow_series: pl.DataFrame
    recorded: pl.DataFrame


def of_run(run: Run, result: RunResult) -> Record:
    """The record of a single run.

    Raises:
        RunFailed: a metric is infinite or not a number.
    """
    spec = run.specification
    window = (spec["duration"] - spec["warm_up"]) / PICOSECONDS
    rate = specification.bottleneck_rate(spec)
    in_window = result.transfers
    if in_window.height:
        in_window = in_window.filter(pl.col("completed") >= spec["warm_up"] / PICOSECONDS)
    seen = observe(
        result.flows,
        result.queues,
        in_window,
        window,
        None if rate is None else rate / 1e6,
        result.flow_series,
        spec["warm_up"] / PICOSECONDS,
        latest_change(spec["links"]) / PICOSECONDS,
    )
    series = result.queue_series, result.flow_series, result.recorded
    summary, groups = _summary(run, result, seen, window), _of_groups(result.flows, seen)
    axes = {axis: label for axis, label in run.axes.items() if axis != BACKEND}  # a column of its own
    return Record(run.key, axes, run.seed, summary, groups, result.flows, result.queues, result.transfers, *series)


def assemble(records: Sequence[Record], axes: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The frames of several runs, in their order; a run without one of the axes has null there."""
    labels = pl.DataFrame(
        {
            "key": [record.key for record in records],
            **{axis: [record.axes.get(axis) for record in records] for axis in axes},
            "seed": [record.seed for record in records],
        },
        schema={"key": pl.String(), **dict.fromkeys(axes, pl.String()), "seed": pl.Int64()},
    )
    labels = labels.with_columns(pl.Series(BACKEND, [record.summary[BACKEND] for record in records], pl.String()))
    summaries = _rows([record.summary for record in records], "runs")
    groups = _rows([row for record in records for row in record.groups], "groups")
    return {
        "runs": pl.concat([labels, summaries], how="horizontal"),
        "groups": pl.concat([labels[_run_of_row([record.groups for record in records])], groups], how="horizontal"),
        "flows": _labelled(labels, [record.flows for record in records]),
        "queues": _labelled(labels, [record.queues for record in records]),
        "transfers": _labelled(labels, [record.transfers for record in records]),
        "series": _series(labels, records),
    }


def _rows(rows: Sequence[Mapping[str, Any]], name: str) -> pl.DataFrame:
    """Rows of ``runs`` or ``groups``; metrics that a record of another version lacks are null, and others that it has stay."""
    known = own(name)
    others = dict.fromkeys(column for row in rows for column in row if column not in known and column != BACKEND)
    schema = {**known, **dict.fromkeys(others, pl.Float64())}
    return pl.DataFrame({column: [row.get(column) for row in rows] for column in schema}, schema=schema)


def _labelled(labels: pl.DataFrame, frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The frames of the runs under one another, each row with its run's labels."""
    return pl.concat([labels[_run_of_row(frames)], pl.concat(frames)], how="horizontal")


def _run_of_row(rows: Sequence[Sized]) -> pl.Series:
    return pl.Series("run", np.repeat(np.arange(len(rows)), [len(each) for each in rows]))


def _series(labels: pl.DataFrame, records: Sequence[Record]) -> pl.DataFrame:
    queues = _long([record.queue_series for record in records], "queue", "link")
    flows = _long([record.flow_series for record in records], "flow", "flow")
    own = [record.recorded for record in records]
    recorded = pl.concat(own).with_columns(_run_of_row(own)).select("run", *RECORDED)
    long = pl.concat([queues, flows, recorded]).sort("run", maintain_order=True)
    return pl.concat([labels[long["run"]], long.drop("run")], how="horizontal")


def _long(frames: Sequence[pl.DataFrame], kind: str, which: str) -> pl.DataFrame:
    wide = pl.concat(frames).with_columns(_run_of_row(frames))
    return wide.unpivot(index=["run", "time", which], variable_name="measure", value_name="value").select(
        "run",
        "time",
        pl.lit(kind).alias("kind"),
        pl.col(which).cast(pl.String).alias("which"),
        "measure",
        pl.col("value").cast(pl.Float64),
    )


def _never_established(flows: pl.DataFrame) -> int:
    """TCP flows whose SYN was never answered; rate-based sources open no connection."""
    if not flows["established"].null_count():
        return 0
    rate_based = {control.name for control in catalogue.load().congestion_controls if control.rate_based}
    never = flows["algorithm"].filter(flows["established"].is_null())
    return sum(algorithm not in rate_based for algorithm in never)


def _computed(every: Sequence[Metric], seen: Observation) -> dict[str, float | None]:
    values = {metric.name: metric.compute(seen) for metric in every}
    if not math.isfinite(sum(filter(None, values.values()))):
        backend.check_finite({name: [value] for name, value in values.items()})
    return values


def _of_groups(flows: pl.DataFrame, seen: Observation) -> list[dict[str, Any]]:
    """The rows of ``groups``, in order of the groups' first flows."""
    algorithms = flows["algorithm"].to_list()
    rows = []
    for group, members in places(flows["flow_group"]):
        of_group = seen if len(members) == flows.height else seen.of(members)
        rows.append(
            {
                "flow_group": group,
                "algorithm": "+".join(dict.fromkeys(algorithms[member] for member in members)),
                "flow_count": len(members),
                "long_lived_count": int(of_group.flows["long_lived"].sum()),
                **_computed(metrics.of_group(), of_group),
                "timeouts": _total(flows["timeouts"][members]),
            }
        )
    return rows


def _total(counts: pl.Series) -> int | None:
    """The sum over flows; null if a backend could not count it for one of them."""
    return None if counts.null_count() else int(counts.sum())


def _summary(run: Run, result: RunResult, seen: Observation, window: float) -> dict[str, Any]:
    return {
        "backend": run.backend.name,
        "backend_version": run.backend.version,
        "backend_digest": run.backend.digest,
        "simulated_s": run.simulated_seconds,
        "window_s": window,
        "flow_count": result.flows.height,
        "long_lived_count": int(seen.flows["long_lived"].sum()),
        "bottleneck_mbps": seen.bottleneck_mbps,
        **_computed(metrics.of_run(), seen),
        "timeouts": _total(result.flows["timeouts"]),
        "never_established": _never_established(result.flows),
        "aborted": result.flows["aborted"].count(),
        "events": result.events,
        "data_packets_delivered": result.data_packets_delivered,
        "request": run.request,
        "specification": run.text,
    }
