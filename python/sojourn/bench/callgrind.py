"""Instructions of a run, counted by callgrind.

Counts do not vary with the machine's load as seconds do, so that a change of a per cent shows. They do vary with the compiler.
"""

import re
import shutil
import tempfile
from pathlib import Path

from sojourn.bench import process
from sojourn.errors import InputError, RunFailed
from sojourn.specification import RunSpecification

#: The line of a callgrind profile that has the total.
TOTAL = re.compile(r"^summary: (\d+)", re.MULTILINE)


def valgrind() -> str | None:
    """The path of valgrind, if it is installed."""
    return shutil.which("valgrind")


def missing(option: str) -> str | None:
    """Why what an option asks for cannot be counted, on one line; none if it can."""
    return None if valgrind() is not None else f"bench {option}: needs valgrind (Debian's package valgrind)"


def check(option: str) -> None:
    """Checks that what an option asks for can be counted."""
    if (line := missing(option)) is not None:
        raise InputError(line)


def one_run(specification: RunSpecification) -> tuple[int, int]:
    """Delivered data packets and instructions of one run.

    It is made once by one process and twice by another, whose difference has nothing of Python's start.
    """
    once, twice = (counted(specification, calls) for calls in (1, 2))
    return once[0], twice[1] - once[1]


def counted(specification: RunSpecification, calls: int) -> tuple[int, int]:
    """Delivered data packets of a run, and instructions of a process that makes it ``calls`` times."""
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "callgrind.out"
        prefix = [valgrind() or "valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={profile}"]
        # Python's hashes of strings would differ from process to process, and its instructions with them.
        execution = process.measure(specification, calls, prefix, {"PYTHONHASHSEED": "0"})
        total = TOTAL.search(profile.read_text(encoding="utf-8"))
    if total is None:
        raise RunFailed("bench: callgrind counted no instructions")
    return execution.data_packets, int(total[1])
