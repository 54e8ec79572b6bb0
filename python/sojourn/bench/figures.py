"""What a part of the benchmark yields: figures beside their targets, and the measurements they come from."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Bound = Literal["at least", "at most", "below"]

#: One line of a part's table, under the names of its columns, which say the units.
Row = dict[str, str | int | float]

#: Is told what is being measured now.
Notify = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """What a figure should reach, in the figure's unit."""

    bound: Bound
    value: float

    def met_by(self, value: float) -> bool:
        """Whether a figure of this value reaches the target."""
        if self.bound == "at least":
            return value >= self.value
        return value <= self.value if self.bound == "at most" else value < self.value


@dataclass(frozen=True)
class Figure:
    """One figure of the benchmark; one without a target is for information."""

    name: str
    value: float
    unit: str
    target: Target | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is reached, if there is one."""
        return None if self.target is None else self.target.met_by(self.value)


@dataclass(frozen=True)
class Part:
    """All that one part of the benchmark found; ``method`` says in a sentence or two how it was measured."""

    name: str
    title: str
    method: str
    figures: list[Figure]
    measurements: list[Row]


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    ``seconds`` is what a cell of the data centre lasts, in simulated seconds. The other parts grow and shrink with it, so that
    they can be tried quickly; targets are meant for ``STANDARD``. Timings are repeated ``repeat`` times.
    """

    seconds: float
    repeat: int

    @property
    def scale(self) -> float:
        """How long the benchmark is beside the standard one."""
        return self.seconds / STANDARD.seconds


#: The extent that targets are meant for.
STANDARD = Extent(seconds=10.0, repeat=3)


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean of positive values."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))
