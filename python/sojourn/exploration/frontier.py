"""Where on a map a verdict begins to hold: a Gaussian process through what the runs of some places say of it.

What a run says is a number from -1 to 1: above 0 if the verdict holds, and nearer to 0 the nearer its value is to the threshold.
So one run near a border says more than whether it is beyond. The border is where the process is 0.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from sojourn.exploration.plane import Place
from sojourn.verdicts import Definition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

#: What one run says: whether the verdict holds, and the value that shows it.
Said = tuple[bool, float | None]

#: Standard deviations on each side of the mean that have 95 % between them.
WIDTH = 1.959964

#: Bounds of the kernel: the variance of its smooth part, the lengths of that as shares of the map, and the variance of its rough
#: part. Values jump at some borders; shorter lengths would explain that, and leave the whole map unclear.
SCALE, LENGTH, ROUGH = (0.1, 10.0), (0.15, 2.0), (1e-4, 0.1)

#: How long its rough part is: about as far as places of a map's grid are from each other.
ROUGH_LENGTH = 0.02

#: Decimals of the logarithms of the kernel's parameters, and of how unclear a place is: last digits differ between processors,
#: and no range shall.
DECIMALS, DECIMALS_OF_UNCLEAR = 1, 6

#: The least variance of what a place says, which keeps matrices regular.
LEAST_NOISE = 1e-4

#: The least standard deviation, which keeps quotients finite.
LEAST_SD = 1e-6


def scores(definition: Definition, places: Sequence[Sequence[Said]]) -> list[list[float]]:
    """What the runs of each place say, from -1 to 1.

    It grows with the distance of the value from the threshold up to a distance that most runs on either side have, half of the
    median of the nearer side. What is farther is 1 or -1, as is a run whose value is on the wrong side of the threshold, or that
    has none: something else has decided.
    """
    said = [each for place in places for each in place]
    directions = [(value > definition.threshold) == holds for holds, value in said if value is not None]
    up = 2 * sum(directions) >= len(directions)

    def distance(holds: bool, value: float | None) -> float | None:
        """How far beyond the threshold on its side; None where the threshold has not decided."""
        if value is None or not math.isfinite(value):
            return None
        beyond = (value - definition.threshold) * (1 if holds == up else -1)
        return beyond if beyond > 0 else None

    known = [(holds, beyond) for holds, value in said if (beyond := distance(holds, value)) is not None]
    sides = [[beyond for holds, beyond in known if holds is side] for side in (True, False)]
    far = min((median(side) for side in sides if side), default=1.0) / 2

    def score(holds: bool, value: float | None) -> float:
        beyond = distance(holds, value)
        size = 1.0 if beyond is None else min(1.0, beyond / far)
        return size if holds else -size

    return [[score(holds, value) for holds, value in place] for place in places]


@dataclass(frozen=True)
class Surface:
    """What a verdict is at the places of a grid: above 0 where it holds."""

    mean: "Numbers"
    sd: "Numbers"

    @property
    def low(self) -> "Numbers":
        """What it is at least, with 97.5 %."""
        return self.mean - WIDTH * self.sd

    @property
    def high(self) -> "Numbers":
        """What it is at most, with 97.5 %."""
        return self.mean + WIDTH * self.sd


class Frontier:
    """What is known of a verdict on a map."""

    def __init__(self, definition: Definition, told: Mapping[Place, Sequence[Said]]) -> None:
        import numpy as np

        self.definition = definition
        self.places = list(told)
        said = scores(definition, list(told.values()))
        self._means = np.array([fmean(each) for each in said])
        self._noise = np.array(_noise(said))
        holds = {each for place in told.values() for each, _ in place}
        #: Whether all runs say the same.
        self.is_plain = len(holds) < 2
        self._process: Any = None if self.is_plain else self._fitted()

    def _fitted(self) -> Any:
        import numpy as np
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern

        smooth = ConstantKernel(1.0, SCALE) * Matern([0.3, 0.3], LENGTH, nu=1.5)
        rough = ConstantKernel(0.01, ROUGH) * Matern(ROUGH_LENGTH, "fixed", nu=0.5)
        places = np.array(self.places)
        fitted = GaussianProcessRegressor(smooth + rough, alpha=self._noise).fit(places, self._means).kernel_
        kernel = fitted.clone_with_theta(np.round(fitted.theta, DECIMALS))
        return GaussianProcessRegressor(kernel, alpha=self._noise, optimizer=None).fit(places, self._means)

    def at(self, places: Sequence[Place]) -> Surface:
        """What it is at some places."""
        import numpy as np

        if self._process is None:
            always = float(np.sign(self._means[0])) if len(self._means) else -1.0
            return Surface(np.full(len(places), always), np.zeros(len(places)))
        mean, sd = self._process.predict(np.array(places), return_std=True)
        return Surface(mean, np.maximum(sd, LEAST_SD))

    def outlook(self, places: "Numbers") -> "Outlook":
        """How unclear it is at some places, each a row; only of a verdict on which runs differ."""
        import numpy as np
        from scipy.linalg import solve_triangular

        kernel, known = self._process.kernel_, self._process.X_train_
        left = solve_triangular(self._process.L_, kernel(known, places), lower=True)
        mean = left.T @ solve_triangular(self._process.L_, self._means, lower=True)
        variance = kernel.diag(places) - (left**2).sum(axis=0)
        return Outlook(kernel, places, left, mean, variance, float(np.median(self._noise)))


@dataclass
class Outlook:
    """How unclear a verdict is at some places while it is being chosen which of them to try."""

    kernel: Any
    places: "Numbers"
    left: "Numbers"
    mean: "Numbers"
    variance: "Numbers"
    noise: float
    _steps: list["Numbers"] = field(default_factory=list)

    @property
    def unclear(self) -> "Numbers":
        """The straddle of each place (Bryan et al., "Active learning for identifying function threshold boundaries", NIPS 2005).

        It is above 0 where the 95 % interval has 0 in it, and largest near the border where little is known.
        """
        import numpy as np

        unclear = WIDTH * np.sqrt(np.maximum(self.variance, 0.0)) - np.abs(self.mean)
        return np.round(unclear, DECIMALS_OF_UNCLEAR)

    def choose(self, index: int) -> None:
        """Takes one of the places as tried: whatever comes of it, less is unclear near it."""
        import numpy as np

        shared = self.kernel(self.places, self.places[[index]])[:, 0] - self.left.T @ self.left[:, index]
        for step in self._steps:
            shared = shared - step * step[index]
        step = shared / np.sqrt(max(shared[index], 0.0) + self.noise)
        self._steps.append(step)
        self.variance = self.variance - step**2


def _noise(said: Sequence[Sequence[float]]) -> list[float]:
    """The variance of the mean of what each place says, its own drawn towards that of all places."""
    squares = [math.fsum((each - fmean(place)) ** 2 for each in place) for place in said]
    freedom = sum(len(place) - 1 for place in said)
    pooled = math.fsum(squares) / freedom if freedom else 0.0
    return [max(LEAST_NOISE, (own + pooled) / len(place) / len(place)) for own, place in zip(squares, said, strict=True)]
