"""Distributions of the sizes of transfers, in bytes, and of numbers of objects, that others have published."""

from dataclasses import dataclass
from typing import Any, NamedTuple

Point = tuple[float, float]
"""A size, and the probability of sizes up to it."""


class CutOff(NamedTuple):
    """Log-normal sizes: their mean (B) and the deviation of their logarithm, before they are cut off below and above (B)."""

    mean: int
    sigma: float
    least: int | None
    most: int | None

    def as_json(self) -> dict[str, Any]:
        """The distribution as a run's specification has it."""
        return {"lognormal": self._asdict()}


@dataclass(frozen=True)
class Published:
    """A distribution of sizes that has been published."""

    name: str
    title: str
    source: str
    #: Points of its distribution function, which lines join; or else what it is.
    sizes: tuple[Point, ...] | CutOff
    #: What it is of.
    of: str = "bytes"

    def as_json(self) -> dict[str, Any]:
        """The distribution as a run's specification has it."""
        return self.sizes.as_json() if isinstance(self.sizes, CutOff) else {"empirical": self.sizes}


_TRAFFIC_GENERATOR = "in the points of its authors' generator (github.com/datacenter/empirical-traffic-gen)"
_HTTP_MODEL = "3GPP2 C.R1002-0, cdma2000 Evaluation Methodology, 2004, HTTP model"


def _numbers_of_objects() -> tuple[Point, ...]:
    """Pareto with shape 1.1 from 2 on, cut off at 55, less 2; to the nearest whole number, so that n is what is below n + 1/2."""
    shape, least, most = 1.1, 2, 55
    return tuple((n, 1.0 if n == most - least else 1 - (least / (n + 0.5 + least)) ** shape) for n in range(most - least + 1))


PUBLISHED = {
    each.name: each
    for each in (
        Published(
            "web-search",
            "flows of web search in a data centre",
            f"Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4, {_TRAFFIC_GENERATOR}, DCTCP_CDF",
            (
                *((0, 0), (10_000, 0.15), (20_000, 0.2), (30_000, 0.3), (50_000, 0.4), (80_000, 0.53)),
                *((200_000, 0.6), (1_000_000, 0.7), (2_000_000, 0.8), (5_000_000, 0.9), (10_000_000, 0.97), (30_000_000, 1)),
            ),
        ),
        Published(
            "data-mining",
            "flows of data mining in a data centre",
            f"Greenberg et al., VL2, SIGCOMM 2009, figure 2, {_TRAFFIC_GENERATOR}, VL2_CDF",
            (
                *((0, 0), (180, 0.1), (216, 0.2), (560, 0.3), (900, 0.4), (1_100, 0.5), (1_870, 0.6), (3_160, 0.7)),
                *((10_000, 0.8), (400_000, 0.9), (3_160_000, 0.95), (100_000_000, 0.98), (1_000_000_000, 1)),
            ),
        ),
        Published("web-main-object", "main objects of web pages", _HTTP_MODEL, CutOff(10_710, 1.37, 100, 2_000_000)),
        Published("web-objects", "numbers of objects embedded in web pages", _HTTP_MODEL, _numbers_of_objects(), "objects"),
        Published("web-embedded-object", "objects embedded in web pages", _HTTP_MODEL, CutOff(7_758, 2.36, 50, 2_000_000)),
    )
}
