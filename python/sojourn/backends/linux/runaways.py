"""Ends runs whose programs run away: they compute and no virtual time passes, or have more memory than can be had.

Virtual time passes while all processes wait, when one looks at the clock and when a system call fails. A program that does none
of this stops it for ever. The guest tells how far the run is (guest/limits.c). What programs compute meanwhile, the host's kernel
counts: each process of the guest is one of its own.
"""

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from sojourn.errors import RunFailed

#: The variable of a program's environment with its number in the scenario: what it starts has it too.
VARIABLE = "SOJOURN_PROGRAM"

#: Processor time, in s, that programs may use while no virtual time passes: more than a browser takes for a whole page.
LONGEST = 60.0

#: The same after which it is looked for a cause. A process of the guest whose pages are not in order in the guest's memory has a
#: mapping for each, and its kernel tries again and again to make one more than the host's allows.
_SUSPICIOUS = 1.0

#: The file that is as many bytes long as ms of the run have passed.
_CLOCK = "clock"

#: What the guest's kernel says when it has killed a process for want of memory (mm/oom_kill.c).
_KILLED = re.compile(r"Out of memory: Killed process \d+ \((.*?)\) total-vm")

#: A program's first strings are at the end of its stack, below the highest address that it has itself.
_STACK, _PAGE = 32 * 4096, 4096

_UNKNOWN = "a program"

_TICKS = os.sysconf("SC_CLK_TCK")


class Watch:
    """Looks after the programs of a run.

    Args:
        folder: that of the run.
        kernel: the process that is the kernel.
        names: what programs are called.
    """

    def __init__(self, folder: Path, kernel: int, names: Sequence[str]) -> None:
        self._folder, self._kernel, self._names = folder, kernel, names
        self._time: int | None = None
        #: What was used when time last passed: by all, and by each process.
        self._all, self._each = 0.0, dict[int, float]()

    def look(self) -> None:
        """Looks whether all is well.

        Raises:
            RunFailed: it is not; the text says which program is to blame.
        """
        console = (self._folder / "console").read_text(errors="replace")
        if killed := _KILLED.search(console):
            raise RunFailed(f"programs: the guest's memory is full, and its kernel has ended {killed[1]}")
        with contextlib.suppress(OSError, ValueError):
            self._look_at_time()

    def progress(self) -> str:
        """How far the run is, and which program has computed most."""
        if self._time is None:
            return "no program had started"
        used = {process: _used(process) for process in _children(self._kernel)}
        busiest = max(used, key=lambda process: used[process], default=None)
        most = "" if busiest is None else f"; {self._name(busiest)} had computed most, for {used[busiest]:.0f} s"
        return f"virtual time was at {self._time / 1000:g} s{most}"

    def _look_at_time(self) -> None:
        time = (self._folder / _CLOCK).stat().st_size
        each = {process: _used(process) for process in _children(self._kernel)}
        used = _used(self._kernel, with_ended=True) + sum(each.values())
        if time != self._time:
            self._time, self._all, self._each = time, used, each
            return
        stood_still = used - self._all
        most = max(each, key=lambda process: each[process] - self._each.get(process, 0), default=None)
        if most is not None and stood_still > _SUSPICIOUS and len(_areas(most)) >= (pieces := _most_pieces()):
            allowed = f"this machine lets a process have {pieces} (vm.max_map_count)"
            raise RunFailed(f"programs: the memory of {self._name(most)} is in too many pieces: {allowed}")
        if stood_still > LONGEST:
            who = _UNKNOWN if most is None else self._name(most)
            stood = f"for {LONGEST:g} s of processor time virtual time stood still at {time / 1000:g} s"
            passes = "it passes when a program waits or looks at the clock"
            raise RunFailed(f"programs: {who} computes without end: {stood}; {passes}")

    def _name(self, process: int) -> str:
        strings = list(_strings(process))
        numbers = [text.partition("=")[2] for text in strings if text.startswith(f"{VARIABLE}=")]
        file = Path(strings[-1]).name if strings else _UNKNOWN
        if numbers and numbers[-1].isdecimal() and int(numbers[-1]) < len(self._names):
            name = self._names[int(numbers[-1])]
            return name if name == file else f"{name} ({file})"
        return file


def _fields(process: int) -> list[str]:
    """The fields of ``/proc/PID/stat`` after the process's name (proc_pid_stat(5))."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _used(process: int, *, with_ended: bool = False) -> float:
    """Processor time in s that a process has used, with that of its children that have ended if that is asked for."""
    try:
        fields = _fields(process)
    except OSError:
        return 0.0
    return sum(int(ticks) for ticks in fields[11 : 15 if with_ended else 13]) / _TICKS


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _areas(process: int) -> list[list[str]]:
    """The fields of ``/proc/PID/maps`` (proc_pid_maps(5))."""
    return [line.split() for line in Path(f"/proc/{process}/maps").read_text().splitlines()]


def _most_pieces() -> int:
    return int(Path("/proc/sys/vm/max_map_count").read_text())


def _strings(process: int) -> Iterator[str]:
    """The strings with which a process of the guest began, as far as they are in its memory: arguments, environment, file."""
    with contextlib.suppress(OSError):
        # The highest area of its own: those of the guest's kernel have other rights (arch/um/kernel/skas/stub_exe.c).
        ends = [int(area[0].partition("-")[2], 16) for area in _areas(process) if area[1] == "rwxs"]
        if not ends:
            return
        content = b""
        with Path(f"/proc/{process}/mem").open("rb") as memory:
            for place in range(ends[-1] - _PAGE, ends[-1] - _STACK, -_PAGE):
                try:
                    memory.seek(place)
                    content = memory.read(_PAGE) + content
                except OSError:
                    break
        yield from (part.decode(errors="replace") for part in content.rstrip(b"\0").split(b"\0"))
