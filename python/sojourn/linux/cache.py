"""Where kernels are kept, and which there are."""

import json
import os
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sojourn import names
from sojourn.errors import InputError

#: What a user calls to have one.
BUILD = "sojourn linux build"

#: The file of a discipline that only newer kernels have.
DUALPI2 = "sch_dualpi2.c"

#: The first version whose guests' processes need not be traced: they are held by filters of system calls, which is faster.
SECCOMP = (6, 16)

#: The first version with Accurate ECN (tcp_ecn in ip-sysctl.rst).
ACCURATE_ECN = (7, 0)

#: The first version whose losses are all found by RACK: earlier ones can do without (tcp_recovery in ip-sysctl.rst).
ONLY_RACK = (6, 17)

#: The file of a congestion control that Linux itself lacks, and that a kernel may have been built with.
PRAGUE = "tcp_prague.c"

#: Files of a kernel's folder.
KERNEL, SEEDED, GUEST, DESCRIPTION, LOG, CONFIGURATION = "linux", "seeded.so", "guest.cpio", "kernel.json", "build.log", "config"


@dataclass(frozen=True)
class File:
    """A file that was compiled with a kernel: the kernel's own, or one that was added."""

    path: str
    #: Of its content.
    digest: str

    @property
    def name(self) -> str:
        """What it is called, without its folder."""
        return Path(self.path).name


@dataclass(frozen=True)
class Kernel:
    """A kernel and its guest, ready to run."""

    name: str
    #: As the kernel names itself, such as ``6.1.192``.
    version: str
    #: Ticks a second: the unit of ``jiffies``, in which some congestion controls count.
    hz: int
    #: Of the kernel's configuration.
    configuration: str
    #: Of the kernel's binary.
    kernel: str
    #: Of the guest's archive.
    guest: str
    #: Of Sojourn's own part of the guest: what it is told and what it answers must fit this Sojourn.
    program: str
    #: Of all that the kernel was made from; with the same it is not compiled again.
    key: str
    #: What it was made from: a file or a folder, and the files added.
    source: str
    added: tuple[File, ...]
    #: The source's own congestion controls and disciplines that are compiled in.
    own: tuple[File, ...]

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return kernels_folder() / self.name

    @property
    def has_seccomp(self) -> bool:
        """Whether the host holds its guest's processes by filters of system calls, not by tracing them."""
        return self.numbers >= SECCOMP

    @property
    def numbers(self) -> tuple[int, ...]:
        """The first two numbers of its version."""
        return tuple(int(number) for number in self.version.split(".")[:2])

    @property
    def modules(self) -> dict[str, str]:
        """Digests of all congestion controls and disciplines that it was compiled with, by their files' names."""
        return {each.name: each.digest for each in (*self.own, *self.added)}

    @property
    def command(self) -> str:
        """What builds it from the same source once more."""
        added = (word for each in self.added for word in ("--add", each.path))
        return shlex.join([*BUILD.split(), "--source", self.source, "--name", self.name, *added])


def folder() -> Path:
    """The cache: ``sojourn/linux`` in the user's cache directory (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "sojourn" / "linux"


def kernels_folder() -> Path:
    """The folder of all kernels, each in a folder of its name."""
    return folder() / "kernels"


def sources_folder() -> Path:
    """The folder of sources that are being built."""
    return folder() / "sources"


def write(kernel: Kernel) -> None:
    """Says that a kernel is complete."""
    part = kernel.folder / f"{DESCRIPTION}.part"
    part.write_text(json.dumps(asdict(kernel), indent=1) + "\n")
    part.replace(kernel.folder / DESCRIPTION)


def kernels() -> list[Kernel]:
    """All complete kernels, by name."""
    found = (_read(path) for path in sorted(kernels_folder().glob(f"*/{DESCRIPTION}")))
    return [kernel for kernel in found if kernel is not None]


def read(name: str) -> Kernel | None:
    """The kernel of a name, if it is complete."""
    return _read(kernels_folder() / name / DESCRIPTION)


def unfinished() -> list[Path]:
    """Folders of kernels whose build has not come to its end."""
    return [path for path in sorted(kernels_folder().glob("*/")) if not (path / DESCRIPTION).exists()]


def named(name: str | None) -> Kernel:
    """The kernel of a name; without a name, the only one."""
    known = {kernel.name: kernel for kernel in kernels()}
    if not known:
        raise InputError(f"no Linux kernel is built; `{BUILD}` makes one")
    if name is None and len(known) > 1:
        raise InputError(f"several Linux kernels are built; write {' or '.join(f'linux:{each}' for each in known)}")
    if name is not None and name not in known:
        raise InputError(f"{names.unknown('Linux kernel', name, known)}; `{BUILD} --name {name}` makes it")
    return next(iter(known.values())) if name is None else known[name]


def _read(path: Path) -> Kernel | None:
    try:
        values: dict[str, Any] = json.loads(path.read_text())
        return Kernel(**{**values, **{files: tuple(File(**each) for each in values[files]) for files in ("added", "own")}})
    except (OSError, ValueError, TypeError, KeyError):
        return None
