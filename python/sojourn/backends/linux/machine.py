"""Runs a kernel: one process group a run, with a limit of time, that ends with it."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from sojourn.backends.linux import answers, folders, pace, processors, runaways
from sojourn.backends.linux.plan import Plan
from sojourn.errors import RunCancelled, RunFailed
from sojourn.linux import cache
from sojourn.linux.cache import Kernel

#: When the guest's clock begins, in ns since 1970: always the same.
EPOCH = 1_700_000_000 * 10**9

#: A run may take so many seconds, and so many for each second of the scenario's and each flow's.
_LEAST_PATIENCE, _PATIENCE = 300, 60

#: Between two looks whether a run has been cancelled, in s.
_LOOK = 0.2

#: What the kernel says when it ends a process since there is no memory left (mm/oom_kill.c, __oom_kill_process).
_EXHAUSTED = "Out of memory: Killed process"

#: Where the guest's memory may be, a file that is mapped and executed from, and the least room for it in MiB: a guest that
#: grows out of its file system dies without a word, and containers often have 64 MiB in the first of these.
_MEMORY_FOLDERS, _LEAST_ROOM = ("/dev/shm", "/tmp"), 512

#: What lines that tell of a failure have in them.
_SIGNS = ("panic", "error", "cannot", "failed", "denied", "mmap", "not functional")

#: What a failure comes from, by what User Mode Linux says (arch/um/os-Linux/start_up.c, arch/um/kernel/physmem.c; -12 is ENOMEM).
_HINTS = {
    "ptrace: Operation not permitted": "a container must allow ptrace",
    "SECCOMP userspace requested": "a container must allow filters of system calls (seccomp)",
    "errno = -12": "there is too little memory",
    # Out of memory, or out of room for the file that is the guest's memory.
    "SIGKILL": "there may be too little memory",
    "SIGBUS": "there may be too little room for the guest's memory",
    "SIGABRT": "there may be too little room for the guest's memory",
}

RESULT, NETWORK_LOG = "result", "network.log"

#: What the guest says when programs have gone too far.
_OF_PROGRAMS = "failed programs: "


class Machine:
    """A kernel that carries out a plan.

    Attributes:
        folder: what it was given, and what it writes.
    """

    def __init__(self, folder: Path, process: subprocess.Popen[bytes], programs: Sequence[str] = ()) -> None:
        self.folder = folder
        self._process = process
        self._programs = programs

    def looks(self, seconds: float, cancelled: threading.Event, interval: float = _LOOK) -> Iterator[None]:
        """Yields every ``interval``, in s, until the kernel has ended, whose run has so many seconds of its own."""
        patience = _LEAST_PATIENCE + _PATIENCE * seconds
        deadline = time.monotonic() + patience
        watch = runaways.Watch(self.folder, self._process.pid, self._programs) if self._programs else None
        while True:
            try:
                self._process.wait(interval)
                if watch is not None:
                    watch.look()
            except subprocess.TimeoutExpired:
                if cancelled.is_set():
                    raise RunCancelled("the run was cancelled") from None
                if time.monotonic() > deadline:
                    progress = f": {watch.progress()}" if watch is not None else ""
                    raise RunFailed(f"the kernel had not finished after {patience:.0f} s{progress}") from None
                if watch is not None:
                    watch.look()
                yield
            else:
                return

    def result(self) -> str:
        """What the guest wrote, once the kernel has ended."""
        return _result(self.folder, self._process.returncode)


@contextlib.contextmanager
def started(kernel: Kernel, plan: Plan, seed: int, terminal: int | None = None) -> Iterator[Machine]:
    """Has a kernel carry out a plan, whose guest is answered; at the end nothing of it is left.

    ``terminal`` is the end of a pseudoterminal that the guest's console has; then the guest goes no faster than the host's clock.
    """
    answer = plan.answer if terminal is None else pace.kept(plan.answer)
    with folders.of_run() as folder:
        for path, content in plan.files.items():
            (folder / path).write_text(content)
        for path, target in plan.seen.items():
            (folder / path).symlink_to(target)
        (folder / "guest").symlink_to(kernel.folder / cache.GUEST)
        with answers.given(answer, folder) as (to_ask, asked):
            with (folder / "console").open("wb") as console:
                process = subprocess.Popen(
                    _command(kernel, plan, terminal),
                    cwd=folder,
                    env={
                        **{"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(memory_folder())},
                        **{"LD_PRELOAD": str(kernel.folder / cache.SEEDED), "SOJOURN_SEED": str(seed)},
                        **to_ask,
                        # See confined.c: no boundary between a hostile program and its kernel is strong enough.
                        **({"SOJOURN_CONFINED": "1"} if plan.programs else {}),
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=console,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(*asked, *([] if terminal is None else [terminal])),
                )
            try:
                with processors.on_one(process.pid):
                    yield Machine(folder, process, plan.programs)
            finally:
                _end(process)


def _command(kernel: Kernel, plan: Plan, terminal: int | None = None) -> list[str]:
    """The kernel's command line, which enters its random numbers: it names nothing of the host."""
    return [
        str(kernel.folder / cache.KERNEL),
        f"mem={plan.memory}M",
        # Linux 6.12 takes no relative path (stat_file in fs/hostfs/hostfs_user.c).
        *("initrd=guest", "hostfs=/proc/self/cwd", "uml_dir=./machine"),
        # Only programs have a use for it, and it would send packets of its own.
        *([] if plan.seen else ["ipv6.disable=1"]),
        *([] if terminal is None else [f"con1=fd:{terminal},fd:{terminal}"]),
        *("con=null", "con0=null,fd:1", "ssl=null", "quiet", "panic=-1"),
        *(f"time-travel-start={EPOCH}", "time-travel=inf-cpu"),
        # With ptrace instead a run may have other bytes: which of the two it is must not depend on the host.
        *(["seccomp=on"] if kernel.has_seccomp else []),
    ]


def memory_folder() -> Path:
    """The folder for a guest's memory: that of ``TMPDIR`` or, without it, the first that will do."""
    asked = os.environ.get("TMPDIR")
    folders = (asked,) if asked else _MEMORY_FOLDERS
    faults = []
    for name in folders:
        if (fault := _fault(name)) is None:
            return Path(name)
        faults.append(f"{name} {fault}")
    raise RunFailed(f"no place for the guest's memory: {', '.join(faults)}; set TMPDIR to a folder with {_LEAST_ROOM} MiB")


def _fault(folder: str) -> str | None:
    """Why a guest's memory cannot be in a folder."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return "cannot be written to"
    system = os.statvfs(folder)
    if system.f_flag & os.ST_NOEXEC:
        return "is mounted noexec"
    room = system.f_bavail * system.f_frsize // 2**20
    return f"has {room} MiB" if room < _LEAST_ROOM else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the kernel and the processes of its guest, which are in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _result(folder: Path, status: int) -> str:
    result = folder / RESULT
    text = result.read_text() if result.exists() else ""
    if text.endswith("done\n"):
        return text
    if _OF_PROGRAMS in text:
        raise RunFailed(f"programs: {text.rpartition(_OF_PROGRAMS)[2].strip()}")
    last = text.rpartition("failed ")[2].strip() if "failed " in text else ""
    log = folder / NETWORK_LOG
    network = log.read_text().strip() if log.exists() else ""
    # What the guest's shell says of a process that was killed, and what it writes itself (init.sh).
    if network.split() == ["Killed", "failed"]:
        network = "the guest's own process was ended, as by a signal of a program"
    console = (folder / "console").read_text(errors="replace").strip()
    if _EXHAUSTED in console:
        network = "the guest has run out of memory; fewer flows, or smaller buffers or windows, take less"
    ended = f"exit status {status}" if status >= 0 else f"ended by {signal.Signals(-status).name}"
    reason = last or network or console or ended
    hint = next((f"; {hint}" for sign, hint in _HINTS.items() if sign in reason), "")
    raise RunFailed(f"the kernel could not carry it out: {_one_line(reason)}{hint}")


def _one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line.lower() for word in _SIGNS)]
    return (telling or lines or ["?"])[0][:300]
