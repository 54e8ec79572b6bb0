"""``sojourn shell``: what is typed at a terminal is carried out on a host of the network."""

import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest

from sojourn import backends, terminal
from sojourn.errors import InputError
from sojourn.runs import Run
from sojourn.specification import specify
from test_programs import kernel, on_a_kernel, scenario_of

SCENARIO = """
name = "home"
duration = "10 s"

[network.dumbbell]
senders = [{ name = "server", rate = "1 Gbit/s" }]
receivers = [{ name = "client", rate = "1 Gbit/s" }]
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "fq_codel" }

[[programs]]
at = "client"
run = "true"
"""

#: How long an answer is waited for, in s: only a broken shell takes so long.
PATIENCE = 60


def test_a_simulator_has_no_shell() -> None:
    """One line says what has one."""
    run = Run({}, 1, specify(scenario_of([{"at": "server", "run": "true"}]), 1), backends.named("simulator").identity)
    with pytest.raises(InputError, match="--backend simulator: only a real kernel has a shell"):
        terminal.shell(run, "server", "simulator")


def heard(screen: int, wanted: bytes) -> bytes:
    """Returns what a terminal says up to something that is waited for."""
    said, end = b"", time.monotonic() + PATIENCE
    while wanted not in said:
        assert time.monotonic() < end, said
        if select.select([screen], [], [], 0.1)[0]:
            said += os.read(screen, 4096)
    return said


class TestOnAKernel:
    """The shell itself."""

    pytestmark = on_a_kernel

    def test_a_shell_does_what_is_typed(self, tmp_path: Path) -> None:
        """It computes, the other host answers over the network (nobody listens there), and the command ends when it exits."""
        path = tmp_path / "home.toml"
        path.write_text(SCENARIO)
        process, screen = pty.fork()
        if not process:
            os.execv(
                sys.executable, [sys.executable, "-m", "sojourn", "shell", str(path), "--at", "server", "--backend", kernel()]
            )
        heard(screen, b"server:")
        os.write(screen, b"echo $((6*7))\n")
        heard(screen, b"42\r\n")
        call = "import socket; print(socket.socket().connect_ex(('client', 9)))"
        os.write(screen, f'python3 -c "{call}"\n'.encode())
        heard(screen, b"111\r\n")
        os.write(screen, b"exit\n")
        heard(screen, b"exit")
        assert os.waitpid(process, 0)[1] == 0
