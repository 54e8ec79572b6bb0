"""A model of what a search has seen: a Gaussian process over the unit cube, and where it expects an improvement.

Scikit-learn fits it. Values are made more normal first, since what a search looks for often has a long tail.
"""

import math
from collections.abc import Sequence
from typing import Any

from sojourn.exploration import gaussian
from sojourn.exploration.space import Dimension

#: Observations that a model is fitted to at most: the largest, and the latest. Its cost grows with their cube.
LARGEST, LATEST = 150, 150

#: Bounds of the process: length scales as shares of the cube, and the noise as a share of the variance.
SCALES, NOISE = (0.05, 20.0), (1e-6, 1.0)

#: The least variance that is told from none.
LEAST = 1e-12


class Surrogate:
    """A Gaussian process with a length scale for each coordinate (Matérn 5/2), and noise."""

    def __init__(self, dimensions: Sequence[Dimension], places: Sequence[Sequence[float]], values: Sequence[float]) -> None:
        """Fits it to values at places, of which one may be given several times."""
        import numpy as np
        from sklearn.gaussian_process import GaussianProcessRegressor, kernels
        from sklearn.preprocessing import PowerTransformer

        self._dimensions = dimensions
        finite = [value for value in values if math.isfinite(value)]
        least = min(finite, default=0.0)
        known = np.array([value if math.isfinite(value) else least for value in values])
        kept = sorted({*np.argsort(-known, kind="stable")[:LARGEST].tolist(), *range(max(0, len(known) - LATEST), len(known))})
        at, known = self._coordinates([places[row] for row in kept]), known[kept]
        kernel = kernels.ConstantKernel(1.0, (0.05, 20.0)) * kernels.Matern([0.5] * at.shape[1], SCALES, nu=2.5)
        kernel += kernels.WhiteKernel(0.05, NOISE)
        with gaussian.alone():
            scaled = known * 0
            if float(known.std()) > 0:
                scaled = PowerTransformer().fit_transform(_standard(known)[:, None])[:, 0]
            self._process = GaussianProcessRegressor(kernel, optimizer=_optimised, normalize_y=False).fit(at, scaled)
            self._noise = float(self._process.kernel_.k2.noise_level)
            self._best = float(self._process.predict(at).max())

    def ranked(self, places: Sequence[Sequence[float]]) -> list[int]:
        """Which places promise most, the best first: where most improvement is expected."""
        import numpy as np

        at = self._coordinates(places)
        with gaussian.alone():
            mean, deviation = self._process.predict(at, return_std=True)
        order: list[int] = np.argsort(-_improvement(mean, deviation**2 - self._noise, self._best), kind="stable").tolist()
        return order

    def chosen(self, places: Sequence[Sequence[float]], number: int) -> list[int]:
        """So many of some places: each where most improvement is expected if those before it are as the model says."""
        import numpy as np

        with gaussian.alone():
            mean, covariance = self._process.predict(self._coordinates(places), return_cov=True)
        covariance = covariance - self._noise * np.eye(len(places))
        best, found = self._best, list[int]()
        for _ in range(min(number, len(places))):
            expected = _improvement(mean, covariance.diagonal(), best)
            expected[found] = -math.inf
            place = int(expected.argmax())
            found.append(place)
            best = max(best, float(mean[place]))
            column = covariance[:, place]
            covariance = covariance - np.outer(column, column) / (column[place] + self._noise + LEAST)
        return found

    def _coordinates(self, places: Sequence[Sequence[float]]) -> Any:
        """Places as the process sees them: a choice is a coordinate for each of its values."""
        import numpy as np

        columns = list[Any]()
        for dimension, column in zip(self._dimensions, zip(*places, strict=True), strict=True):
            if dimension.kind == "choice":
                taken = [dimension.at(share) for share in column]
                columns += [[float(choice == each) for each in taken] for choice in range(dimension.size)]
            elif dimension.kind == "whole":
                columns.append([dimension.share(dimension.at(share)) for share in column])
            else:
                columns.append(list(column))
        return np.array(columns).T


def _standard(values: Any) -> Any:
    return (values - values.mean()) / values.std()


def _improvement(mean: Any, variance: Any, best: float) -> Any:
    """The expected improvement on a value, of normal distributions."""
    import numpy as np
    from scipy.stats import norm

    deviation = np.sqrt(np.maximum(variance, LEAST))
    by = (mean - best) / deviation
    return deviation * (by * norm.cdf(by) + norm.pdf(by))


def _optimised(objective: Any, initial: Any, bounds: Any) -> tuple[Any, float]:
    """The parameters of the kernel that explain the observations best: few steps do."""
    from scipy.optimize import minimize

    found = minimize(objective, initial, method="L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": 30})
    return found.x, float(found.fun)
