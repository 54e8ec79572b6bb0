"""What a campaign needs of whatever keeps its results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Protocol

from sojourn.analysis.result import Result
from sojourn.backends.identity import Identity
from sojourn.runs import Run


class RunStore(Protocol):
    """Keeps the results of runs, each once."""

    def begin(self, axes: Sequence[str]) -> None:
        """Prepares for runs with these axes."""
        ...

    def close(self) -> None:
        """Lets go of files; results remain."""
        ...

    def __len__(self) -> int:
        """How many runs have finished."""
        ...

    def among(self, keys: Sequence[str]) -> Set[str]:
        """The keys of those of some runs whose results are kept."""
        ...

    def stale(self, requests: Iterable[str], backend: Identity) -> Counter[Identity]:
        """How many of some requests have results of another build of a backend and none of this one, by what made them."""
        ...

    def add(self, run: Run, record: bytes) -> None:
        """Keeps the result of a run, an encoded record, unless it is kept already; it supersedes those of other builds."""
        ...

    def add_all(self, records: Iterable[tuple[Run, bytes]]) -> None:
        """The same of several runs."""
        ...

    def add_files(self, key: str, files: Mapping[str, bytes]) -> Path | None:
        """Keeps what programs of a run that failed have written, until the run is made again; returns where, if it does."""
        ...

    def consolidate(self) -> Set[str]:
        """Merges all results into their final files, in order; returns the keys of runs that cannot be read and count no more."""
        ...

    def result(self, axes: Sequence[str], keys: Callable[[], Iterator[str]] | None) -> Result:
        """The results of those of some runs that are kept, or of all, as they were consolidated."""
        ...
