"""Runs one specification a number of times and prints what it cost; a script for a process of its own.

Its arguments are the file of the compiled engine and the number of runs. It loads that file alone, since the Python packages that
Sojourn needs take longer to load than many a run lasts, and their memory is not the engine's.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any


def main(engine_file: str, calls: int) -> None:
    """Measures ``calls`` runs of the specification on stdin; prints JSON with lists of seconds, counts, and bytes."""
    engine, specification = _load(engine_file), sys.stdin.read()
    resident = _memory("VmRSS")
    cpu_seconds: list[float] = []
    wall_seconds: list[float] = []
    for call in range(calls):
        wall, cpu = time.perf_counter(), time.process_time()
        frames = engine.run(specification)
        cpu_seconds.append(time.process_time() - cpu)
        wall_seconds.append(time.perf_counter() - wall)
        if call == 0:
            counted = counts(frames) | {"memory_bytes": _memory("VmHWM") - resident}
    print(json.dumps({**counted, "cpu_seconds": cpu_seconds, "wall_seconds": wall_seconds}))


def _load(engine_file: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location("_engine", engine_file)
    if specification is None or specification.loader is None:
        raise ImportError(f"{engine_file} is not an extension module")
    engine = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(engine)
    return engine


def _memory(field: str) -> int:
    """A field of this process's memory, in bytes.

    Not ``ru_maxrss``: a process inherits that from its parent, whose peak would hide what a run adds.
    """
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


def counts(frames: dict[str, dict[str, Any]]) -> dict[str, int]:
    """What a run did, from the columns that the engine returns."""
    return {
        "data_packets": frames["summary"]["data_packets_delivered"],
        "drops": sum(frames["queues"]["total_drops"]),
        "retransmissions": sum(frames["flows"]["retransmissions"]),
        "timeouts": sum(frames["flows"]["timeouts"]),
        "fast_recoveries": sum(frames["flows"]["fast_recoveries"]),
    }


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
