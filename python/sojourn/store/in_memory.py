"""Results kept in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from sojourn.analysis.axes import check_axes
from sojourn.analysis.frames import NAMES, schema
from sojourn.analysis.records import assemble
from sojourn.analysis.result import Result
from sojourn.backends.identity import Identity
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

    def consolidate(self) -> Set[str]:
        """See ``RunStore.consolidate``: nothing is to be done."""
        return set()

    def result(self, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
        wanted = self._records if keys is None else self._records.keys() & set(keys())
        records = [decode(self._records[key]) for key in wanted]
        records.sort(key=lambda record: ([record.axes[axis] for axis in axes], record.seed, record.key))
        frames = assemble(records, axes) if records else {name: schema(name, axes).to_frame() for name in NAMES}
        return Result(lambda name: frames[name].lazy(), axes)
