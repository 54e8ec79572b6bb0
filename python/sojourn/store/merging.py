"""Two sources of rows in one order, merged block by block."""

from collections.abc import Iterator, Sequence

import polars as pl

#: The column that says which source a row is of.
_NEW = " new"


class Merge:
    """The rows of files and newer ones, both in the same order, as one sequence in that order.

    Where both have rows of one key, the newer ones count. Of either source a block is held at a time.

    Args:
        old: the rows of the files, block by block.
        order: the columns that both are sorted by, nulls first; ``key`` is among them.
    """

    def __init__(self, old: Iterator[pl.DataFrame], order: Sequence[str]) -> None:
        self._old, self._order = old, order
        self._held: pl.DataFrame | None = None

    def with_next(self, new: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """The rows up to the last of some newer ones, which follow those of the previous call."""
        while new.height:
            held = self._next_held()
            if held is None:
                yield new
                return
            held = held.filter(~pl.col("key").is_in(new["key"].unique().to_list()))
            if not held.height:
                self._held = None
                continue
            both = pl.concat([held.with_columns(pl.lit(False).alias(_NEW)), new.with_columns(pl.lit(True).alias(_NEW))])
            both = both.sort(self._order, maintain_order=True)
            is_new = both[_NEW]
            both = both.drop(_NEW)
            last_old, last_new = (both.height - 1 - int(is_such.reverse().arg_max() or 0) for is_such in (~is_new, is_new))
            ended = min(last_old, last_new) + 1
            yield both[:ended]
            if last_old < last_new:
                self._held, new = None, both[ended:]
            else:
                self._held, new = both[ended:], new.clear()

    def rest(self) -> Iterator[pl.DataFrame]:
        """What is left of the files."""
        while (held := self._next_held()) is not None:
            self._held = None
            yield held

    def _next_held(self) -> pl.DataFrame | None:
        while self._held is None or not self._held.height:
            self._held = next(self._old, None)
            if self._held is None:
                return None
        return self._held
