"""Builds a kernel and its guest into the cache, step by step; what is done is not done again."""

import dataclasses
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn import names
from sojourn.errors import InputError
from sojourn.linux import cache, compiling, debian, guest, source, tools
from sojourn.linux.cache import File, Kernel

#: The folder of what has been compiled, until the kernel is complete.
_OBJECTS = "objects"

#: Called with what is being done, and how many files have been compiled.
Watch = Callable[[str, int], None]


def build(given: Path | None, name: str | None, added: tuple[Path, ...], watch: Watch) -> Kernel:
    """Builds a kernel.

    Args:
        given: the source: a folder, an archive or, such as ``debian:7``, a package of Debian's archive; by default the newest
            of Debian's packages that are installed.
        name: what it will be called; by default its version's first two numbers.
        added: files of modules that the source lacks.
        watch: is told how it goes.
    """
    tools.check()
    if name is not None and not names.is_plain(name):
        raise InputError(f'--name {name}: a name is of letters, digits, ".", "_" and "-"')
    source.check_added(added)
    version = debian.asked(given)
    origin = source.find(given) if version is None else debian.source(version, lambda step: watch(step, 0))
    name = name or _name(origin)
    folder = cache.kernels_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    key = _digest(source.key(origin, added).encode() + compiling.own_configuration())
    with _alone(folder):
        kernel = cache.read(name)
        if kernel is None or kernel.key != key:
            watch(f"unpacking {origin}", 0)
            try:
                tree, ours = source.unpacked(origin, added)
            except InputError:
                # Nothing has been built: there is nothing to go on with.
                if kernel is None and not (folder / _OBJECTS).exists():
                    shutil.rmtree(folder)
                raise
            kernel = _compile(name, origin, tree, ours, added, key, watch)
        watch("making the guest", 0)
        kernel = dataclasses.replace(kernel, guest=make_guest(folder), program=guest.program_digest())
        cache.write(kernel)
        shutil.rmtree(folder / _OBJECTS, ignore_errors=True)
    return kernel


def _compile(name: str, origin: Path, tree: Path, ours: bool, added: tuple[Path, ...], key: str, watch: Watch) -> Kernel:
    """Compiles a kernel from a folder, which is ours to remove or not; it has no guest yet."""
    folder = cache.kernels_folder() / name
    log, objects = folder / cache.LOG, folder / _OBJECTS
    (folder / cache.DESCRIPTION).unlink(missing_ok=True)
    watch("configuring", 0)
    configuration = compiling.configure(tree, objects, log)
    jobs = len(os.sched_getaffinity(0))
    for path in added:
        watch(f"compiling {path}", 0)
        compiling.compile_file(objects, tree, source.place(path), log, jobs)
    binary = compiling.compile_kernel(tree, objects, log, jobs, lambda compiled: watch("compiling", compiled))
    subprocess.run(["strip", "-o", str(folder / cache.KERNEL), str(binary)], check=True)
    (folder / cache.CONFIGURATION).write_text(configuration)
    version, own = source.version(tree), source.compiled(tree, objects)
    if ours:
        shutil.rmtree(tree)
    return Kernel(
        name=name,
        version=version,
        hz=compiling.HZ,
        configuration=_digest(configuration.encode()),
        kernel=_digest((folder / cache.KERNEL).read_bytes()),
        guest="",
        program="",
        key=key,
        source=str(origin),
        added=tuple(File(str(path.resolve()), source.digest(path.read_bytes())) for path in added),
        own=tuple(File(name, digest) for name, digest in own.items()),
    )


def make_guest(folder: Path) -> str:
    """Makes a kernel's guest, and the library that is loaded before its own; returns the digest of both."""
    with tempfile.TemporaryDirectory(prefix="sojourn-guest-") as work:
        program = Path(work) / "flows"
        guest.compile_c(guest.PROGRAM, program, ("-static",))
        content = guest.make(program)
    guest.compile_c(guest.LOADED, folder / cache.SEEDED, ("-shared", "-fPIC"))
    (folder / cache.GUEST).write_bytes(content)
    return _digest(content + b"".join(guest.source(name) for name in guest.LOADED))


def _name(origin: Path) -> str:
    """The first two numbers of a source's version, which an archive has in its name."""
    if origin.is_dir():
        return ".".join(source.version(origin).split(".")[:2])
    found = re.search(r"\d+\.\d+", origin.name)
    if found is None:
        raise InputError(f"--source {origin}: its name tells no version; give --name")
    return found.group()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"the kernel {folder.name} is being built already") from None
        yield


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
