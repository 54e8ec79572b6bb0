"""What single runs found, and the frames of many runs.

The result of a run is kept as a ``Record`` until there are many: to label and to lay out the frames of many runs at once takes
a small part of the time that it takes run by run.
"""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sojourn import catalogue, metrics, specification
from sojourn.analysis.frames import NAMES, own
from sojourn.backends import result as backend
from sojourn.backends.result import FRAMES, RECORDED, RunResult
from sojourn.metrics import formulas
from sojourn.metrics.metric import Metric
from sojourn.metrics.observation import Arrays, Observation, observe, places
from sojourn.metrics.over_time import latest_change
from sojourn.names import BACKEND
from sojourn.runs import Run
from sojourn.units import PICOSECONDS

Rows = pl.DataFrame | list[tuple[Any, ...]]
"""A frame, or its rows if they are few: to make a frame takes as long as a short run, and of many runs no longer."""


@dataclass(frozen=True)
class Record:
    """What one run found: its rows of ``runs`` and ``groups`` as ``columns`` has them, and the frames of the backend."""

    key: str
    axes: Mapping[str, str]
    seed: int
    summary: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]]
    flows: Rows
    queues: Rows
    transfers: pl.DataFrame
    queue_series: pl.DataFrame
    flow_series: pl.DataFrame
    recorded: pl.DataFrame


def of_run(run: Run, result: RunResult) -> Record:
    """The record of a single run; see ``of_runs``."""
    (record,) = of_runs([run], [result])
    return record


def of_runs(runs: Sequence[Run], results: Sequence[RunResult]) -> list[Record]:
    """The records of several runs, whose flows become arrays all at once.

    Raises:
        RunFailed: a metric of one of them is infinite or not a number.
    """
    flows = pl.concat([result.flows for result in results])
    columns, labels, algorithms = Arrays.of_frame(flows), flows["flow_group"].to_list(), flows["algorithm"].to_list()
    empty = {name for name in flows.columns if flows[name].null_count() == flows.height}
    empty |= {name for name in ("transfers", "flow_series") if not any(getattr(result, name).height for result in results)}
    of_run, of_group = metrics.of_run(), metrics.of_group()
    records: list[Record] = []
    first = 0
    for run, result in zip(runs, results, strict=True):
        rows = slice(first, first + result.flows.height)
        first = rows.stop
        seen = _seen(run, result, columns.of(rows))
        found = _computed(of_run, seen, empty)
        groups = _of_groups(of_group, seen, empty, found, labels[rows], algorithms[rows])
        summary = _summary(run, result, seen, found)
        axes = {axis: label for axis, label in run.axes.items() if axis != BACKEND}  # a column of its own
        series = result.queue_series, result.flow_series, result.recorded
        ends = _few(result.flows), _few(result.queues)
        records.append(Record(run.key, axes, run.seed, summary, groups, *ends, result.transfers, *series))
    return records


def _few(frame: pl.DataFrame) -> Rows:
    return frame.rows() if frame.height < backend.FEW else frame


def _seen(run: Run, result: RunResult, columns: Arrays) -> Observation:
    spec = run.specification
    rate, opens = specification.bottleneck_rate(spec), spec["warm_up"] / PICOSECONDS
    in_window = result.transfers
    if in_window.height:
        in_window = in_window.filter(pl.col("completed") >= opens)
    return observe(
        result.flows,
        result.queues,
        in_window,
        _window(run),
        None if rate is None else rate / 1e6,
        result.flow_series,
        opens,
        latest_change(spec["links"]) / PICOSECONDS,
        columns,
    )


def _window(run: Run) -> float:
    """The length of the measuring window, s."""
    return (run.specification["duration"] - run.specification["warm_up"]) / PICOSECONDS


def assemble(records: Sequence[Record], axes: Sequence[str], names: Sequence[str] = NAMES) -> dict[str, pl.DataFrame]:
    """The frames of several runs, or some of them, in the runs' order; a run without one of the axes has null there."""
    labels = pl.DataFrame(
        {
            "key": [record.key for record in records],
            **{axis: [record.axes.get(axis) for record in records] for axis in axes},
            "seed": [record.seed for record in records],
        },
        schema={"key": pl.String(), **dict.fromkeys(axes, pl.String()), "seed": pl.Int64()},
    )
    labels = labels.with_columns(pl.Series(BACKEND, [record.summary[BACKEND] for record in records], pl.String()))
    return {name: _frame(name, records, labels) for name in names}


def _frame(name: str, records: Sequence[Record], labels: pl.DataFrame) -> pl.DataFrame:
    match name:
        case "runs":
            return pl.concat([labels, _rows([record.summary for record in records], name)], how="horizontal")
        case "groups":
            groups = _rows([row for record in records for row in record.groups], name)
            return pl.concat([labels[_run_of_row([record.groups for record in records])], groups], how="horizontal")
        case "series":
            return _series(labels, records)
    return _labelled(labels, [getattr(record, name) for record in records], FRAMES[name])


def _rows(rows: Sequence[Mapping[str, Any]], name: str) -> pl.DataFrame:
    """Rows of ``runs`` or ``groups``; metrics that a record of another version lacks are null, and others that it has stay."""
    known = own(name)
    kinds = dict.fromkeys(map(tuple, rows))
    others = dict.fromkeys(column for kind in kinds for column in kind if column not in known and column != BACKEND)
    schema = {**known, **dict.fromkeys(others, pl.Float64())}
    if len(kinds) == 1:  # Those of one version, which need not be looked up one by one.
        whole = dict(zip(rows[0], zip(*(row.values() for row in rows), strict=True), strict=True))
        if whole.keys() >= schema.keys():
            return pl.DataFrame({column: whole[column] for column in schema}, schema=schema)
    return pl.DataFrame({column: [row.get(column) for row in rows] for column in schema}, schema=schema)


def _labelled(labels: pl.DataFrame, runs: Sequence[Rows], columns: pl.Schema) -> pl.DataFrame:
    """The rows of the runs under one another, each with its run's labels."""
    return pl.concat([labels[_run_of_row(runs)], pl.concat(_frames(runs, columns))], how="horizontal")


def _frames(runs: Sequence[Rows], columns: pl.Schema) -> Iterator[pl.DataFrame]:
    few: list[tuple[Any, ...]] = []
    for rows in runs:
        if isinstance(rows, list):
            few += rows
        elif rows.height:
            yield pl.DataFrame(few, columns, orient="row")
            yield rows
            few = []
    yield pl.DataFrame(few, columns, orient="row")


def _run_of_row(rows: Sequence[Sized]) -> pl.Series:
    # No array of numpy's: polars would ask whether it is masked, and so load numpy.ma, which takes as long as many short runs.
    return pl.Series("run", [run for run, each in enumerate(rows) for _ in range(len(each))], pl.UInt32())


def _series(labels: pl.DataFrame, records: Sequence[Record]) -> pl.DataFrame:
    queues = _long([record.queue_series for record in records], "queue", "link")
    flows = _long([record.flow_series for record in records], "flow", "flow")
    own = [record.recorded for record in records]
    recorded = _stacked(own).with_columns(_run_of_row(own)).select("run", *RECORDED)
    long = pl.concat([queues, flows, recorded]).sort("run", maintain_order=True)
    return pl.concat([labels[long["run"]], long.drop("run")], how="horizontal")


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Frames under one another; most have no rows."""
    return pl.concat([frames[0], *(frame for frame in frames[1:] if frame.height)])


def _long(frames: Sequence[pl.DataFrame], kind: str, which: str) -> pl.DataFrame:
    wide = _stacked(frames).with_columns(_run_of_row(frames))
    return wide.unpivot(index=["run", "time", which], variable_name="measure", value_name="value").select(
        "run",
        "time",
        pl.lit(kind).alias("kind"),
        pl.col(which).cast(pl.String).alias("which"),
        "measure",
        pl.col("value").cast(pl.Float64),
    )


def _never_established(flows: pl.DataFrame, columns: Arrays) -> int:
    """TCP flows whose SYN was never answered; rate-based sources open no connection."""
    never = np.isnan(columns["established"])
    if not never.any():
        return 0
    rate_based = {control.name for control in catalogue.load().congestion_controls if control.rate_based}
    return sum(algorithm not in rate_based for algorithm in flows["algorithm"].filter(never))


def _computed(every: Iterable[Metric], seen: Observation, empty: Container[str]) -> dict[str, float | None]:
    values = {metric.name: None if metric.needs in empty else metric.compute(seen) for metric in every}
    if not math.isfinite(sum(filter(None, values.values()))):
        backend.check_finite({name: [value] for name, value in values.items()})
    return values


def _of_groups(
    every: Sequence[Metric],
    seen: Observation,
    empty: Container[str],
    of_run: Mapping[str, float | None],
    labels: Sequence[str],
    algorithms: Sequence[str],
) -> list[dict[str, Any]]:
    """The rows of ``groups``, in order of the groups' first flows; a group that is all of the run has its metrics."""
    rows = []
    for group, members in places(labels):
        whole = len(members) == len(labels)
        known, of_group = (of_run, seen) if whole else ({}, seen.of(members))
        found = {**known, **_computed((metric for metric in every if metric.name not in known), of_group, empty)}
        rows.append(
            {
                "flow_group": group,
                "algorithm": "+".join(dict.fromkeys(algorithms[member] for member in members)),
                "flow_count": len(members),
                "long_lived_count": int(of_group.flows["long_lived"].sum()),
                **{metric.name: found[metric.name] for metric in every},
                "timeouts": _timeouts(of_group),
            }
        )
    return rows


def _timeouts(seen: Observation) -> int | None:
    """The sum over flows; null if a backend could not count it for one of them."""
    counted = formulas.count(seen.flows["timeouts"])
    return None if counted is None else int(counted)


def _summary(run: Run, result: RunResult, seen: Observation, found: Mapping[str, float | None]) -> dict[str, Any]:
    return {
        "backend": run.backend.name,
        "backend_version": run.backend.version,
        "backend_digest": run.backend.digest,
        "simulated_s": run.simulated_seconds,
        "window_s": _window(run),
        "flow_count": result.flows.height,
        "long_lived_count": int(seen.flows["long_lived"].sum()),
        "bottleneck_mbps": seen.bottleneck_mbps,
        **found,
        "timeouts": _timeouts(seen),
        "never_established": _never_established(result.flows, seen.flows),
        "aborted": result.flows["aborted"].count(),
        "events": result.events,
        "data_packets_delivered": result.data_packets_delivered,
        "request": run.request,
        "specification": run.text,
    }
