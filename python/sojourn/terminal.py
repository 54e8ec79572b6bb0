"""A shell on a host of a run's network, whose terminal is the caller's."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sojourn import backends, names
from sojourn.backends.linux.backend import Linux
from sojourn.errors import InputError
from sojourn.runs import Run
from sojourn.specification import FOLDER, Json, RunSpecification
from sojourn.units import PICOSECONDS

#: How long somebody may look around, in ps.
LONGEST = 3600 * PICOSECONDS

#: Bash where it is installed, which has a better line to type on, and otherwise whatever is called sh.
_COMMAND = ["sh", "-c", "command -v bash >/dev/null && exec bash --norc -i; exec sh -i"]

#: What a terminal sends at the end of what is typed (termios(3), VEOF).
_END = b"\x04"


def shell(run: Run, host: str, backend: str) -> None:
    """Carries out a run with a shell on a host until the shell ends; it talks to standard input and output.

    Raises:
        InputError: there is no such host, or the backend has no shells.
    """
    carrier = backends.named(backend)
    if not isinstance(carrier, Linux):
        raise InputError(f"--backend {backend}: only a real kernel has a shell; write linux")
    names.check("host", [host], run.specification["nodes"], InputError, "--at: ")
    specified = _with_shell(run.specification, host)
    ours, guests = pty.openpty()
    tty.setraw(guests)
    failed: list[BaseException] = []

    def carry_out() -> None:
        try:
            carrier.shell(specified, len(specified["programs"]) - 1, guests)
        except BaseException as error:
            failed.append(error)
        finally:
            os.close(guests)

    with suppress(OSError):
        fcntl.ioctl(
            guests, termios.TIOCSWINSZ, fcntl.ioctl(sys.stdin.fileno(), termios.TIOCGWINSZ, struct.pack("4H", 0, 0, 0, 0))
        )
    thread = threading.Thread(target=carry_out)
    with _raw(sys.stdin.fileno()):
        thread.start()
        _copy(ours, thread)
        carrier.cancel()
        thread.join()
    os.close(ours)
    if failed:
        raise failed[0]


def _with_shell(run: RunSpecification, host: str) -> RunSpecification:
    """The run with the shell as its last program, and with other hosts that answer it."""
    others = run.get("programs", [])
    places = run.get("places", {FOLDER: str(Path.cwd())})
    common: Json = {"environment": {}, "start": 0, "stop": None, "expect": "any", "cpu": None, "root": None, "keep": []}
    taken = {program["host"] for program in others}
    ends = {end for link in run["links"] for end in (link["from"], link["to"])}
    single = [node for node in sorted(ends) if sum(link["from"] == node for link in run["links"]) == 1]
    own = run["nodes"].index(host)
    # A host is known to others if it has a program.
    idle = [{**common, "name": "idle", "host": node, "command": ["true"]} for node in single if node not in taken and node != own]
    environment = {"TERM": os.environ.get("TERM", "dumb"), "PS1": f"{host}:\\w\\$ "}
    shell = {**common, "name": "shell", "host": own, "command": _COMMAND, "environment": environment}
    return {**run, "duration": max(run["duration"], LONGEST), "programs": [*others, *idle, shell], "places": places}


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Meanwhile each key goes to the guest, which shows it."""
    if not os.isatty(terminal):
        yield
        return
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _copy(guest: int, thread: threading.Thread) -> None:
    """Copies what is typed to the guest, and what that says to standard output, until the run has ended."""
    given = [sys.stdin.fileno()]
    while True:
        is_over = not thread.is_alive()
        ready, _, _ = select.select([guest, *given], [], [], 0 if is_over else 0.1)
        if guest in ready:
            try:
                said = os.read(guest, 1 << 16)
            except OSError:
                return
            os.write(sys.stdout.fileno(), said)
        elif is_over:
            return
        if given and given[0] in ready:
            typed = os.read(given[0], 1 << 16)
            os.write(guest, typed or _END)
            if not typed:
                given = []
