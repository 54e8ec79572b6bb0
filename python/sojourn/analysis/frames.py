"""The frames of results: their names, and the columns of each."""

from collections.abc import Sequence

import polars as pl

from sojourn import metrics
from sojourn.backends.result import FLOWS, QUEUES, RECORDED, TRANSFERS
from sojourn.names import BACKEND

#: The frames of a result, which are also the names of its files.
NAMES = ("runs", "groups", "flows", "queues", "transfers", "series")

#: Samples in long form are as what algorithms record.
SERIES = RECORDED


def columns(name: str) -> pl.Schema:
    """The columns of a frame that follow the run's key, its axes and its seed: what made it, and what is the frame's own."""
    return pl.Schema({BACKEND: pl.String(), **own(name)})


def own(name: str) -> pl.Schema:
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


def schema(name: str, axes: Sequence[str]) -> pl.Schema:
    """The columns of a frame in a campaign with these axes."""
    return pl.Schema({"key": pl.String(), **dict.fromkeys(axes, pl.String()), "seed": pl.Int64(), **columns(name)})
