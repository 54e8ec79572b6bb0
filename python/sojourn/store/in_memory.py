"""Results kept in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache

import polars as pl

from sojourn.analysis.axes import check_axes
from sojourn.analysis.frames import EVERY, schema
from sojourn.analysis.records import Record, assemble
from sojourn.analysis.result import Result
from sojourn.backends.identity import Identity
from sojourn.backends.result import FEW
from sojourn.runs import Run
from sojourn.store.encoding import decode


class InMemory:
    """Keeps results until the process ends."""

    def __init__(self) -> None:
        self._records: dict[str, bytes] = {}

    def close(self) -> None:
        """See ``RunStore.close``: nothing is to be done."""

    def __len__(self) -> int:
        """How many runs have finished."""
        return len(self._records)

    def begin(self, axes: Sequence[str]) -> None:
        check_axes(axes)

    def among(self, keys: Sequence[str]) -> Set[str]:
        return self._records.keys() & set(keys)

    def stale(self, _requests: Iterable[str], _backend: Identity) -> Counter[Identity]:
        """See ``RunStore.stale``: a process has one build of a backend."""
        return Counter()

    def add(self, run: Run, record: bytes) -> None:
        self._records.setdefault(run.key, record)

    def add_all(self, records: Iterable[tuple[Run, bytes]]) -> None:
        for run, record in records:
            self.add(run, record)

    def add_files(self, _key: str, _files: Mapping[str, bytes]) -> None:
        """See ``RunStore.add_files``: nobody would know where to look for them."""

    def consolidate(self) -> Set[str]:
        """See ``RunStore.consolidate``: nothing is to be done."""
        return set()

    def result(self, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
        wanted = self._records if keys is None else self._records.keys() & set(keys())
        encoded = [self._records[key] for key in wanted]

        def place(record: Record) -> tuple[list[str], int, str]:
            return [record.axes[axis] for axis in axes], record.seed, record.key

        def records() -> list[Record]:
            return sorted(map(decode, encoded), key=place)

        frames: dict[str, pl.DataFrame] = {}
        # Of few runs frames that nobody asks for would take longer than the runs, and so would reading all records for each.
        is_few = len(encoded) < FEW
        few = cache(records)

        def frame(name: str) -> pl.LazyFrame:
            if not encoded:
                return schema(name, axes).to_frame().lazy()
            if name not in frames:
                frames.update(assemble(few(), axes, [name]) if is_few else assemble(records(), axes, EVERY))
            return frames[name].lazy()

        return Result(frame, axes)
