"""What a campaign needs of whatever keeps its results."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from sojourn.results import Result


class Keeper(Protocol):
    """Keeps the results of runs, each once."""

    def begin(self, axes: Sequence[str]) -> None:
        """Prepares for runs with these axes.

        Raises:
            InputError: an axis cannot be the name of a column.
        """
        ...

    def close(self) -> None:
        """Lets go of files; results remain."""
        ...

    def __len__(self) -> int:
        """How many runs have finished."""
        ...

    def has(self, key: str) -> bool:
        """Whether the run's result is kept."""
        ...

    def add(self, key: str, record: bytes) -> None:
        """Keeps the result of a run, an encoded record, unless it is kept already."""
        ...

    def consolidate(self) -> None:
        """Puts everything in order, for good."""
        ...

    def result(self, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
        """The results of those of some runs that are kept, or of all, as they were consolidated."""
        ...
