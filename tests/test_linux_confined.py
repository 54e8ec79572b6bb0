"""A kernel that runs programs is confined by the host: whoever has taken it over cannot change files, nor use the network."""

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.linux import cache, guest

KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest()]

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not KERNELS, reason="no Linux kernel is built by this version; `sojourn linux build` makes one"),
]

#: What a process does that stands for a kernel that a hostile program has taken over. It prints the errors it gets.
ATTEMPTS = """
import json, os, socket, sys
outside, existing = sys.argv[1:]
attempts = {
    "write": lambda: open(outside, "w"),
    "change": lambda: open(existing, "r+"),
    "truncate": lambda: os.truncate(existing, 0),
    "link": lambda: os.link(existing, "linked"),
    "mode": lambda: os.chmod(existing, 0o777),
    "tcp": lambda: socket.socket(),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "ipv6": lambda: socket.socket(socket.AF_INET6),
    "packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "unix": lambda: socket.socket(socket.AF_UNIX),
    "datagrams": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "memory": lambda: open(f"/proc/{os.getppid()}/mem", "rb"),
    "signal": lambda: os.kill(os.getppid(), 0),
    "write here": lambda: open("here", "w"),
    "stream": lambda: socket.socketpair(),
    "read": lambda: open(existing).read(),
    "own signal": lambda: os.kill(os.getpid(), 0),
    "remove": lambda: os.remove(existing),
}
found = {}
for name, attempt in attempts.items():
    try:
        attempt()
        found[name] = None
    except OSError as error:
        found[name] = error.errno
print(json.dumps(found))
"""

#: By the version of Landlock from which on the host's kernel can see to it (landlock(7)); 0: filters of system calls do.
REFUSED = {
    0: {"mode", "tcp", "udp", "ipv6", "packets", "unix", "datagrams"},
    1: {"write", "change", "link", "remove", "memory"},
    3: {"truncate"},
    6: {"signal"},
}


def landlock() -> int:
    """Returns the version of Landlock that this machine has; 0 if it has none."""
    version: int = ctypes.CDLL(None).syscall(444, None, 0, 1)
    return max(version, 0)


def attempts(folder: Path, *, confined: bool) -> dict[str, int | None]:
    """Returns the errors of what a process attempts from a folder of its own, with a file beside that folder."""
    own, memory = folder / "run", folder / "memory"
    own.mkdir(exist_ok=True)
    memory.mkdir(exist_ok=True)
    existing = folder / "existing"
    existing.write_text("text")
    loaded = {"LD_PRELOAD": str(KERNELS[0].folder / cache.SEEDED), "TMPDIR": str(memory)}
    done = subprocess.run(
        [sys.executable, "-c", ATTEMPTS, str(folder / "outside"), str(existing)],
        cwd=own,
        env=loaded | ({"SOJOURN_CONFINED": "1"} if confined else {}),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, int | None] = json.loads(done.stdout)
    return found


def test_confined_process_changes_nothing(tmp_path: Path) -> None:
    """A confined process gets an error for each attempt that the host's kernel can refuse, and none for what a kernel needs."""
    refused = {name for version, names in REFUSED.items() if version <= landlock() for name in names}
    found = attempts(tmp_path, confined=True)
    assert {name for name, error in found.items() if error is not None} == refused
    if landlock() >= 3:
        assert (tmp_path / "existing").read_text() == "text"


def test_other_runs_are_not_confined(tmp_path: Path) -> None:
    """Without programs nothing is refused that this user may do; so it is the confinement that refuses."""
    found = attempts(tmp_path, confined=False)
    # These need more than a user without rights has on some machines.
    assert {name for name, error in found.items() if error is not None} <= {"packets", "memory"}
