"""The sources of kernels: where they are, and what is added to them."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from sojourn.errors import InputError
from sojourn.linux import cache

#: Where Debian's packages ``linux-source-*`` put sources.
DEBIAN = Path("/usr/src")

#: What gets the recommended kernel's source from there, on any machine.
RECOMMENDED = "--source debian:7"

#: Folders of the kernel for files that are added, by how their names begin.
PLACES = {"sch_": "net/sched", "cls_": "net/sched", "act_": "net/sched", "tcp_": "net/ipv4"}

#: The oldest kernel whose random numbers can be seeded: User Mode Linux asks the host with getrandom().
OLDEST = (6, 1)


def find(given: Path | None) -> Path:
    """The source that was given, or the newest of Debian's packages."""
    if given is not None:
        if not given.exists():
            raise InputError(f"--source {given}: there is no such file or folder")
        if given.is_dir() and not (given / "arch/um/Kconfig").is_file():
            raise InputError(f"--source {given}: this is not the source of a Linux kernel with User Mode Linux (arch/um)")
        return given.resolve()
    packaged = sorted(DEBIAN.glob("linux-source-*.tar.*"), key=_numbers)
    if not packaged:
        raise InputError(f"no Linux source below {DEBIAN}; `{cache.BUILD} {RECOMMENDED}` gets one from Debian")
    return packaged[-1]


def check_added(added: Iterable[Path]) -> None:
    """Looks whether files can be added."""
    for path in added:
        if not path.is_file():
            raise InputError(f"--add {path}: there is no such file")
        if path.suffix != ".c" or not any(path.name.startswith(start) for start in PLACES):
            allowed = ", ".join(f"{start}*.c" for start in PLACES)
            raise InputError(f"--add {path}: a module is one file called {allowed}")


def digest(content: bytes) -> str:
    """What tells one content of an added file from another."""
    return hashlib.sha256(content).hexdigest()


def place(added: Path) -> Path:
    """Where a file that is added belongs in a kernel's source."""
    folder = next(folder for start, folder in PLACES.items() if added.name.startswith(start))
    return Path(folder) / added.name


def compiled(source: Path, build: Path) -> dict[str, str]:
    """Digests of the source's congestion controls and disciplines that were compiled, by name."""
    found = (
        path
        for start, folder in PLACES.items()
        for path in sorted((source / folder).glob(f"{start}*.c"))
        if (build / folder / path.name).with_suffix(".o").exists()
    )
    return {path.name: digest(path.read_bytes()) for path in found}


def key(source: Path, added: Iterable[Path]) -> str:
    """A digest of a source, by its place and its time, and of the files that are added."""
    return _key(source, [path.name.encode() + b"\0" + path.read_bytes() for path in added])


def _key(source: Path, more: list[bytes]) -> str:
    return hashlib.blake2b(f"{source} {source.stat().st_mtime_ns}".encode() + b"\0".join(more), digest_size=8).hexdigest()


def unpacked(source: Path, added: tuple[Path, ...]) -> tuple[Path, bool]:
    """The folder of a source, with the files that were added.

    A folder is used where it is, unless files are added to it: then it is copied. An archive is unpacked into the cache. What is
    there of an unfinished build gets the files as they are now, so that only what has changed is compiled again.

    Returns:
        The folder, and whether it is a copy that may be removed.
    """
    if source.is_dir() and not added:
        _check(source, source)
        return source, False
    folder = cache.sources_folder() / _key(source, [path.name.encode() for path in added])
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        command = (
            ["cp", "-a", "--reflink=auto", f"{source}/.", str(part)]
            if source.is_dir()
            else ["tar", "-x", "-f", str(source), "-C", str(part), "--strip-components=1"]
        )
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode:
                raise InputError(f"{source} could not be unpacked: {(done.stderr.strip() or '?').splitlines()[0]}")
            _check(part, source)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        part.rename(folder)
    for path in added:
        _add(path, folder)
    return folder, True


def version(folder: Path) -> str:
    """The version that a source's Makefile names, such as ``6.1.192``."""
    text = (folder / "Makefile").read_text()
    found = [re.search(rf"^{name} *= *(\S*)", text, re.MULTILINE) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(each.group(1) for each in found if each is not None)


def _check(folder: Path, source: Path) -> None:
    """Looks whether a folder has the source of a kernel, which was given as ``source``."""
    if not (folder / "arch/um/Kconfig").is_file():
        raise InputError(f"{source}: this is not the source of a Linux kernel with User Mode Linux (arch/um)")
    if (folder / ".config").exists():
        raise InputError(f"{source}: this source has been built in; run `make mrproper` there, or give another")
    if _numbers(version(folder))[:2] < OLDEST:
        raise InputError(f"{source}: Linux {version(folder)} is older than 6.1")


def _add(path: Path, folder: Path) -> None:
    target = folder / place(path)
    if not target.exists() or target.read_bytes() != path.read_bytes():
        shutil.copyfile(path, target)
    makefile = target.parent / "Makefile"
    lines = makefile.read_text()
    if not re.search(rf"\b{re.escape(path.stem)}\.o\b", lines):
        makefile.write_text(f"{lines}\nobj-y += {path.stem}.o\n")


def _numbers(path: Path | str) -> tuple[int, ...]:
    name = path.name if isinstance(path, Path) else path
    return tuple(int(number) for number in re.findall(r"\d+", name))
