"""The backend: runs on a Linux kernel that the user has built."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache as remember
from importlib import resources
from pathlib import Path

import polars as pl

from sojourn import _engine, specification
from sojourn.backends.identity import Identity
from sojourn.backends.linux import captures, commands, connections, machine, observed, outcomes, stack
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.machine import Machine
from sojourn.backends.linux.moments import WatchedRun
from sojourn.backends.linux.plan import Besides, Plan, plan
from sojourn.backends.result import RunResult
from sojourn.errors import InputError, RunFailed
from sojourn.linux import cache, guest, images
from sojourn.linux.cache import Kernel
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification
from sojourn.units import PICOSECONDS

#: The start of the backend's names: ``linux:6.12`` is the kernel that is called 6.12.
PREFIX = "linux"

#: Memory that the guest of a run may have, in MiB: as much as the simulator's runs may take (decision 021).
MOST_MEMORY = 4096


class Linux:
    """Runs on a real Linux kernel: that of a name or, without one, the only one that is built."""

    def __init__(self, name: str | None) -> None:
        self._kernel = cache.named(name)
        if self._kernel.program != guest.program_digest():
            raise InputError(
                f"the guest of linux:{self._kernel.name} is of another version of Sojourn; `{self._kernel.command}` makes it anew"
            )
        self._cancelled = threading.Event()

    @property
    def identity(self) -> Identity:
        """The kernel, its configuration with its HZ, its guest, and the translation."""
        return Identity(f"{PREFIX}:{self._kernel.name}", self._kernel.version, _digest(self._kernel))

    def check(self, run: RunSpecification, given: Given, /) -> None:
        stack.check_profiles(given.scenario)
        for program in given.scenario.programs:
            if program.image is not None:
                images.unpack(Path(program.root or ""), program.image)
        commands.check(run)
        limitations = Limitations()
        try:
            translated = self._plan(run, limitations, Besides())
        except Impossible as problem:
            raise problem.refused(given) from None
        limitations.refuse(given)
        if translated.memory > MOST_MEMORY:
            needs = f"{len(translated.flows)} flows need a guest with {translated.memory} MiB"
            raise InputError(f"flows: {needs}; a run on Linux may have {MOST_MEMORY} MiB")

    def run(self, run: RunSpecification, /) -> RunResult:
        translated, kernel = self._begin(run, Besides())
        with kernel as carried_out:
            return self._result(run, translated, carried_out)

    def step(self, run: RunSpecification, /) -> WatchedRun:
        return WatchedRun(run, lambda interval: self._begin(run, Besides(moments=interval)), self._cancelled)

    def capture(self, run: RunSpecification, link: int, path: Path, comment: str, /) -> int:
        translated, kernel = self._begin(run, Besides(capture=link))
        with kernel as carried_out:
            self._result(run, translated, carried_out)
            found = captures.packets(run, link, carried_out.folder)
            return _engine.write_packets(specification.text(specification.simulated(run)), link, str(path), comment, found)

    def connections(self, run: RunSpecification, interval: int, /) -> Iterator[pl.DataFrame]:
        """See ``Recording.connections``; all rows come after the run."""
        translated, kernel = self._begin(run, Besides(connections=interval))
        with kernel as carried_out:
            self._result(run, translated, carried_out)
            yield from connections.states(carried_out.folder)

    def shell(self, run: RunSpecification, program: int, terminal: int, /) -> None:
        """Carries out a run in which a program has a terminal, the end of a pseudoterminal, until that program ends."""
        translated = self._plan(run, Limitations(), Besides(terminal=program))
        with machine.started(self._kernel, translated, run["seed"], terminal) as carried_out:
            for _ in carried_out.looks(run["duration"] / PICOSECONDS, self._cancelled):
                pass
            carried_out.result()

    def _plan(self, run: RunSpecification, limitations: Limitations, besides: Besides) -> Plan:
        kernel = self._kernel
        return plan(run, limitations, kernel.modules, besides, version=kernel.numbers)

    def _begin(self, run: RunSpecification, besides: Besides) -> tuple[Plan, AbstractContextManager[Machine]]:
        """The plan of a run, and the kernel that is to carry it out."""
        try:
            translated = self._plan(run, Limitations(), besides)
        except Impossible as problem:
            raise InputError(str(problem)) from None
        return translated, machine.started(self._kernel, translated, run["seed"])

    def _result(self, run: RunSpecification, translated: Plan, carried_out: Machine) -> RunResult:
        try:
            for _ in carried_out.looks(run["duration"] / PICOSECONDS, self._cancelled):
                pass
            return observed.result(run, translated, carried_out.result(), carried_out.folder)
        except RunFailed as failed:
            failed.files = outcomes.files(run, carried_out.folder)
            raise

    def cancel(self) -> None:
        self._cancelled.set()


@remember
def _digest(kernel: Kernel) -> str:
    found = hashlib.blake2b(digest_size=32)
    built_of = kernel.version, str(kernel.hz), kernel.configuration, kernel.kernel, kernel.guest
    for part in (*built_of, *(each.digest for each in kernel.added)):
        found.update(part.encode() + b"\0")
    for file in sorted(resources.files(__package__).iterdir(), key=lambda each: each.name):
        if file.name.endswith(".py"):
            found.update(file.read_bytes())
    return found.hexdigest()
