"""Kernel sources of Debian's archive, got without its tools.

``debian:7.3`` is the package ``linux-source-7.3``, and ``debian:7`` the newest of 7.0, 7.1 and so on that there is: Debian keeps
few versions, and takes them away as new ones come.

The archive's layout is that of https://wiki.debian.org/DebianRepository/Format; a package is an archive of ``ar`` with one of
``tar`` in it (deb(5)). What is got must be what the index says by its SHA-256, and the index what the release says. The release
comes over https; its signature is not checked.
"""

import contextlib
import hashlib
import lzma
import re
import shutil
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO

from sojourn.errors import InputError, RunFailed
from sojourn.linux import cache

#: Where Debian's packages are, and the releases that are looked through, in this order.
ARCHIVE = "https://deb.debian.org/debian"
RELEASES = ("stable-backports", "stable", "oldstable-backports", "oldstable", "unstable")

#: An index of packages; those for all machines are in each machine's.
INDEX = "main/binary-amd64/Packages.xz"

#: How a source is asked for.
PREFIX = "debian:"
_PACKAGE = "linux-source-"

#: A server that says nothing for so long, in s, is given up.
_PATIENCE = 60
_BLOCK = 1 << 20

#: Called with what is being done.
Watch = Callable[[str], None]


@dataclass(frozen=True)
class Package:
    """A package as an index has it."""

    version: str
    #: Its place in the archive.
    place: str
    sha256: str


def asked(given: Path | None) -> str | None:
    """The version of Linux of a source that is asked for from Debian: ``7.3`` of ``debian:7.3``, ``7`` of ``debian:7``."""
    if given is None or not str(given).startswith(PREFIX):
        return None
    version = str(given).removeprefix(PREFIX)
    if not re.fullmatch(r"\d+(\.\d+)?", version):
        raise InputError(
            f"--source {given}: write {PREFIX} and a version of one or two numbers, such as {PREFIX}7 or {PREFIX}7.3"
        )
    return version


def source(version: str, watch: Watch) -> Path:
    """The source of a version: from the cache or, if it is not there, from Debian's archive.

    Of a version of one number it is the newest that the archive has.
    """
    if "." not in version:
        version = _newest(version, watch)
    kept = cache.folder() / "debian" / f"{_PACKAGE}{version}.tar.xz"
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    package, part = kept.with_suffix(".deb"), kept.with_suffix(".part")
    try:
        found = _find(version, watch)
        watch(f"getting {Path(found.place).name}")
        with package.open("wb") as file:
            digest = _copy(found.place, file)
        if digest != found.sha256:
            raise RunFailed(f"{ARCHIVE}/{found.place} has the SHA-256 {digest}, and in Debian's index {found.sha256}")
        _unpack(package, kept.name, part)
        part.replace(kept)
    finally:
        package.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            kept.parent.rmdir()
    return kept


def _newest(major: str, watch: Watch) -> str:
    """The newest version of two numbers, of which the first is given, that any release has."""
    known = {version for packages in _searched(major, watch) for version in packages}
    of_major = [version for version in known if version.startswith(f"{major}.")]
    if not of_major:
        raise _missing(major, known)
    return max(of_major, key=_numbers)


def _find(version: str, watch: Watch) -> Package:
    """The newest package of a version in the first release that has one."""
    known: set[str] = set()
    for packages in _searched(version, watch):
        known |= set(packages)
        if version in packages:
            return packages[version]
    raise _missing(version, known)


def _searched(version: str, watch: Watch) -> Iterator[dict[str, Package]]:
    for release in RELEASES:
        watch(f"looking for Linux {version} in Debian {release}")
        yield _packages(release)


def _missing(version: str, known: Iterable[str]) -> InputError:
    has = ", ".join(sorted(known, key=_numbers))
    return InputError(f"--source {PREFIX}{version}: Debian has no {_PACKAGE}{version}; it has {has or 'none'}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _packages(release: str) -> dict[str, Package]:
    """The sources of Linux that a release has, by their versions of two numbers."""
    place = f"dists/{release}/{INDEX}"
    told = dict(_checksums(_read(f"dists/{release}/Release").decode(errors="replace"))).get(INDEX)
    index = _read(place)
    digest = hashlib.sha256(index).hexdigest()
    if digest != told:
        raise RunFailed(f"{ARCHIVE}/{place} has the SHA-256 {digest}, and in Debian's release {told or 'none'}")
    found: dict[str, Package] = {}
    for paragraph in lzma.decompress(index).decode().split("\n\n"):
        name = re.match(rf"Package: {_PACKAGE}(\d+\.\d+)\n", paragraph)
        if name is not None:
            fields = dict(re.findall(r"(?m)^(Version|Filename|SHA256): (.*)$", paragraph))
            found[name.group(1)] = Package(fields["Version"], fields["Filename"], fields["SHA256"])
    return found


def _checksums(release: str) -> Iterator[tuple[str, str]]:
    """The places and SHA-256 checksums of a release's files."""
    _, _, section = release.partition("\nSHA256:\n")
    for line in section.splitlines():
        if not line.startswith(" "):
            return
        digest, _, place = line.split(maxsplit=2)
        yield place, digest


@contextlib.contextmanager
def _opened(place: str) -> Iterator[IO[bytes]]:
    try:
        with urllib.request.urlopen(f"{ARCHIVE}/{place}", timeout=_PATIENCE) as answer:
            yield answer
    except (OSError, HTTPException) as problem:
        reason = problem.reason if isinstance(problem, urllib.error.URLError) else problem
        raise RunFailed(f"{ARCHIVE}/{place} could not be read: {str(reason) or type(reason).__name__}") from None


def _read(place: str) -> bytes:
    with _opened(place) as answer:
        content: bytes = answer.read()
    return content


def _copy(place: str, file: IO[bytes]) -> str:
    """Copies a file of the archive, and returns its SHA-256."""
    digest = hashlib.sha256()
    with _opened(place) as answer:
        while block := answer.read(_BLOCK):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _unpack(package: Path, name: str, target: Path) -> None:
    """Takes a file out of a package."""
    with package.open("rb") as file:
        file.seek(8)
        # A header of ``ar``: a name of 16 bytes, numbers of 32, the size in 10, two that end it; members begin at even places.
        while header := file.read(60):
            size, begin = int(header[48:58]), file.tell()
            if header.startswith(b"data.tar"):
                with tarfile.open(fileobj=file, mode="r|*") as content:
                    for member in content:
                        if Path(member.name).name == name and (inner := content.extractfile(member)) is not None:
                            with target.open("wb") as out:
                                shutil.copyfileobj(inner, out)
                            return
            file.seek(begin + size + size % 2)
    raise RunFailed(f"{package.name} of Debian has no {name}")
