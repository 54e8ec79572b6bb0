"""Folders of runs: each is locked by the process that made it, so that the next run finds what a killed one has left."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: How the folders' names begin, and the file in each that its process has locked as long as it lives.
_PREFIX, _LOCK = "sojourn-linux-", "lock"


@contextlib.contextmanager
def of_run() -> Iterator[Path]:
    """A folder for a run, which is gone at the end; those that killed processes have left go too."""
    _remove_left()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name)
        # Under its name the file is locked from the beginning.
        unnamed = folder / f"{_LOCK}.new"
        with unnamed.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            unnamed.rename(folder / _LOCK)
            yield folder


def _remove_left() -> None:
    """Removes the user's folders whose processes have ended without removing them."""
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), lock.open("r+") as file:
            if os.fstat(file.fileno()).st_uid == os.geteuid():
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
