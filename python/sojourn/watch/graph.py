"""A history as an area of block characters."""

import math
from collections.abc import Sequence

#: Eighths of a character's height.
BLOCKS = " ▁▂▃▄▅▆▇█"


def columns(values: Sequence[float | None], seen: int, width: int, history: int) -> list[float]:
    """A history that may be longer than a graph is wide: the maximum of several values each, so that no peak is lost.

    Which values share a column does not depend on how many came after them: a graph that moves does not flicker. The newest value
    is the last, and None counts as 0; ``seen`` counts all values that there have been, ``history`` is the most that there can be.
    """
    each = -(-history // width)
    first = seen - len(values)
    found: dict[int, float] = {}
    for place, value in enumerate(values, start=first):
        column = place // each
        found[column] = max(found.get(column, 0.0), value or 0.0)
    return [found[column] for column in sorted(found)][-width:]


def area(heights: Sequence[float], top: float, rows: int, width: int) -> list[str]:
    """Lines of text, the highest first, in which a value of ``top`` reaches to the highest; the newest stands right."""
    eighths = [min(8 * rows, round(8 * rows * height / top)) if top > 0 else 0 for height in heights]
    # What is there at all is seen.
    eighths = [max(level, 1) if height > 0 else 0 for level, height in zip(eighths, heights, strict=True)]
    lines = ("".join(BLOCKS[min(8, max(0, level - 8 * row))] for level in eighths) for row in reversed(range(rows)))
    return [line.rjust(width) for line in lines]


def round_top(greatest: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is no less."""
    if greatest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(greatest))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= greatest)
