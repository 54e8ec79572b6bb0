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
    chosen = {0, len(values) - 1}
    for places in np.array_split(np.arange(len(values)), stretches):
        known = places[~np.isnan(values[places])]
        if len(known):
            chosen.add(int(known[np.argmin(values[known])]))
            chosen.add(int(known[np.argmax(values[known])]))
    return np.array(sorted(chosen), dtype=np.intp)
