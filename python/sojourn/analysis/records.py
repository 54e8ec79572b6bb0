"""What single runs found, and the frames of many runs.

The result of a run is kept as a ``Record`` until there are many: to label and to lay out the frames of many runs at once takes
a small part of the time that it takes run by run.
"""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from sojourn import catalogue, metrics, specification
from sojourn.analysis.frames import EVERY, own
from sojourn.backends import result as backend
from sojourn.backends.result import FRAMES, PROGRAMS, RECORDED, RunResult, RunResults
from sojourn.metrics import formulas
from sojourn.metrics.metric import Metric
from sojourn.metrics.observation import NO_TRANSFERS, Arrays, Observation, observation, of_transfers, places
from sojourn.metrics.over_time import latest_change, sampled
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
    programs: Sequence[tuple[Any, ...]] = field(default_factory=list)
    #: What programs wrote, and their files that are kept, by paths.
    files: Mapping[str, bytes] = field(default_factory=dict)


def of_run(run: Run, result: RunResult) -> Record:
    """The record of a single run; see ``of_runs``."""
    (record,) = of_runs([run], RunResults.of(result))
    return replace(record, programs=result.programs.rows(), files=dict(result.files)) if result.programs.height else record


def of_runs(runs: Sequence[Run], results: RunResults) -> list[Record]:
    """The records of several runs; what is taken of columns is taken of those of all runs.

    Raises:
        RunFailed: a metric of one of them is infinite or not a number.
    """
    flows = results.frames["flows"]
    columns, labels, algorithms = Arrays.of_frame(flows), flows["flow_group"].to_list(), flows["algorithm"].to_list()
    aborted = flows["aborted"].is_not_null().to_numpy()
    empty = {name for name in flows.columns if flows[name].null_count() == flows.height}
    empty |= {name for name, frame in results.frames.items() if not frame.height}
    every = zip(
        runs,
        results.places("flows"),
        _bottlenecks(results),
        *(_few(results, name) for name in ("flows", "queues")),
        *(results.each(name) for name in ("transfers", "queue_series", "flow_series", "recorded")),
        results.events,
        results.data_packets_delivered,
        strict=True,
    )
    of_run, of_group = metrics.of_run(), metrics.of_group()
    records: list[Record] = []
    for run, place, bottleneck, *frames, events, delivered in every:
        transfers, flow_series = frames[2], frames[4]
        seen = _seen(run, flows, place, columns.of(place), bottleneck, transfers, flow_series)
        found = _computed(of_run, seen, empty)
        groups = _of_groups(of_group, seen, empty, found, labels[place], algorithms[place])
        summary = {
            "backend": run.backend.name,
            "backend_version": run.backend.version,
            "backend_digest": run.backend.digest,
            "simulated_s": run.simulated_seconds,
            "window_s": _window(run),
            "flow_count": place.stop - place.start,
            "long_lived_count": int(seen.flows["long_lived"].sum()),
            "bottleneck_mbps": seen.bottleneck_mbps,
            **found,
            "timeouts": _timeouts(seen),
            "never_established": _never_established(algorithms[place], seen),
            "aborted": int(aborted[place].sum()),
            "events": events,
            "data_packets_delivered": delivered,
            "request": run.request,
            "specification": run.text,
        }
        axes = {axis: label for axis, label in run.axes.items() if axis != BACKEND}  # a column of its own
        records.append(Record(run.key, axes, run.seed, summary, groups, *frames))
    return records


def _bottlenecks(results: RunResults) -> Iterator[dict[str, Any] | None]:
    """The first row of ``queues`` of each run; none of a run without queues."""
    places = list(results.places("queues"))
    firsts = pl.Series([place.start for place in places if place.start < place.stop], dtype=pl.UInt32())
    rows = results.frames["queues"][firsts].iter_rows(named=True)
    return (next(rows) if place.start < place.stop else None for place in places)


def _few(results: RunResults, name: str) -> Iterator[Rows]:
    """A frame of each run, as its rows if they are few."""
    if max(results.heights[name]) < backend.FEW:
        rows = results.frames[name].rows()
        return (rows[place] for place in results.places(name))
    return (frame.rows() if frame.height < backend.FEW else frame for frame in results.each(name))


def _seen(
    run: Run,
    flows: pl.DataFrame,
    place: slice,
    columns: Arrays,
    bottleneck: dict[str, Any] | None,
    transfers: pl.DataFrame,
    flow_series: pl.DataFrame,
) -> Observation:
    spec = run.specification
    rate, opens = specification.bottleneck_rate(spec), spec["warm_up"] / PICOSECONDS
    in_window, samples = NO_TRANSFERS, None
    if transfers.height or flow_series.height:  # Most short runs have neither.
        own = flows.slice(place.start, place.stop - place.start)
        in_window = of_transfers(own, transfers.filter(pl.col("completed") >= opens))
        samples = sampled(flow_series, own, opens, latest_change(spec["links"]) / PICOSECONDS)
    return observation(columns, in_window, samples, _window(run), None if rate is None else rate / 1e6, bottleneck)


def _window(run: Run) -> float:
    """The length of the measuring window, s."""
    return (run.specification["duration"] - run.specification["warm_up"]) / PICOSECONDS


def assemble(records: Sequence[Record], axes: Sequence[str], names: Sequence[str] = EVERY) -> dict[str, pl.DataFrame]:
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
        case "programs":
            rows = [list(record.programs) for record in records]
            return _labelled(labels, rows, PROGRAMS)
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


def _never_established(algorithms: Sequence[str], seen: Observation) -> int:
    """TCP flows whose SYN was never answered; rate-based sources, and who sends datagrams, open no connection."""
    never = np.isnan(seen.flows["established"])
    if not never.any():
        return 0
    rate_based = {control.name for control in catalogue.load().congestion_controls if control.rate_based} | {*backend.DATAGRAMS}
    return sum(algorithms[flow] not in rate_based for flow in np.flatnonzero(never).tolist())


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
