"""The guest of a kernel: its first file system, with the user's ``busybox`` and ``tc`` and Sojourn's own program."""

import hashlib
import subprocess
import tempfile
from importlib import resources
from pathlib import Path

from sojourn.errors import RunFailed
from sojourn.linux import archive, tools
from sojourn.linux.archive import Entry

#: Sojourn's program, of these files.
PROGRAM = (
    *("main.c", "network.c", "flow.c", "seen.c", "session.c", "queue.c", "changes.c", "tap.c", "capture.c", "delays.c"),
    *("programs.c", "roots.c", "costs.c", "limits.c"),
    *("observed.c", "headers.c", "sight.c", "waiting.c", "stream.c", "sockets.c"),
)
HEADERS = ("guest.h", "observed.h")

#: Folders that exist before anything is mounted.
FOLDERS = ("bin", "dev", "host", "proc", "sys", "tmp", "usr", "usr/bin")


#: The guest's first process, and what is loaded before the kernel's libraries: it seeds random numbers, restores registers of
#: processes that the kernel does not know, asks the host, and confines a kernel that runs programs.
INIT, LOADED = "init.sh", ("seeded.c", "registers.c", "asked.c", "confined.c")


def source(name: str) -> bytes:
    """A file of Sojourn's part of the guest."""
    return resources.files("sojourn.linux").joinpath("guest", name).read_bytes()


def program_digest() -> str:
    """A digest of Sojourn's part of the guest."""
    found = hashlib.blake2b(digest_size=16)
    for name in (*PROGRAM, *HEADERS, INIT, *LOADED):
        found.update(source(name) + b"\0")
    return found.hexdigest()


def compile_c(names: tuple[str, ...], target: Path, options: tuple[str, ...]) -> None:
    """Compiles files of Sojourn's into a program or a library."""
    with tempfile.TemporaryDirectory(prefix="sojourn-guest-") as work:
        for name in (*names, *HEADERS):
            (Path(work) / name).write_bytes(source(name))
        command = ["gcc", "-O2", "-std=gnu11", *options, "-o", str(target), *names, "-lm", "-lpthread"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed(f"gcc failed: {done.stderr.strip().splitlines()[0]}")


def make(program: Path) -> bytes:
    """The guest's archive, with Sojourn's program."""
    entries: dict[str, Entry] = {name: archive.directory(name) for name in FOLDERS}
    entries["dev/console"] = archive.device("dev/console", 5, 1)
    entries["dev/null"] = archive.device("dev/null", 1, 3)
    entries["init"] = archive.file("init", source(INIT))
    entries["bin/sh"] = archive.link("bin/sh", "busybox")
    entries["usr/bin/flows"] = archive.file("usr/bin/flows", program.read_bytes())
    entries |= _file("bin/busybox", _found("busybox"))
    path = _found("tc")
    entries |= _file("usr/bin/tc", path)
    listing = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True).stdout
    for library in tools.libraries(listing):
        entries |= _file(str(library).lstrip("/"), library)
    return archive.archive(entries[path] for path in sorted(entries))


def _found(program: str) -> Path:
    path = tools.find(program)
    assert path is not None, f"{program} was checked for"
    return path


def _file(target: str, path: Path) -> dict[str, Entry]:
    """A file with all folders above it."""
    folders = {str(parent): archive.directory(str(parent)) for parent in Path(target).parents if parent != Path()}
    return {**folders, target: archive.file(target, path.read_bytes())}
