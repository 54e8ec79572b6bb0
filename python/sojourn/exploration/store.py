"""What keeps the runs of a search: a directory of which what is new is read from memory.

A search asks for values after every few runs. To put all files of the directory in order each time would cost more than the runs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

import polars as pl

from sojourn.analysis.result import Result
from sojourn.backends.identity import Identity
from sojourn.runs import Run
from sojourn.store import InMemory, RunStore


class Buffered:
    """A store whose new results are read from memory until it is closed, and kept as each run ends."""

    def __init__(self, kept: RunStore | None) -> None:
        self._kept = kept
        self._new = InMemory()
        self._begun = False

    def close(self) -> None:
        """See ``RunStore.close``: puts the directory in order first."""
        if self._kept is not None:
            self._kept.consolidate()
            self._kept.close()

    def __len__(self) -> int:
        """How many runs have finished; of a directory, at least as many."""
        return len(self._new) if self._kept is None else max(len(self._kept), len(self._new))

    def begin(self, axes: Sequence[str]) -> None:
        if self._kept is not None:
            self._kept.begin(axes)
            if not self._begun:
                self._kept.consolidate()  # what an earlier search has left
        self._begun = True

    def among(self, keys: Sequence[str]) -> Set[str]:
        kept = frozenset[str]() if self._kept is None else self._kept.among(keys)
        return self._new.among(keys) | kept

    def stale(self, requests: Iterable[str], backend: Identity) -> Counter[Identity]:
        return Counter() if self._kept is None else self._kept.stale(requests, backend)

    def add(self, run: Run, record: bytes) -> None:
        self.add_all([(run, record)])

    def add_all(self, records: Iterable[tuple[Run, bytes]]) -> None:
        given = list(records)
        if self._kept is not None:
            self._kept.add_all(given)
        self._new.add_all(given)

    def add_files(self, key: str, files: Mapping[str, bytes]) -> Path | None:
        return None if self._kept is None else self._kept.add_files(key, files)

    def consolidate(self) -> Set[str]:
        """See ``RunStore.consolidate``: put off until it is closed."""
        return set()

    def result(self, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
        if self._kept is None:
            return self._new.result(axes, keys)
        if keys is None:
            earlier, later = self._kept.result(axes, None), self._new.result(axes, None)
        else:
            wanted = list(keys())
            new = self._new.among(wanted)
            later = self._new.result(axes, lambda: iter(new))
            if len(new) == len(wanted):
                return later
            earlier = self._kept.result(axes, lambda: (key for key in wanted if key not in new))
        return Result(lambda name: pl.concat([earlier.scan(name), later.scan(name)], how="diagonal_relaxed"), axes)
