"""Finding a module in what people have of a kernel: its source tree, a tarball of it, a folder with the module, or the module."""

import contextlib
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from sojourn.errors import InputError

#: The folder of congestion control modules in a kernel's sources.
FOLDER = PurePosixPath("net/ipv4")


@contextlib.contextmanager
def module(kernel: Path, file: str) -> Iterator[Path]:
    """The path of a module and of the files beside it; of those from a tarball meanwhile.

    Raises:
        InputError: it is not there.
    """
    if kernel.is_dir():
        found = [path for path in (kernel / FOLDER / file, kernel / file) if path.is_file()]
        if not found:
            raise InputError(f"--source {kernel}: has neither {FOLDER / file} nor {file}")
        yield found[0]
    elif kernel.suffix == ".c" and kernel.is_file():
        yield kernel
    elif kernel.is_file():
        with tempfile.TemporaryDirectory(prefix="sojourn-kernel-") as folder:
            yield _extracted(kernel, file, Path(folder))
    else:
        raise InputError(f"--source {kernel}: no such file or folder")


def _extracted(tarball: Path, file: str, folder: Path) -> Path:
    """Extracts the congestion controls of a kernel's tarball."""
    try:
        with tarfile.open(tarball, mode="r|*") as archive:
            for member in archive:
                path = PurePosixPath(member.name)
                content = archive.extractfile(member) if member.isfile() and path.parent.match(f"*/{FOLDER}") else None
                if content is not None and path.name.startswith("tcp_") and path.suffix in (".c", ".h"):
                    (folder / path.name).write_bytes(content.read())
    except (tarfile.TarError, OSError, EOFError) as error:
        raise InputError(f"--source {tarball}: neither a folder, a file in C nor a tarball ({error})") from None
    if not (folder / file).is_file():
        raise InputError(f"--source {tarball}: has no {FOLDER / file}")
    return folder / file
