"""Results of several backends: told apart like other cells, or each backend's alone."""

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from sojourn.analysis.result import Result
from sojourn.names import BACKEND


def beside(found: Result) -> Result:
    """The same results with their backend as the last of the axes, so that those of several are told apart like other cells."""
    axes = [*found.axes, BACKEND]
    return _with_axes(found, axes, lambda rows: rows.sort(*axes, "seed", maintain_order=True))


def of_backend(found: Result, backend: str) -> Result:
    """Those results of ``beside`` that a backend made, without that axis."""
    axes = [axis for axis in found.axes if axis != BACKEND]
    return _with_axes(found, axes, lambda rows: rows.filter(pl.col(BACKEND) == backend))


def _with_axes(found: Result, axes: Sequence[str], chosen: Callable[[pl.LazyFrame], pl.LazyFrame]) -> Result:
    labels = ["key", *axes, "seed"]
    return Result(lambda name: chosen(found.scan(name).select(*labels, pl.exclude(labels))), axes, found.file)


def by_backend(found: Result) -> Iterator[tuple[str | None, Result]]:
    """The results of each backend alone, with its name, in order; of results that do not tell backends apart all, without one."""
    if BACKEND not in found.axes:
        yield None, found
        return
    there = found.columns("runs", [BACKEND])[BACKEND].unique().sort().to_list()
    first = [name for name in found.order.get(BACKEND, ()) if name in there]
    for name in [*first, *(name for name in there if name not in first)]:
        yield name, of_backend(found, name)
