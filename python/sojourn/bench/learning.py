"""Learning: steps of environments for each CPU second, what Python adds to a step, and what a second thread brings."""

import statistics
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target, values

if TYPE_CHECKING:
    from sojourn.environment import BottleneckVector

#: Environments of the vector.
TOGETHER = 64

#: Steps of all of them.
STEPS = 600

#: What the environments are: one flow at the rate of its bottleneck, asked at each round trip.
SCENARIO: dict[str, Any] = {
    "name": "learning",
    "duration": "1000 s",
    "stack": "linux-6",
    "network": {
        "dumbbell": {
            "senders": [{"name": "sender", "rate": "1 Gbit/s", "delay": "5 ms"}],
            "receivers": [{"name": "receiver", "rate": "1 Gbit/s"}],
            "bottleneck": {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"name": "droptail", "limit": "1 BDP"}},
        }
    },
    "flows": [
        {
            "from": "sender",
            "to": "receiver",
            "tcp": {"agent": True, "interval": "1 rtt", "action": {"name": "rate", "least": "1 Mbit/s"}, "reward": "pcc"},
        }
    ],
}

#: The rate that the agents set, in bits of payload a second: nearly that of the bottleneck.
RATE = 19e6


class Timed:
    """The engine of a vector, with the seconds that it took."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.seconds = 0.0

    def step(self, *arguments: Any) -> None:
        """As the engine's own."""
        began = time.perf_counter()
        self._engine.step(*arguments)
        self.seconds += time.perf_counter() - began


def missing() -> str | None:
    """What is missing to measure it."""
    return None if find_spec("gymnasium") and find_spec("pettingzoo") else "gymnasium or pettingzoo is not installed"


def measure(extent: Extent, notify: Notify) -> Part:
    """Steps a vector of environments on one thread and on two, in turn."""
    steps = max(2, round(STEPS * min(1.0, extent.scale)))
    rows: list[Row] = []
    for turn in range(extent.repeat):
        for threads in (1, 2):
            notify(f"learning: {threads} of 2 threads, {turn + 1} of {extent.repeat}")
            rows.append(_stepped(threads, steps))

    def middle(of: str, threads: int) -> float:
        return statistics.median(values([row for row in rows if row["threads"] == threads], of))

    return Part(
        title=f"Learning: {TOGETHER} environments of one flow each, asked at each round trip",
        method=(
            f"{steps} steps of all, on one thread and on two, in turn; medians of {extent.repeat}. Python's share of a step "
            f"is what is left without the call into the engine, over the {TOGETHER} environments."
        ),
        measurements=[
            Measurement("steps for each CPU second", middle("steps_a_cpu_second", 1), "steps"),
            Measurement("data packets for each CPU second", middle("packets_a_cpu_second", 1), "packets"),
            Measurement("Python in a step", middle("python_microseconds_a_step", 1), "us", Target("at most", 20.0)),
            Measurement(
                "speed with two threads",
                middle("steps_a_second", 2) / middle("steps_a_second", 1),
                "times",
                Target("at least", 1.8),
            ),
        ],
        rows=rows,
    )


def _stepped(threads: int, steps: int) -> Row:
    from sojourn.environment import BottleneckVector

    environments = BottleneckVector(SCENARIO, TOGETHER, threads=threads)
    environments.reset(seed=1)
    actions = np.full((TOGETHER, 1), RATE)
    engine = _timed(environments)
    packets, cpu, wall = 0.0, time.process_time(), time.perf_counter()
    for _ in range(steps):
        *_, infos = environments.step(actions)
        packets += float((infos["throughput"] * infos["seconds"]).sum())
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    total = steps * TOGETHER
    return {
        "threads": threads,
        "steps": total,
        "packets_a_step": packets / 8 / 1448 / total,
        "steps_a_second": total / wall,
        "steps_a_cpu_second": total / cpu,
        "packets_a_cpu_second": packets / 8 / 1448 / cpu,
        "python_microseconds_a_step": (wall - engine.seconds) / total * 1e6,
    }


def _timed(environments: "BottleneckVector") -> Timed:
    """Has the calls of a vector into the engine timed."""
    runs: Any = environments._open()
    engine = runs._engine = Timed(runs._engine)
    return engine
