"""Fewer samples of a series, for the page's size: no extreme is lost."""

import numpy as np
from numpy.typing import NDArray


def thin(values: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Places of at most so many samples: the first, the last, and of equal stretches the least and the greatest each.

    Args:
        values: the series; may have NaN, of which none is chosen where there is anything else.
        most: how many samples, 4 or more.
    """
    if len(values) <= most:
        return np.arange(len(values), dtype=np.intp)
    stretches = (most - 2) // 2
    length = -(-len(values) // stretches)
    table = np.full(stretches * length, np.nan)
    table[: len(values)] = values
    table = table.reshape(stretches, length)
    known = ~np.isnan(table)
    rows = np.flatnonzero(known.any(axis=1))
    least = np.where(known, table, np.inf)[rows].argmin(axis=1)
    greatest = np.where(known, table, -np.inf)[rows].argmax(axis=1)
    ends = np.array([0, len(values) - 1])
    return np.unique(np.concatenate([ends, rows * length + least, rows * length + greatest]))
