"""Programs that a build needs, and where Debian has them."""

import os
import re
import shutil
from pathlib import Path

from sojourn.errors import InputError

#: The Debian package of each program; ``busybox`` must be linked statically.
COMPILING = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
    "tar": "tar",
    "xz": "xz-utils",
}
GUEST = {"busybox": "busybox-static", "tc": "iproute2"}

#: Where programs are that only administrators have in their path.
ADMINISTRATORS = ("/usr/sbin", "/sbin")

#: A header of the C library: without it there is a compiler that compiles nothing.
C_HEADERS = ("/usr/include/stdlib.h", "libc6-dev")


def find(program: str) -> Path | None:
    """Where a program is."""
    found = shutil.which(program) or shutil.which(program, path=os.pathsep.join(ADMINISTRATORS))
    return Path(found) if found is not None else None


def check() -> None:
    """Looks whether all programs are there."""
    packages = COMPILING | GUEST
    missing = {program: package for program, package in packages.items() if find(program) is None}
    if not Path(C_HEADERS[0]).exists():
        missing[C_HEADERS[0]] = C_HEADERS[1]
    busybox = find("busybox")
    if busybox is not None and b"/ld-linux" in busybox.read_bytes():
        missing["a static busybox"] = GUEST["busybox"]
    if missing:
        install = f"apt-get install --no-install-recommends {' '.join(sorted(set(missing.values())))}"
        raise InputError(f"missing: {', '.join(missing)}; on Debian: {install}")


def libraries(listing: str) -> list[Path]:
    """The files that ``ldd`` lists for a program."""
    return [Path(path) for path in re.findall(r"(/\S+)(?= \()", listing)]
