"""Results kept in memory."""

from collections.abc import Callable, Iterator, Sequence

from sojourn.results import NAMES, Result, assemble, schema
from sojourn.store.columns import check_axes
from sojourn.store.encoding import decode


class Memory:
    """Keeps results until the process ends."""

    def __init__(self) -> None:
        self._records: dict[str, bytes] = {}

    def close(self) -> None:
        """See ``Keeper.close``: nothing is to be done."""

    def __len__(self) -> int:
        """How many runs have finished."""
        return len(self._records)

    def begin(self, axes: Sequence[str]) -> None:
        """See ``Keeper.begin``."""
        check_axes(axes)

    def has(self, key: str) -> bool:
        """See ``Keeper.has``."""
        return key in self._records

    def add(self, key: str, record: bytes) -> None:
        """See ``Keeper.add``."""
        self._records.setdefault(key, record)

    def consolidate(self) -> None:
        """See ``Keeper.consolidate``: nothing is to be done."""

    def result(self, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
        """See ``Keeper.result``."""
        wanted = self._records if keys is None else self._records.keys() & set(keys())
        records = [decode(self._records[key]) for key in wanted]
        records.sort(key=lambda record: ([record.axes[axis] for axis in axes], record.seed, record.key))
        frames = assemble(records, axes) if records else {name: schema(name, axes).to_frame() for name in NAMES}
        return Result(lambda name, columns: frames[name] if columns is None else frames[name].select(columns))
