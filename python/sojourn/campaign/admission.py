"""The memory of the machine, shared out among runs that are carried out at the same time."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition

#: The limit of the control group in which a container's processes are; ``max`` if it has none.
#: Source: https://docs.kernel.org/admin-guide/cgroup-v2.html, memory.max.
CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")


def of_machine() -> int:
    """Bytes of memory that the machine has, or that this container may use."""
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(there, int(CONTROL_GROUP.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return there


class Shares:
    """Lets a run begin as soon as it fits beside those under way, by their estimates; one that is alone always does.

    All may take ``total`` bytes together. ``notify`` is called with a line when a run waits for the first time.
    """

    def __init__(self, total: int, notify: Callable[[str], None]) -> None:
        self._total, self._notify = total, notify
        self._taken = 0
        self._told = False
        self._changed = Condition()

    @contextmanager
    def of(self, size: int) -> Iterator[None]:
        """Waits until a run of ``size`` bytes fits, and holds these while it is entered."""
        with self._changed:
            if self._taken and self._taken + size > self._total:
                if not self._told:
                    needs, has = (f"{each / 2**30:.2g} GiB" for each in (size, self._total))
                    self._notify(f"memory: a run may take {needs} and the machine has {has}; fewer runs are made at a time")
                self._told = True
                self._changed.wait_for(lambda: not self._taken or self._taken + size <= self._total)
            self._taken += size
        try:
            yield
        finally:
            with self._changed:
                self._taken -= size
                self._changed.notify_all()
