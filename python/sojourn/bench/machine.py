"""The machine that the benchmark ran on."""

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sojourn.backends import simulator


@dataclass(frozen=True)
class Machine:
    """A machine, the versions of the software, and the date (UTC)."""

    processor: str
    cores: int
    system: str
    python: str
    engine: str
    date: str


def this() -> Machine:
    """This machine, now."""
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        system=platform.platform(),
        python=platform.python_version(),
        engine=str(simulator.IDENTITY),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _processor() -> str:
    try:
        facts = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        models = [line.partition(":")[2].strip() for line in facts if line.startswith("model name")]
    except OSError:
        models = []
    return models[0] if models else platform.processor() or platform.machine()
