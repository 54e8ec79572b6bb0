"""Recent values of a run: differences between two of its moments."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn import catalogue
from sojourn.backends.backend import Moment
from sojourn.catalogue import Algorithm, StateValue
from sojourn.plugins.declared import declared
from sojourn.plugins.source import AGENT, of_json
from sojourn.scenario import agents
from sojourn.specification import RunSpecification, link_name

#: How many moments the history holds.
HISTORY = 200

#: Moments that values are over: one alone is too short for flows that send once a round trip.
LATELY = 10


@dataclass(frozen=True)
class Queue:
    """Current and recent values of a queue. Values that need queue statistics are None without them."""

    link: str
    packets: int
    #: Recent rate of the link, headers included.
    mbps: float | None
    #: Mean sojourn time of recently sent packets; also None if there were none.
    sojourn: float | None
    #: Packets dropped and marked since the start of the run.
    drops: int | None
    marks: int | None

    @property
    def counts(self) -> list[str]:
        """Drops and marks with their names, as far as they are known."""
        known = (("drops", self.drops), ("marks", self.marks))
        return [f"{count} {name}" for name, count in known if count is not None]


@dataclass(frozen=True)
class Past:
    """One moment of a queue's history; drops and marks are those since the moment before."""

    time: float
    packets: int
    sojourn: float | None
    drops: int
    marks: int


class Recent:
    """Follows the moments of a run; its values are over the latest ``lately`` of them."""

    def __init__(self, run: RunSpecification, lately: int) -> None:
        self._flows = described(run)
        self._told = _told(run)
        self._moments: deque[Moment] = deque(maxlen=lately + 1)
        self._history: dict[str, deque[Past]] = {}
        #: Moments seen so far.
        self.seen = 0

    def add(self, moment: Moment) -> None:
        """The next moment."""
        before = _rows(self._moments[-1]) if self._moments else {}
        for link, row in _rows(moment).items():
            earlier = before.get(link)
            drops, marks = (0 if row[name] is None else _gain(row, earlier, name) for name in ("drops", "marks"))
            past = Past(moment.time, row["packets"], _sojourn(row, earlier), int(drops), int(marks))
            self._history.setdefault(link, deque(maxlen=HISTORY)).append(past)
        self._moments.append(moment)
        self.seen += 1

    @property
    def now(self) -> float:
        """The time of the latest moment, in simulated s."""
        return self._moments[-1].time

    @property
    def _elapsed(self) -> float:
        return self.now - (self._moments[0].time if len(self._moments) > 1 else 0.0)

    @property
    def _earlier(self) -> Moment | None:
        return self._moments[0] if len(self._moments) > 1 else None

    def queues(self) -> list[Queue]:
        """The queues, in the order of the run's result."""
        before = {} if self._earlier is None else _rows(self._earlier)
        return [
            Queue(
                link=link,
                packets=row["packets"],
                mbps=None if row["bytes_sent"] is None else _gain(row, before.get(link), "bytes_sent") * 8e-6 / self._elapsed,
                sojourn=_sojourn(row, before.get(link)),
                drops=row["drops"],
                marks=row["marks"],
            )
            for link, row in _rows(self._moments[-1]).items()
        ]

    def history(self, link: str) -> list[Past]:
        """The latest moments of a queue, the newest last."""
        return list(self._history[link])

    def states(self) -> dict[str, str]:
        """The inner states that the run asks for, in words, of each queue and flow that tells one."""
        found: dict[str, list[str]] = {}
        for row in self._moments[-1].states.iter_rows(named=True):
            owner, known = self._told[row["kind"], row["which"]]
            value = known.get(row["measure"], StateValue(name=row["measure"]))
            found.setdefault(owner, []).append(f"{value.name} {value.format(row['value'])}")
        return {owner: ", ".join(values) for owner, values in found.items()}

    def flows(self) -> pl.DataFrame:
        """The flows: flow, group, algorithm, recent goodput in Mbit/s, cwnd in bytes and rtt in s."""
        latest = self._moments[-1].flows
        gained = latest["bytes_delivered"].cast(pl.Int64)
        if self._earlier is not None:
            gained -= self._earlier.flows["bytes_delivered"].cast(pl.Int64)
        return self._flows.with_columns((gained * 8e-6 / self._elapsed).alias("mbps"), latest["cwnd"], latest["rtt"])


def described(run: RunSpecification) -> pl.DataFrame:
    """Number, group and algorithm of each flow of a run."""
    entries = [entry for entry in run["flows"] for _ in range(entry["count"])]
    return pl.DataFrame(
        {
            "flow": range(len(entries)),
            "group": [entry["group"] for entry in entries],
            "algorithm": [entry["source"]["name"] for entry in entries],
        },
        schema={"flow": pl.UInt32(), "group": pl.String(), "algorithm": pl.String()},
    )


#: Who tells an inner state, and the values that the catalogue knows of it.
Teller = tuple[str, Mapping[str, StateValue]]


def _told(run: RunSpecification) -> dict[tuple[str, str], Teller]:
    """Those that may tell an inner state, by the kind and the name that samples have; own files say what theirs is."""
    known = catalogue.load()
    controls = {entry.name: {value.name: value for value in entry.state} for entry in known.congestion_controls}
    disciplines = {entry.name: {value.name: value for value in entry.state} for entry in known.queues}
    if any(run["probe"].get(state) for state in ("queue_state", "flow_state")):
        for plugin in run.get("plugins", ()):
            for entries, entry in zip((controls, disciplines), _own(plugin), strict=True):
                if entry is not None:
                    entries[entry.name] = {value.name: value for value in entry.state}
    tellers: dict[tuple[str, str], Teller] = {}
    for link in run["links"]:
        if link["queue"] is not None:
            name, discipline = link_name(run, link), link["queue"]["name"]
            tellers["queue", name] = (f"{name} {discipline}", disciplines.get(discipline, {}))
    for flow, _, algorithm in described(run).iter_rows():
        tellers["flow", str(flow)] = (f"flow {flow} {algorithm}", controls.get(algorithm, {}))
    return tellers


def _own(plugin: Mapping[str, Any]) -> tuple[Algorithm | None, Algorithm | None]:
    """The congestion control and the discipline that a plugin of a run is."""
    if plugin["language"] == AGENT:
        return agents.algorithm(plugin["file"], "flow"), agents.algorithm(plugin["file"], "queue")
    own = declared(of_json(dict(plugin)))
    return own.control, own.queue


def by_group(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows of each group and algorithm together: how many, their rate in all, the means of cwnd and rtt."""
    return flows.group_by("group", "algorithm", maintain_order=True).agg(
        pl.len().alias("flows"), pl.col("mbps").sum(), pl.col("cwnd", "rtt").mean()
    )


#: A row of ``Moment.queues``.
Row = Mapping[str, Any]


def _rows(moment: Moment) -> dict[str, Row]:
    return {row["link"]: row for row in moment.queues.iter_rows(named=True)}


def _gain(row: Row, earlier: Row | None, name: str) -> float:
    gain: float = row[name] - (0 if earlier is None else earlier[name])
    return gain


def _sojourn(row: Row, earlier: Row | None) -> float | None:
    """The mean sojourn time of the packets sent since an earlier look, or since the start."""
    sent = 0 if row["departures"] is None else _gain(row, earlier, "departures")
    return _gain(row, earlier, "sojourn_sum") / sent if sent else None
