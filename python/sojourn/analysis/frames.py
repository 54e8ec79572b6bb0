"""The frames of results: their names, and the columns of each."""

from collections.abc import Sequence

import polars as pl

from sojourn import metrics
from sojourn.backends.columns import COLUMNS, Column
from sojourn.backends.result import as_schema
from sojourn.metrics.metric import Metric
from sojourn.names import BACKEND

#: The frames of a result, which are also the names of its files.
NAMES = ("runs", "groups", "flows", "queues", "transfers", "series")

#: A frame of which a directory without rows has no file: few runs have programs, and results of earlier builds had no such frame.
OPTIONAL = ("programs",)
EVERY = (*NAMES, *OPTIONAL)

_MADE_BY = "what computed the run beside the backend's name: its version, and a hash of its code"

#: The columns of ``runs`` before the metrics, and after them.
_RUNS = (
    Column("backend_version", "String", "", _MADE_BY),
    Column("backend_digest", "String", "", _MADE_BY),
    Column("simulated_s", "Float64", "s", "duration and T"),
    Column("window_s", "Float64", "s", "duration and T"),
    Column("flow_count", "UInt32", "", "flows of all kinds"),
    Column("long_lived_count", "UInt32", "", "[long-lived flows](#long-lived-flows), which Jain's index is taken over"),
    Column("bottleneck_mbps", "Float64", "Mbit/s", "rate of the first link that has a discipline"),
)
_RUNS_REST = (
    Column("timeouts", "UInt64", "", "sum over flows"),
    Column("never_established", "UInt32", "", "TCP flows without `established`"),
    Column("aborted", "UInt32", "", "flows that gave up, over the whole run"),
    Column("events", "UInt64", "", "events the engine processed, over the whole run"),
    Column(
        *("data_packets_delivered", "UInt64", "packets"),
        "data packets that reached the receiving host, retransmissions included, over the whole run",
    ),
    Column(
        *("request", "String", ""),
        "hash of the specification, the same for every backend: it pairs the results of two backends",
    ),
    Column("specification", "String", "", "the complete specification as JSON in base units: ps, B, bit/s"),
)

#: The same of ``groups``.
_GROUPS = (
    Column("flow_group", "String", "", "name of the group"),
    Column("algorithm", "String", "", "its congestion controls, joined by `+`"),
    Column("flow_count", "UInt32", "", "flows of the group"),
    Column("long_lived_count", "UInt32", "", "its [long-lived flows](#long-lived-flows)"),
)
_GROUPS_REST = (Column("timeouts", "UInt64", "", "sum over the flows of the group"),)


def found(name: str) -> list[Column]:
    """The columns of a frame that tell what was found."""
    if name == "runs":
        return [*_RUNS, *map(_of_metric, metrics.of_run()), *_RUNS_REST]
    if name == "groups":
        return [*_GROUPS, *map(_of_metric, metrics.of_group()), *_GROUPS_REST]
    return COLUMNS["recorded" if name == "series" else name]  # Samples in long form are as what algorithms record.


def _of_metric(metric: Metric) -> Column:
    return Column(metric.name, "Float64", metric.unit, metric.definition)


def own(name: str) -> pl.Schema:
    """The same as polars has them."""
    return as_schema(found(name))


def columns(name: str) -> pl.Schema:
    """The columns of a frame that follow the run's key, its axes and its seed: what made it, and what is the frame's own."""
    return pl.Schema({BACKEND: pl.String(), **own(name)})


def metrics_of(name: str) -> list[str]:
    """The metrics among the columns of a frame; files of other versions may have fewer or more."""
    return [metric.name for metric in {"runs": metrics.of_run, "groups": metrics.of_group}.get(name, list)()]


def schema(name: str, axes: Sequence[str]) -> pl.Schema:
    """The columns of a frame in a campaign with these axes."""
    return pl.Schema({"key": pl.String(), **dict.fromkeys(axes, pl.String()), "seed": pl.Int64(), **columns(name)})
