"""Measures one specification in a process of its own.

Its CPU time and peak memory are therefore its own, and it starts from the same state whatever was measured before. No other run
shares the machine with it.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn import _engine
from sojourn.errors import RunFailed
from sojourn.specification import RunSpecification
from sojourn.specification import text as text_of

WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Execution:
    """What calls of ``_engine.run`` with one specification cost, and what each of them did.

    The seconds are one value a call, CPU seconds being those of the whole process. A call is everything from the
    specification's text to columns of Python values. ``memory_bytes`` is the first call's peak resident set less what was
    resident before it.
    """

    data_packets: int
    drops: int
    retransmissions: int
    timeouts: int
    fast_recoveries: int
    memory_bytes: int
    cpu_seconds: list[float]
    wall_seconds: list[float]

    @property
    def cost(self) -> float:
        """CPU seconds for each delivered data packet, by the median call."""
        return statistics.median(self.cpu_seconds) / self.data_packets


def measure(
    specification: RunSpecification, calls: int = 1, prefix: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Execution:
    """Measures a number of calls of the engine, one after the other.

    ``prefix`` is a command that runs the process; ``environment`` is added to its environment.
    """
    command = [*prefix, sys.executable, str(WORKER), _engine.__file__, str(calls)]
    execution = Execution(**json.loads(output("a run", command, text_of(specification), environment)))
    if execution.data_packets == 0:
        raise RunFailed("bench: a run delivered no packet; give more --seconds")
    return execution


def output(what: str, command: Sequence[str], given: str = "", environment: Mapping[str, str] | None = None) -> str:
    """What a command prints; ``environment`` is added to its environment."""
    variables = {**os.environ, **(environment or {})}
    ended = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=variables)
    if ended.returncode != 0:
        complaint = ended.stderr.strip().splitlines() or [f"its process ended with status {ended.returncode}"]
        raise RunFailed(f"bench: {what} failed: {complaint[-1]}")
    return ended.stdout
