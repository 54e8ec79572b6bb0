"""A backend that invents results instantly, for tests of everything around a backend."""

import threading
from collections.abc import Callable

import pytest

from sojourn import _engine, backends, specification
from sojourn.backends.identity import Identity
from sojourn.backends.result import FLOW_SERIES, FLOWS, QUEUE_SERIES, QUEUES, RunResult, frame
from sojourn.errors import InputError, RunCancelled
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification


def invented(
    run: RunSpecification, throughput_bytes: Callable[[int, int], int] = lambda seed, flow: 1000 * seed + flow
) -> RunResult:
    """Returns a result whose flows delivered ``throughput_bytes(seed, flow)`` bytes; all values of its queues are the seed, which
    of 100 arrivals is per cent."""
    nodes, seed = run["nodes"], run["seed"]
    flows = [group for group in run["flows"] for _ in range(group["count"])]
    long_lived = zip(run["flows"], _engine.long_lived(specification.text(specification.simulated(run))), strict=True)
    links = [link for link in run["links"] if link["queue"] is not None]
    flow_columns = {name: [0] * len(flows) for name in FLOWS} | {
        "flow": list(range(len(flows))),
        "flow_group": [flow["group"] for flow in flows],
        "sender": [nodes[flow["from"]] for flow in flows],
        "receiver": [nodes[flow["to"]] for flow in flows],
        "algorithm": [flow["source"]["name"] for flow in flows],
        "completed": [None] * len(flows),
        "stopped": [None] * len(flows),
        "aborted": [None] * len(flows),
        "bytes_delivered": [throughput_bytes(seed, flow) for flow in range(len(flows))],
        "long_lived": [counts for group, counts in long_lived for _ in range(group["count"])],
    }
    queue_columns = {name: [seed] * len(links) for name in QUEUES} | {
        "link": [f"{nodes[link['from']]}->{nodes[link['to']]}" for link in links],
        "discipline": [link["queue"]["name"] for link in links],
        "arrivals": [100] * len(links),
        "departures": [100 - seed] * len(links),
    }
    queue_series = {"time": [0.0], "link": ["left->right"], "packets": [seed], "bytes": [1500 * seed], "drops": [0]}
    return RunResult(
        flows=frame(flow_columns, FLOWS),
        queues=frame(queue_columns, QUEUES),
        queue_series=frame(queue_series, QUEUE_SERIES),
        flow_series=frame({name: [] for name in FLOW_SERIES}, FLOW_SERIES),
        events=seed,
        data_packets_delivered=seed,
    )


#: The identity of the real backend, for results that it is to continue.
SIMULATOR = backends.named("simulator").identity

INVENTOR = Identity("inventor", "1.0", "0123456789abcdef")


class Inventor:
    """Invents results; fails, waits to be cancelled or refuses for the seeds given."""

    def __init__(
        self,
        failing: dict[int, Exception] | None = None,
        waiting: frozenset[int] = frozenset(),
        refused: frozenset[int] = frozenset(),
        identity: Identity = INVENTOR,
        throughput_bytes: Callable[[int, int], int] = lambda seed, flow: 1000 * seed + flow,
    ) -> None:
        self.identity = identity
        self.failing = failing or {}
        self.waiting = waiting
        self.refused = refused
        self.throughput_bytes = throughput_bytes
        self.cancelled = threading.Event()
        self.started: list[RunSpecification] = []

    def check(self, run: RunSpecification, _given: Given, /) -> None:
        if run["seed"] in self.refused:
            raise InputError("it makes no sense")

    def run(self, run: RunSpecification, /) -> RunResult:
        self.started.append(run)
        if run["seed"] in self.failing:
            raise self.failing[run["seed"]]
        if run["seed"] in self.waiting:
            assert self.cancelled.wait(timeout=30)
            raise RunCancelled("cancelled")
        return invented(run, self.throughput_bytes)

    def cancel(self) -> None:
        self.cancelled.set()


class RatePerAlgorithm(Inventor):
    """A backend in which New Reno's flows deliver 1, Compound's 2 and CUBIC's 3 Mbit/s, times the seed."""

    def run(self, run: RunSpecification, /) -> RunResult:
        window = (run["duration"] - run["warm_up"]) // 10**12
        rates = [{"newreno": 1, "compound": 2, "cubic": 3}[flow["source"]["name"]] for flow in run["flows"]]
        counts = [flow["count"] for flow in run["flows"]]
        by_flow = [rate for rate, count in zip(rates, counts, strict=True) for _ in range(count)]
        return invented(run, lambda seed, flow: by_flow[flow] * seed * window * 10**6 // 8)


def register(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Inventor], name: str = backends.DEFAULT) -> None:
    """Registers a backend under a name for one test."""
    monkeypatch.setitem(backends.BACKENDS, name, make)
