"""What programs on a real kernel cannot do: stop virtual time, eat the guest, change the machine or reach its network."""

import os
import re
import shutil
import socket
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import scenario_data
from sojourn.backends.linux import machine, programs, runaways
from sojourn.backends.linux.backend import Linux
from sojourn.errors import RunFailed
from sojourn.linux import cache, guest
from sojourn.scenario import from_data

KERNELS = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest() and kernel.has_seccomp]

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(
        not KERNELS, reason="no Linux kernel from 6.16 on is built by this version; `sojourn linux build` makes one"
    ),
]


def programs_of(*given: dict[str, Any], duration: str = "1 s") -> pl.DataFrame:
    """Returns what became of programs on the host of the small scenario that sends."""
    data = scenario_data(stack="linux-6", duration=duration, warm_up="0 s")
    data["flows"], data["programs"] = [], [{"at": "a", **program} for program in given]
    return sojourn.run(from_data(data, "test"), backend=Linux(KERNELS[0].name)).programs


def shell(script: str, **settings: Any) -> dict[str, Any]:
    """Returns a program that is a script of the shell."""
    return {"run": ["sh", "-c", script], "expect": "any", **settings}


@pytest.mark.parametrize("script", ["sleep 0.25; while :; do :; done", "sleep 0.25; exec yes >/dev/null"])
def test_program_that_stops_time_is_told(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop without a system call, and one whose calls let no time pass, end the run with the program's name and the time."""
    monkeypatch.setattr(runaways, "LONGEST", 1.0)
    with pytest.raises(RunFailed, match=r"spinner.* computes without end.*virtual time stood still at 0\.2 s"):
        programs_of({"run": ["sleep", "10"]}, shell(script, name="spinner"))


def test_program_that_looks_at_the_clock_goes_on() -> None:
    """A program that polls the clock lets time pass: each look takes 256 ns (arch/um, TIMER_MULTIPLIER)."""
    script = "import time\ncount = 0\nend = time.monotonic() + 0.01\nwhile time.monotonic() < end: count += 1\nprint(count)"
    (count,) = programs_of({"run": ["python3", "-c", script]})["output"]
    assert int(count) == pytest.approx(0.01 / 256e-9, rel=0.01)


def test_program_that_polls_for_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is too slow, because a program polls the clock, says how far it was and which program it is."""
    monkeypatch.setattr(machine, "_LEAST_PATIENCE", 4)
    monkeypatch.setattr(machine, "_PATIENCE", 0)
    script = "import time\nwhile True: time.monotonic()"
    with pytest.raises(
        RunFailed, match=r"not finished after 4 s: virtual time was at 0(\.\d)? s; poller \(python3\) had computed most"
    ):
        programs_of({"run": ["python3", "-c", script], "name": "poller"}, {"run": ["sleep", "30"]}, duration="60 s")


def test_hour_passes() -> None:
    """A program that sleeps for an hour ends an hour later."""
    row = programs_of({"run": ["sleep", "3600"]}, duration="3601 s").row(0, named=True)
    assert row["status"] == 0
    assert row["end"] - row["start"] == pytest.approx(3600, abs=0.001)


def test_silence_counts() -> None:
    """Little's law holds of a burst between silences: packets in the queue, on average, are arrivals times sojourn times."""
    script = (
        "import socket, time\n"
        "time.sleep(3)\n"
        "to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for _ in range(100): to.sendto(bytes(1222), ('{b}', 9))"
    )
    data = scenario_data(stack="linux-6", duration="10 s", warm_up="1 s")
    data["network"]["dumbbell"]["bottleneck"]["queue"] = {"name": "droptail", "limit": "1000 packets"}
    data["flows"], data["programs"] = [], [{"at": "a", "run": ["python3", "-c", script]}, {"at": "b", "run": "true"}]
    queue = sojourn.run(from_data(data, "test"), backend=Linux(KERNELS[0].name)).queues.row(0, named=True)
    assert queue["departures"] >= 100
    # The queue is looked at every 4 ms.
    assert queue["mean_packets"] * 9 == pytest.approx(queue["departures"] * queue["sojourn_mean"], rel=0.05)
    # The last waits for 99 others, less the time in which they came.
    assert queue["sojourn_max"] == pytest.approx(99 * 1250 * 8 * (1 / 10e6 - 1 / 100e6), rel=0.01)


def test_computing_takes_no_time() -> None:
    """A program that only computes has an infinitely fast processor."""
    row = programs_of({"run": ["python3", "-c", "print(sum(range(3000000)))"]}).row(0, named=True)
    assert row["output"] == f"{3000000 * 2999999 // 2}\n"
    assert row["end"] - row["start"] < 0.001


def test_program_that_forks_without_end_is_told() -> None:
    """The guest has so many processes and no more; a run that needs all of them fails, and says whose they are."""
    with pytest.raises(RunFailed, match=r"programs: \d+ processes and threads are too many; \d+ processes are called sleep"):
        programs_of(shell("while :; do sleep 1000 & done"))


def test_program_that_eats_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel ends the process that has most when there is no more memory, and the run fails with its name."""
    monkeypatch.setattr(programs, "MEMORY", 64)
    with pytest.raises(RunFailed, match=r"the guest's memory is full, and its kernel has ended python3"):
        programs_of({"run": ["python3", "-c", "all = []\nwhile True: all.append(bytearray(1 << 20))"]})


def test_memory_in_too_many_pieces_is_told() -> None:
    """Memory that is filled backwards takes a mapping of the host for each page, of which a process may have so many."""
    pieces = int(Path("/proc/sys/vm/max_map_count").read_text())
    if pieces > 100_000:
        pytest.skip("the guest has less memory than that many pages")
    memory = f"mmap.mmap(-1, {(pieces + 5000) << 12}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
    script = f"import mmap\nall = {memory}\nfor place in range(len(all) - 1, 0, -4096): all[place] = 1"
    with pytest.raises(RunFailed, match=r"the memory of python3 is in too many pieces: .* \(vm\.max_map_count\)"):
        programs_of({"run": ["python3", "-c", script]})


@pytest.mark.parametrize("whom", ["-1", "$PPID"])
def test_program_that_ends_the_guest_is_told(whom: str) -> None:
    """Root may send signals to all processes of the guest: a run whose own processes are ended fails and says so."""
    with pytest.raises(RunFailed, match="was ended, as by a signal of a program"):
        programs_of(shell(f"kill -KILL {whom}; sleep 100"))


def took(text: str) -> list[float]:
    """Returns the times in s that dd says."""
    return [float(found) for found in re.findall(r"copied, ([\d.e-]+) s", text)]


def test_system_calls_cost_what_is_said() -> None:
    """Two processes, each of 1000 reads and 1000 writes of 10 us, take 20 ms at once: each has a processor."""
    script = "for each in 1 2; do dd if=/dev/zero of=/dev/null bs=1 count=1000 & done; wait"
    free, slow = programs_of(shell(script), shell(script, cpu="10 us per system call"))["errors"]
    assert len(took(free)) == len(took(slow)) == 2
    assert max(took(free)) < 1e-3
    # The look at the clock and a few calls more are of the time.
    assert took(slow) == pytest.approx([0.02, 0.02], rel=0.005)


def test_threads_share_a_processor() -> None:
    """Two threads that make 500 calls of 10 us each take 10 ms together."""
    script = (
        "import os, threading, time\n"
        "def call():\n    for _ in range(500): os.getppid()\n"
        "threads = [threading.Thread(target=call) for _ in range(2)]\n"
        "start = time.monotonic()\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
        "print(time.monotonic() - start)"
    )
    (text,) = programs_of({"run": ["python3", "-c", script], "cpu": "10 us per system call"})["output"]
    # Threads that are started and joined make some calls of their own.
    assert 0.010 <= float(text) <= 0.0115


def test_costs_change_no_outcome() -> None:
    """A program whose calls cost has the status, the signals and the children that it has without a cost."""
    script = "trap 'echo stopped; exit 3' TERM; (kill -STOP $$; sleep 0.1; kill -CONT $$) & wait; echo on; sleep 100 & wait"
    plain, traced = (
        programs_of(shell(script, stop="500 ms", **cost)).row(0, named=True) for cost in ({}, {"cpu": "1 us per system call"})
    )
    assert plain["output"] == traced["output"] == "on\nstopped\n"
    for key in ("status", "signal", "stopped", "errors"):
        assert plain[key] == traced[key]
    assert traced["end"] == pytest.approx(plain["end"], abs=1e-3)


#: Leaves a root by another one below it, and looks for what the guest has outside (chroot(2), notes).
LEAVING = (
    'import os; os.mkdir("/tmp/below"); os.chroot("/tmp/below"); [os.chdir("..") for _ in range(64)]; os.chroot(".");'
    ' os.stat("/roots")'
)

#: What a program must not be able to do, as root of its own network; each prints "done" if it can.
FORBIDDEN = {
    "mounts the host's files": "mkdir /tmp/m && mount -t hostfs none /tmp/m -o /",
    "mounts memory": "mount -t tmpfs none /tmp",
    "makes its root writable": "mount -o remount,rw /",
    "makes devices": "mknod /tmp/d c 1 1",
    "reads the kernel's memory": "head -c 1 /dev/mem || head -c 1 /proc/kcore || head -c 1 /dev/kmem",
    "has the kernel start programs": "echo '|/bin/sh' > /proc/sys/kernel/core_pattern",
    "has the kernel load modules": "echo /bin/sh > /proc/sys/kernel/modprobe",
    "has the kernel tell of devices": "echo /bin/sh > /sys/kernel/uevent_helper",
    "changes the memory's limits": "echo 1 > /proc/sys/vm/overcommit_memory",
    "uses the kernel's keys": "echo b > /proc/sysrq-trigger",
    "speaks to the host's console": "for each in /proc/mconsole /dev/console /dev/ttyS0; do test -w $each && exit; done; false",
    "sets the kernel's exit status": "echo 3 > /proc/exitcode",
    "turns the machine off": "reboot -f || busybox poweroff -f || busybox halt -f",
    "sets the clock": "date -s 2030-01-01",
    "looks into the guest's first process": "ls /proc/1/root/ || cat /proc/1/environ || head -c 1 /proc/1/mem",
    "enters another network": "nsenter -t 1 -n true || ip netns add other",
    "makes spaces of names": "unshare -m true || unshare -U true || unshare -r true",
    "leaves its root": "python3 -c '" + LEAVING + "'",
    "has the right to administer": "python3 -c 'import ctypes; assert ctypes.CDLL(None).prctl(23, 21)'",
    "raises its limits": "sh -c 'ulimit -Hn 10000000'",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_program_has_no_rights_beyond_its_network(what: str) -> None:
    """Each attempt fails in a shell whose user is root, and the program goes on."""
    row = programs_of(shell(f"( {FORBIDDEN[what]} ) 2>/dev/null && echo done; echo on")).row(0, named=True)
    assert row["output"].splitlines()[-1:] == ["on"]
    assert "done" not in row["output"]


def test_program_changes_no_file_of_the_machine(tmp_path: Path) -> None:
    """A program writes where it likes, sees what it wrote, and nothing of it is on the machine afterwards."""
    kept, removed, made = (tmp_path / name for name in ("kept", "removed", "made"))
    kept.write_text("kept")
    removed.write_text("removed")
    os.chmod(tmp_path, 0o777)
    script = f"echo changed > {kept}; chmod 777 {kept}; rm {removed}; echo made > {made}; cat {kept} {made}; ls {tmp_path}"
    if not str(tmp_path).startswith("/tmp/"):
        (output,) = programs_of(shell(script))["output"]
        assert output == "changed\nmade\nkept\nmade\n"
    else:
        # Programs have a /tmp of their own.
        (output,) = programs_of(shell(f"mkdir -p {tmp_path}; {script}"))["output"]
    assert kept.read_text() == "kept"
    assert kept.stat().st_mode & 0o777 == 0o644
    assert removed.read_text() == "removed"
    assert not made.exists()


def test_program_reaches_no_network_of_the_machine() -> None:
    """A server of the machine, and its name server, are not there for a program."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = (
            f"import socket\ntry: socket.create_connection(('127.0.0.1', {port}), 2)\nexcept OSError as error: print(error.errno)"
        )
        (output,) = programs_of({"run": ["python3", "-c", script]}, duration="4 s")["output"]
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert output == "111\n"


def test_program_sees_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable of the caller's environment is not in the program's, nor in that of any process that it may look at."""
    monkeypatch.setenv("SECRET_OF_CALLER", "c4f1e6")
    (output,) = programs_of(shell("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/cmdline"))["output"]
    assert "PATH=" in output
    assert "SECRET_OF_CALLER" not in output
    assert "c4f1e6" not in output


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_randomness_is_the_seed_s() -> None:
    """Random numbers, addresses and process ids are the same in each run of a seed."""
    random = "cat /proc/sys/kernel/random/boot_id; od -An -tx1 -N16 /dev/urandom; openssl rand -hex 16"
    script = f"{random}; cat /proc/self/maps; echo $$; date +%N"
    first, second = (programs_of(shell(script))["output"].item() for _ in range(2))
    assert first == second
    assert len(first.splitlines()) > 10
