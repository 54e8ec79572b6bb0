"""What the metrics of a run are computed from."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.metrics.formulas import throughput_mbps
from sojourn.metrics.kinds import KINDS
from sojourn.metrics.over_time import Samples


class Arrays(dict[str, Any]):
    """The columns of a frame as arrays, by name: of numbers as floats, where null is not a number; of truth values as such.

    Most metrics have no values in most runs, so a column becomes an array when it is first asked for.
    """

    def __init__(self, array: Callable[[str], NDArray[Any]], **known: NDArray[Any]) -> None:
        super().__init__(known)
        self._array = array

    @classmethod
    def of_frame(cls, frame: pl.DataFrame, **known: NDArray[Any]) -> Self:
        """Those of a frame, and some besides."""
        return cls(lambda name: _array(frame[name]), **known)

    def __missing__(self, name: str) -> NDArray[Any]:
        array = self[name] = self._array(name)
        return array

    def of(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> "Arrays":
        """The same of some rows."""
        return Arrays(lambda name: self[name][rows])


@dataclass(frozen=True)
class Observation:
    """The flows that a metric is taken of, which are all of a run or one group of them, and the run's bottleneck."""

    #: The columns of ``flows``, and ``throughput``, Mbit/s.
    flows: Arrays
    #: The same of all flows of the run.
    all_flows: Arrays
    #: The columns of ``transfers`` of those completed in the window. Of ``kind`` it is the place in ``kinds.KINDS``; besides
    #: there is ``query``, the number of the one that each answers, or -1; see ``queries``.
    transfers: Arrays
    #: Bytes delivered over time; none if the run has no samples of flows.
    samples: Samples | None
    #: Rate of the bottleneck, Mbit/s; none if no link has a discipline.
    bottleneck_mbps: float | None
    #: The row of ``queues`` of the bottleneck, the first link with a discipline; none if no link has one.
    bottleneck: dict[str, Any] | None

    def of(self, flows: NDArray[np.intp]) -> "Observation":
        """The same of some of the flows, by their places."""
        return replace(
            self,
            flows=self.flows.of(flows),
            transfers=self.transfers.of(np.isin(self.transfers["flow"], flows))
            if len(self.transfers["flow"])
            else self.transfers,
            samples=None if self.samples is None else self.samples.of(flows),
        )


def observe(
    flows: pl.DataFrame, queues: pl.DataFrame, transfers: pl.DataFrame, window: float, bottleneck_mbps: float | None
) -> Observation:
    """Prepares a run's frames for metrics of all its flows; without its samples, so that there are no values over time.

    Args:
        flows: all flows of the run.
        queues: all queues of the run, in order of declaration.
        transfers: the transfers that were completed in the measuring window.
        window: length of the measuring window, s.
        bottleneck_mbps: rate of the first link that has a discipline, Mbit/s.
    """
    bottleneck = queues.row(0, named=True) if queues.height else None
    return observation(Arrays.of_frame(flows), of_transfers(flows, transfers), None, window, bottleneck_mbps, bottleneck)


def observation(
    flows: Arrays,
    transfers: Arrays,
    samples: Samples | None,
    window: float,
    bottleneck_mbps: float | None,
    bottleneck: dict[str, Any] | None,
) -> Observation:
    """The same of columns that are arrays."""
    flows["throughput"] = throughput_mbps(flows["bytes_delivered"], window)
    return Observation(flows, flows, transfers, samples, bottleneck_mbps, bottleneck)


def of_transfers(flows: pl.DataFrame, transfers: pl.DataFrame) -> Arrays:
    """The columns of a run's transfers."""
    if not transfers.height:
        return NO_TRANSFERS
    kinds = transfers["kind"].cast(pl.Enum(KINDS)).to_physical().to_numpy().astype(np.intp)
    return Arrays.of_frame(transfers, kind=kinds, query=queries(flows, transfers))


#: The columns of the transfers of most runs, which have none.
NO_TRANSFERS = Arrays(lambda _: np.empty(0))


def queries(flows: pl.DataFrame, transfers: pl.DataFrame) -> NDArray[np.intp]:
    """The number of the query that each transfer answers; -1 of those that answer none.

    A query is put to all flows of a group of several at the same moment, and each answers it once.
    """
    sizes = flows.group_by("flow_group").agg(pl.len().alias("flows_of_group"))
    asked = ["flow_group", "kind", "start"]
    found = transfers.join(sizes, on="flow_group", how="left", maintain_order="left").select(
        pl.when(
            (pl.col("flows_of_group") > 1)
            & (pl.len().over(asked) == pl.col("flows_of_group"))
            & (pl.col("flow").n_unique().over(asked) == pl.col("flows_of_group"))
        )
        .then(pl.struct(asked).rank("dense").cast(pl.Int64) - 1)
        .otherwise(-1)
    )
    return found.to_series().to_numpy().astype(np.intp)


def _array(column: pl.Series) -> NDArray[Any]:
    return (column if column.dtype == pl.Boolean else column.cast(pl.Float64)).to_numpy()


def places(labels: Iterable[str]) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """The groups that a label of each flow makes, in order of their first flows, and the places of their flows."""
    found: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        found.setdefault(label, []).append(place)
    for label, members in found.items():
        yield label, np.array(members, dtype=np.intp)
