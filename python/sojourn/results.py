"""The results of a campaign as frames.

The result of a run is kept as a ``Record`` until there are many: to label and to lay out the frames of many runs at once takes
a small part of the time that it takes run by run.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn import catalogue, metrics, specification
from sojourn.analysis import buffers, excess, repetition, transients
from sojourn.backends import result as backend
from sojourn.backends.result import QUEUES, RECORDED, TRANSFERS, RunResult
from sojourn.metrics.metric import Metric
from sojourn.metrics.observation import Observation, observe, places
from sojourn.metrics.over_time import latest_change
from sojourn.names import BACKEND
from sojourn.runs import Run
from sojourn.units import PICOSECONDS

#: The frames of a result, which are also the names of its files.
NAMES = ("runs", "groups", "flows", "queues", "transfers", "series")

#: The flows of a backend, and whether each is one that Jain's index is taken over.
FLOWS = pl.Schema({**backend.FLOWS, "long_lived": pl.Boolean()})

#: Samples in long form are as what algorithms record.
SERIES = RECORDED


def columns(name: str) -> pl.Schema:
    """The columns of a frame that follow the run's key, its axes and its seed: what made it, and what is the frame's own."""
    return pl.Schema({BACKEND: pl.String(), **_own(name)})


def _own(name: str) -> pl.Schema:
    """The columns that tell what was found."""
    of_backend = {"queues": QUEUES, "transfers": TRANSFERS}
    return {"runs": _runs(), "groups": _groups(), "flows": FLOWS, **of_backend, "series": SERIES}[name]


def metrics_of(name: str) -> list[str]:
    """The metrics among the columns of a frame; files of other versions may have fewer or more."""
    return [metric.name for metric in {"runs": metrics.of_run, "groups": metrics.of_group}.get(name, list)()]


def _runs() -> pl.Schema:
    return pl.Schema(
        {
            "backend_version": pl.String(),
            "backend_digest": pl.String(),
            "simulated_s": pl.Float64(),
            "window_s": pl.Float64(),
            "flow_count": pl.UInt32(),
            "long_lived_count": pl.UInt32(),
            "bottleneck_mbps": pl.Float64(),
            **{metric.name: pl.Float64() for metric in metrics.of_run()},
            "timeouts": pl.UInt64(),
            "never_established": pl.UInt32(),
            "aborted": pl.UInt32(),
            "events": pl.UInt64(),
            "data_packets_delivered": pl.UInt64(),
            "request": pl.String(),
            "specification": pl.String(),
        }
    )


def _groups() -> pl.Schema:
    return pl.Schema(
        {
            "flow_group": pl.String(),
            "algorithm": pl.String(),
            "flow_count": pl.UInt32(),
            "long_lived_count": pl.UInt32(),
            **{metric.name: pl.Float64() for metric in metrics.of_group()},
            "timeouts": pl.UInt64(),
        }
    )


class Result:
    """What a campaign found.

    Every frame starts with the run's ``key``, its axes and its ``seed``, and is sorted by these. The ``backend`` follows, unless
    it is one of the axes. ``runs`` has a row a run: its specification and its metrics, which ``sojourn.metrics.METRICS``
    explains; ``groups`` a row a run and group of its flows, with its metrics; ``flows`` a row a flow; ``queues`` a row a link
    with a queue; ``transfers`` a row a completed transfer of limited size; ``series`` the samples over time in long form: time
    (s), kind (queue or flow), which one, measure, value. Each is a polars frame, read when it is first asked for;
    ``frame.to_pandas()`` makes it a pandas one.
    """

    def __init__(
        self, scan: Callable[[str], pl.LazyFrame], axes: Sequence[str] = (), file: Callable[[str], Path | None] = lambda _: None
    ) -> None:
        self._scan = scan
        #: What tells its cells apart: columns of every frame.
        self.axes = axes
        #: The Parquet file that has the rows of a frame, and perhaps those of other campaigns; none of results in memory.
        self.file = file
        #: What made it, where that is known; figures carry it.
        self.command = ""
        #: The axes and their labels as the scenario file orders them, where that is known.
        self.order: Mapping[str, Sequence[str]] = {}
        #: What shows it in a notebook, where that is known.
        self.html: Callable[[Result], str] | None = None
        #: What shows it elsewhere, where that is known.
        self.text: Callable[[Result], str] | None = None

    @cached_property
    def repeated(self) -> pl.DataFrame:
        """The cells whose runs are the same whatever their seed; see ``repetition.repeated``."""
        return repetition.repeated(self.scan("runs"), self.axes)

    def counted(self, name: str) -> pl.LazyFrame:
        """The rows of a frame that count for intervals: where seeds change nothing, only those of the first seed."""
        return repetition.once(self.scan(name), self.repeated)

    @cached_property
    def note(self) -> str | None:
        """What is said, on one line, of cells whose seeds change nothing; none if there are no such cells."""
        return repetition.note(self.repeated, self.scan("runs"))

    @cached_property
    def limited(self) -> list[str]:
        """One line each on flows that a buffer of the receiver or the sender limited, if there are such flows."""
        return buffers.notes(self.scan)

    @cached_property
    def excess(self) -> str | None:
        """One line on runs with more throughput over the bottleneck than its rate; None if there are none."""
        return excess.note(self.scan)

    @cached_property
    def transients(self) -> pl.DataFrame:
        """How long each run looks transient, by MSER-5; see ``transients.found``."""
        return transients.found(self.scan, self.axes)

    @cached_property
    def unsettled(self) -> str | None:
        """One line on runs whose samples look transient for longer than ``warm_up``; None if there are none."""
        return transients.note(self.scan, self.axes)

    def columns(self, name: str, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of a frame, for less memory than all of them need: specifications are long."""
        return self.scan(name).select(columns).collect()

    def __repr__(self) -> str:
        return super().__repr__() if self.text is None else self.text(self)

    def _repr_html_(self) -> str | None:
        """What a notebook shows; its own way of showing objects if this is nothing."""
        return None if self.html is None else self.html(self)

    def scan(self, name: str) -> pl.LazyFrame:
        """A frame by its name, of which only what is selected is read."""
        return self._scan(name)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row a run."""
        return self.scan("runs").collect()

    @cached_property
    def groups(self) -> pl.DataFrame:
        """A row a run and group of its flows."""
        return self.scan("groups").collect()

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A row a flow."""
        return self.scan("flows").collect()

    @cached_property
    def queues(self) -> pl.DataFrame:
        """A row a link with a queue."""
        return self.scan("queues").collect()

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """A row a completed transfer."""
        return self.scan("transfers").collect()

    @cached_property
    def series(self) -> pl.DataFrame:
        """A row a sample."""
        return self.scan("series").collect()


def beside(found: Result) -> Result:
    """The same results with their backend as the last of the axes, so that those of several are told apart like other cells."""
    axes = [*found.axes, BACKEND]

    def scan(name: str) -> pl.LazyFrame:
        labels = ["key", *axes, "seed"]
        return found.scan(name).select(*labels, pl.exclude(labels)).sort(*axes, "seed", maintain_order=True)

    return Result(scan, axes, found.file)


def of_backend(found: Result, backend: str) -> Result:
    """Those results of ``beside`` that a backend made, without that axis."""
    axes = [axis for axis in found.axes if axis != BACKEND]

    def scan(name: str) -> pl.LazyFrame:
        labels = ["key", *axes, "seed"]
        return found.scan(name).filter(pl.col(BACKEND) == backend).select(*labels, pl.exclude(labels))

    return Result(scan, axes, found.file)


def by_backend(found: Result) -> Iterator[tuple[str | None, Result]]:
    """The results of each backend alone, with its name, in order; of results that do not tell backends apart all, without one."""
    if BACKEND not in found.axes:
        yield None, found
        return
    there = found.columns("runs", [BACKEND])[BACKEND].unique().sort().to_list()
    first = [name for name in found.order.get(BACKEND, ()) if name in there]
    for name in [*first, *(name for name in there if name not in first)]:
        yield name, of_backend(found, name)


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
    long_lived = pl.Series("long_lived", specification.long_lived(spec))
    flows = result.flows.with_columns(long_lived.gather(result.flows["flow"]))
    in_window = result.transfers
    if in_window.height:
        in_window = in_window.filter(pl.col("completed") >= spec["warm_up"] / PICOSECONDS)
    seen = observe(
        flows,
        result.queues,
        in_window,
        window,
        None if rate is None else rate / 1e6,
        result.flow_series,
        spec["warm_up"] / PICOSECONDS,
        latest_change(spec["links"]) / PICOSECONDS,
    )
    series = result.queue_series, result.flow_series, result.recorded
    summary, groups = _summary(run, result, seen, window), _of_groups(flows, seen)
    axes = {axis: label for axis, label in run.axes.items() if axis != BACKEND}  # a column of its own
    return Record(run.key, axes, run.seed, summary, groups, flows, result.queues, result.transfers, *series)


def schema(name: str, axes: Sequence[str]) -> pl.Schema:
    """The columns of a frame in a campaign with these axes."""
    return pl.Schema({"key": pl.String(), **dict.fromkeys(axes, pl.String()), "seed": pl.Int64(), **columns(name)})


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
    known = _own(name)
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
                "long_lived_count": int(of_group.long_lived.sum()),
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
        "long_lived_count": int(seen.long_lived.sum()),
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
