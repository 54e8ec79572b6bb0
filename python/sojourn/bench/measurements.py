"""What a part of the benchmark returns: measurements with their targets, and the rows that they are computed from."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Bound = Literal["at least", "at most", "below"]

#: One row of a part's table. The names of the columns state the units.
Row = dict[str, str | int | float]

#: Called with what is being measured.
Notify = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """The bound that a measurement should keep, in the measurement's unit."""

    bound: Bound
    value: float

    def met_by(self, value: float) -> bool:
        """Whether this value keeps the bound."""
        if self.bound == "at least":
            return value >= self.value
        return value <= self.value if self.bound == "at most" else value < self.value


@dataclass(frozen=True)
class Measurement:
    """One number of the benchmark; one without a target is for information."""

    name: str
    value: float
    unit: str
    target: Target | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        return None if self.target is None else self.target.met_by(self.value)


@dataclass(frozen=True, kw_only=True)
class Part:
    """The results of one part of the benchmark; ``method`` states in a sentence or two how they were measured."""

    #: What ``parts.PARTS`` calls it.
    name: str = ""
    title: str
    method: str
    measurements: list[Measurement]
    rows: list[Row]


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    ``seconds`` is the duration of a data-centre cell in simulated seconds. The other parts scale with it, so that a trial run is
    quick; targets apply to ``STANDARD``. Timings are repeated ``repeat`` times. With ``instructions``, those of each run whose
    speed is measured are counted, which takes fifty times as long as the run.
    """

    seconds: float
    repeat: int
    instructions: bool = False

    @property
    def scale(self) -> float:
        """The duration relative to the standard benchmark's."""
        return self.seconds / STANDARD.seconds


#: The extent that targets apply to.
STANDARD = Extent(seconds=10.0, repeat=3)


def values(rows: Iterable[Row], name: str) -> list[float]:
    """The numbers of a column."""
    return [float(row[name]) for row in rows]


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean of positive values."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))
