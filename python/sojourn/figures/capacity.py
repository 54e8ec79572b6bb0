"""What the bottleneck can carry over time, what flows receive of it, and how long it takes to send what waits for it.

The capacity comes from the specification, so that it is the same whatever carried out the run.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from sojourn.specification import RunSpecification, bottleneck, link_name, only_way, rate_steps
from sojourn.units import PICOSECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: What is told apart.
CAPACITY, THROUGHPUT = "capacity", "throughput"


@dataclass(frozen=True)
class Bottleneck:
    """The first link of a run that has a queue."""

    #: What ``series`` calls it.
    name: str
    #: What it can have carried, in bits, up to some moments, in s; linear between them.
    times: "Floats"
    carried: "Floats"
    specification: RunSpecification

    def between(self, moments: "Floats") -> "Floats":
        """The mean rate between each two moments that follow one another, bit/s."""
        return np.diff(np.interp(moments, self.times, self.carried)) / np.diff(moments)

    def time_to_send(self, waiting: "Floats", moments: "Floats") -> "Floats":
        """How long it takes from a moment on to send so many bits, s; no number where that is not done before the end."""
        sent = np.interp(moments, self.times, self.carried) + waiting
        # The first of several moments if it carries nothing between them; the rest is half a bit lost to rounding.
        place = np.clip(np.searchsorted(self.carried, sent - 0.5), 1, len(self.carried) - 1)
        before, after = self.carried[place - 1], self.carried[place]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (sent - before) / (after - before)
        until = self.times[place - 1] + share * (self.times[place] - self.times[place - 1])
        until[sent > self.carried[-1] + 0.5] = np.nan
        return np.where(waiting == 0, 0, until - moments)

    def crossed(self, sender: str, receiver: str) -> bool:
        """Whether no other way leads from one node to another."""
        link = bottleneck(self.specification)
        return link is not None and only_way(self.specification, link, sender, receiver)


def bottlenecks(specifications: Iterable[tuple[str, str]]) -> dict[str, Bottleneck]:
    """The bottlenecks of runs by key, from their specifications.

    A run is left out that has none, or whose bottleneck changes at times that its seed decides.
    """
    found: dict[str, Bottleneck] = {}
    curves: dict[str, tuple[Floats, Floats]] = {}
    for key, text in specifications:
        specification: RunSpecification = json.loads(text)
        link = bottleneck(specification)
        if link is None or any(_is_drawn(each) for each in link["changes"]):
            continue
        end = specification["duration"]
        same = json.dumps([end, link["rate"], link["changes"], link.get("rate_trace")])
        if same not in curves:
            curves[same] = _curve(link, end)
        found[key] = Bottleneck(link_name(specification, link), *curves[same], specification)
    return found


def _is_drawn(change: Mapping[str, Any]) -> bool:
    """Whether the seed decides when a rate changes."""
    return change["rate"] is not None and bool(change.get("repeat", {}).get("spread"))


def _curve(link: dict[str, Any], end: int) -> "tuple[Floats, Floats]":
    steps = rate_steps(link, end)
    times = np.array([*(at for at, _ in steps), end]) / PICOSECONDS
    rates = np.array([float(rate) for _, rate in steps])
    return times, np.concatenate([[0.0], np.cumsum(rates * np.diff(times))])


def delays(samples: pl.DataFrame, links: Mapping[str, Bottleneck]) -> pl.DataFrame:
    """Samples of the bytes that wait for bottlenecks, with the time that it takes to send them as ``value``, s."""
    made = []
    for (key, which), lines in samples.partition_by("key", "which", as_dict=True, maintain_order=True).items():
        link = links.get(str(key))
        if link is not None and link.name == which:
            waiting, moments = lines["value"].to_numpy() * 8, lines["time"].to_numpy()
            made.append(lines.with_columns(value=pl.Series(link.time_to_send(waiting, moments)).fill_nan(None)))
    return pl.concat(made).drop_nulls("value") if made else samples.clear()


def rates(received: pl.DataFrame, flows: pl.DataFrame, links: Mapping[str, Bottleneck]) -> pl.DataFrame:
    """The capacity of bottlenecks between two samples, and the throughput of all flows over them, Mbit/s.

    ``received`` has the bytes that each flow has received, as ``series`` has them; it returns with ``CAPACITY`` and
    ``THROUGHPUT`` as ``which``.
    """
    ends = flows.select("key", "sender", "receiver").unique()
    crosses = [key in links and links[key].crossed(sender, receiver) for key, sender, receiver in ends.iter_rows()]
    over = flows.join(ends.filter(pl.Series(crosses, dtype=pl.Boolean)), on=["key", "sender", "receiver"], how="semi")
    over = over.select("key", pl.col("flow").cast(pl.String).alias("which"))
    made = []
    for (key,), samples in received.partition_by("key", as_dict=True, maintain_order=True).items():
        together = samples.join(over, on=["key", "which"], how="semi", maintain_order="left")
        summed = together.group_by("time", maintain_order=True).agg(pl.col("value").sum()).sort("time")
        if summed.height < 2:
            continue
        moments, of_all = summed["time"].to_numpy(), summed["value"].to_numpy()
        labels = samples.head(1).drop("time", "which", "value")
        for name, values in ((CAPACITY, links[str(key)].between(moments)), (THROUGHPUT, np.diff(of_all * 8) / np.diff(moments))):
            drawn = pl.DataFrame({"time": moments[1:], "which": name, "value": values / 1e6})
            made.append(labels.join(drawn, how="cross").select(samples.columns))
    return pl.concat(made) if made else received.clear()
