"""Which processor a kernel runs on.

The kernel and the processes of its guest take turns: one waits in ``ptrace`` while the other runs. On one processor a turn
costs a context switch, on two a wake-up of the other: on one a run takes a third of the time.
"""

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

#: The field of ``/proc/PID/stat`` with the processor that a process last ran on, counted from its name's end (proc_pid_stat(5)).
_PROCESSOR_FIELD = 39 - 3

_running: Counter[int] = Counter()
_lock = threading.Lock()


@contextlib.contextmanager
def on_one(process: int) -> Iterator[None]:
    """Keeps a process, which may have ended, and those that it starts from now on, on one processor.

    Of the processors with the fewest kernels of this process, it is the one that the operating system chose, else the first.
    """
    with _lock:
        processor = _choose(os.sched_getaffinity(0), _chosen_by_system(process))
        _running[processor] += 1
    try:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(process, {processor})
        yield
    finally:
        with _lock:
            _running[processor] -= 1


def _choose(allowed: set[int], preferred: int | None) -> int:
    fewest = min(_running[each] for each in allowed)
    free = [each for each in sorted(allowed) if _running[each] == fewest]
    return preferred if preferred in free else free[0]


def _chosen_by_system(process: int) -> int | None:
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[_PROCESSOR_FIELD])
