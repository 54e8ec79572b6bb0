"""The backend: runs on a Linux kernel that the user has built."""

import hashlib
import threading
from functools import cache as remember
from importlib import resources

from sojourn.backends.identity import Identity
from sojourn.backends.linux import machine, reading, refusals
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.plan import Plan, plan
from sojourn.backends.result import RunResult
from sojourn.errors import InputError
from sojourn.linux import cache, guest
from sojourn.linux.cache import Kernel
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification
from sojourn.units import PICOSECONDS

#: The start of the backend's names: ``linux:6.12`` is the kernel that is called 6.12.
PREFIX = "linux"

#: Memory that the guest of a run may have, in MiB: as much as the simulator's runs may take (decision 021).
MOST_MEMORY = 4096


class Linux:
    """Runs on a real Linux kernel.

    Args:
        name: of the kernel; without one, the only one that is built.

    Raises:
        InputError: there is none, or its guest was made by another version of Sojourn.
    """

    def __init__(self, name: str | None) -> None:
        self._kernel = cache.named(name)
        if self._kernel.program != guest.program_digest():
            raise InputError(
                f"the guest of linux:{self._kernel.name} is of another version of Sojourn; `{self._kernel.command}` makes it anew"
            )
        self._modules = self._kernel.modules
        self._cancelled = threading.Event()

    @property
    def identity(self) -> Identity:
        """The kernel, its configuration with its HZ, its guest, and the translation."""
        return Identity(f"{PREFIX}:{self._kernel.name}", self._kernel.version, _digest(self._kernel))

    def check(self, run: RunSpecification, given: Given, /) -> None:
        """See ``Backend.check``."""
        limitations = Limitations()
        try:
            translated = plan(run, limitations, self._modules)
        except Impossible as problem:
            raise refusals.refuse_impossible(problem, given) from None
        refusals.refuse(limitations, given)
        _check_memory(translated)

    def run(self, run: RunSpecification, /) -> RunResult:
        """See ``Backend.run``."""
        try:
            translated = plan(run, Limitations(), self._modules)
        except Impossible as problem:
            raise InputError(str(problem)) from None
        seconds = run["duration"] / PICOSECONDS
        text = machine.carry_out(self._kernel, translated.files, translated.memory, run["seed"], seconds, self._cancelled)
        return reading.result(run, translated, text)

    def cancel(self) -> None:
        """See ``Backend.cancel``."""
        self._cancelled.set()


def _check_memory(translated: Plan) -> None:
    if translated.memory > MOST_MEMORY:
        needs = f"{len(translated.flows)} flows need a guest with {translated.memory} MiB"
        raise InputError(f"flows: {needs}; a run on Linux may have {MOST_MEMORY} MiB")


@remember
def _digest(kernel: Kernel) -> str:
    found = hashlib.blake2b(digest_size=32)
    for part in (
        kernel.version,
        str(kernel.hz),
        kernel.configuration,
        kernel.kernel,
        kernel.guest,
        *(each.digest for each in kernel.added),
    ):
        found.update(part.encode() + b"\0")
    for file in sorted(resources.files(__package__).iterdir(), key=lambda each: each.name):
        if file.name.endswith(".py"):
            found.update(file.read_bytes())
    return found.hexdigest()
