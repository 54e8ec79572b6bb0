"""What exploring a space has found: on which part of each map each verdict holds, and where it begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.exploration import gaussian
from sojourn.exploration.frontier import Frontier, Surface
from sojourn.exploration.plane import Axis, Place, Plane
from sojourn.exploration.space import Point
from sojourn.verdicts import Definition, Observed

if TYPE_CHECKING:
    from sojourn.exploration.frontier import Numbers

#: What the number of a place and its seeds are called in frames, and the column of what holds there.
NUMBER, OF_SEEDS, HOLDS = "point", "seeds", "holds"

#: What is called the border of any verdict, and the column of the share of its probability.
ANY = "any"


@dataclass
class Tried:
    """A place of a map that was tried."""

    #: Which map, the place, and its point.
    sheet: int
    place: Place
    point: Point
    said: Observed = field(default_factory=dict)
    seeds: int = 0

    @property
    def varies(self) -> bool:
        """Whether its seeds are different runs, as far as is known."""
        return self.seeds < 2 or any(len(said) > 1 for said in self.said.values())

    def share(self, verdict: str) -> float | None:
        """The share of its seeds on which a verdict holds; none if it cannot be asked."""
        said = self.said.get(verdict)
        return sum(holds for holds, _ in said) / len(said) if said else None

    def differs(self, verdict: str) -> bool:
        """Whether seeds differ on a verdict."""
        return self.share(verdict) not in (None, 0.0, 1.0)


@dataclass(frozen=True)
class Layer:
    """A verdict on a grid of a map, or any of them: above 0 where it holds; each row of an array is one of the map."""

    mean: "Numbers"
    #: What it is at least and at most with 97.5 % each.
    low: "Numbers"
    high: "Numbers"
    #: The probability that it holds.
    probability: "Numbers"


@dataclass(frozen=True)
class OperatingRange:
    """Where verdicts hold in a space."""

    plane: Plane
    asked: Sequence[Definition]
    tried: Sequence[Tried]
    #: What is known of each verdict on each map, but for those that could be asked nowhere on it.
    frontiers: Sequence[Sequence[Frontier]]
    #: Runs that were made.
    runs: int
    #: Why points could not be run, the first of them.
    problem: str | None

    @property
    def never(self) -> list[str]:
        """Verdicts that could be asked nowhere."""
        could = {each.definition.id for frontiers in self.frontiers for each in frontiers}
        return [each.id for each in self.asked if each.id not in could]

    @property
    def choices(self) -> list[str]:
        """The names by which maps differ."""
        return list(self.plane.sheets[0].labels)

    @cached_property
    def layers(self) -> Sequence[Mapping[str, Layer]]:
        """Of each map, what its verdicts are on the grid, and ``ANY`` of them."""
        with gaussian.alone():
            return [_layers(self.plane, frontiers) for frontiers in self.frontiers]

    @cached_property
    def allowed(self) -> "Sequence[Numbers]":
        """Of each map, which places of the grid meet the conditions of the space."""
        import numpy as np

        shape = (len(self.plane.y.shares), len(self.plane.x.shares))
        return [np.array(self.plane.allowed(sheet, self.plane.places)).reshape(shape) for sheet in self.plane.sheets]

    @cached_property
    def points(self) -> pl.DataFrame:
        """A row for each place that was tried, in the order of the maps.

        Columns: ``point``, the choices, the numbers of both axes, ``seeds``, and for each verdict the share of seeds on which it
        holds.
        """
        rows = [
            {
                NUMBER: number,
                **self.plane.sheets[each.sheet].labels,
                self.plane.x.name: self.plane.x.number(each.point[self.plane.x.name]),
                self.plane.y.name: self.plane.y.number(each.point[self.plane.y.name]),
                OF_SEEDS: each.seeds,
                **{verdict.id: each.share(verdict.id) for verdict in self.asked},
            }
            for number, each in enumerate(self.tried, 1)
        ]
        schema: dict[str, Any] = {
            NUMBER: pl.UInt32(),
            **dict.fromkeys(self.choices, pl.String()),
            **dict.fromkeys((self.plane.x.name, self.plane.y.name), pl.Float64()),
            OF_SEEDS: pl.UInt32(),
            **{verdict.id: pl.Float64() for verdict in self.asked},
        }
        return pl.DataFrame(rows, schema=schema)

    @cached_property
    def grid(self) -> pl.DataFrame:
        """A row for each place of each map's grid, but for those that conditions leave out.

        Columns: the choices, the numbers of both axes, for each verdict the probability that it holds on most seeds, ``any`` of
        that of the likeliest, and ``holds``, the names of those that are likelier than not, which is empty where the pair gets
        along.
        """
        x, y = self.plane.x, self.plane.y
        rows = []
        for sheet, layers, allowed in zip(self.plane.sheets, self.layers, self.allowed, strict=True):
            for row, up in enumerate(y.shares):
                for column, right in enumerate(x.shares):
                    if not allowed[row, column]:
                        continue
                    chances = {name: float(layer.probability[row, column]) for name, layer in layers.items()}
                    holds = _holding(layers, row, column) if layers else None
                    rows.append({**sheet.labels, x.name: x.at(right), y.name: y.at(up), **chances, HOLDS: holds})
        schema: dict[str, Any] = {
            **dict.fromkeys(self.choices, pl.String()),
            **dict.fromkeys((x.name, y.name), pl.Float64()),
            **{name: pl.Float64() for name in (*(each.id for each in self.asked), ANY)},
            HOLDS: pl.String(),
        }
        return pl.DataFrame(rows, schema=schema)

    @cached_property
    def extent(self) -> pl.DataFrame:
        """On how much of each map each verdict holds, and ``any`` of them.

        Columns: the choices, ``verdict``, ``holds_pct``, the share of the map on which it is likelier than not, and
        ``unclear_pct``, the share on which it is neither likely nor unlikely by 97.5 %.
        """
        rows = [
            {
                **sheet.labels,
                "verdict": name,
                "holds_pct": 100 * float((layer.mean[allowed] > 0).mean()),
                "unclear_pct": 100 * float(((layer.low[allowed] <= 0) & (layer.high[allowed] > 0)).mean()),
            }
            for sheet, layers, allowed in zip(self.plane.sheets, self.layers, self.allowed, strict=True)
            for name, layer in layers.items()
            if allowed.any()
        ]
        schema: dict[str, Any] = {
            **dict.fromkeys([*self.choices, "verdict"], pl.String()),
            **dict.fromkeys(("holds_pct", "unclear_pct"), pl.Float64()),
        }
        return pl.DataFrame(rows, schema=schema)

    @cached_property
    def borders(self) -> pl.DataFrame:
        """Where along each row of a map each verdict begins or ends to hold, and any of them.

        Columns: the choices, the number of the vertical axis, ``verdict``, ``change`` with growing values of the horizontal axis,
        ``begins`` or ``ends``, ``at``, the number of the horizontal axis there, with its 95 % interval, ``low`` to ``high``, and
        ``holds``, the names of all that hold on the side on which it does.
        """
        rows = [
            {**sheet.labels, self.plane.y.name: self.plane.y.at(up), "verdict": name, **crossing}
            for sheet, layers, allowed in zip(self.plane.sheets, self.layers, self.allowed, strict=True)
            for row, up in enumerate(self.plane.y.shares)
            for name, layer in layers.items()
            for crossing in _crossings(self.plane.x, layer, row, allowed[row], layers)
        ]
        schema: dict[str, Any] = {
            **dict.fromkeys(self.choices, pl.String()),
            self.plane.y.name: pl.Float64(),
            "verdict": pl.String(),
            "change": pl.String(),
            **dict.fromkeys(("at", "low", "high"), pl.Float64()),
            HOLDS: pl.String(),
        }
        return pl.DataFrame(rows, schema=schema)


def _layers(plane: Plane, frontiers: Sequence[Frontier]) -> dict[str, Layer]:
    import numpy as np
    from scipy.special import ndtr

    shape = (len(plane.y.shares), len(plane.x.shares))
    found: dict[str, Layer] = {}
    for each in frontiers:
        surface: Surface = each.at(plane.places)
        with np.errstate(divide="ignore"):
            chance = ndtr(surface.mean / surface.sd)
        arrays = (surface.mean, surface.low, surface.high, chance)
        found[each.definition.id] = Layer(*(array.reshape(shape) for array in arrays))
    if found:
        every = list(found.values())
        most = (np.max([getattr(layer, name) for layer in every], axis=0) for name in ("mean", "low", "high", "probability"))
        found[ANY] = Layer(*most)
    return found


def _crossings(axis: Axis, layer: Layer, row: int, allowed: "Numbers", layers: Mapping[str, Layer]) -> list[dict[str, Any]]:
    """Where a verdict begins and ends along a row, and which verdicts hold there."""
    found: list[dict[str, Any]] = []
    shares = axis.shares
    for left, right in pairwise(range(len(shares))):
        before, after = float(layer.mean[row, left]), float(layer.mean[row, right])
        if (before > 0) == (after > 0) or not (allowed[left] and allowed[right]):
            continue
        begins = after > 0
        # Where it may hold already, and where it holds for sure: to the left and right of the border if it begins there.
        nearer, farther = (layer.high[row], layer.low[row]) if begins else (layer.low[row], layer.high[row])
        low, high = left, right
        while low > 0 and allowed[low - 1] and (nearer[low] > 0) == begins and (layer.mean[row, low - 1] > 0) != begins:
            low -= 1
        while (
            high < len(shares) - 1
            and allowed[high + 1]
            and (farther[high] > 0) != begins
            and (layer.mean[row, high + 1] > 0) == begins
        ):
            high += 1
        at = _zero(shares[left], before, shares[right], after)
        ends = [
            _zero(shares[low], float(nearer[low]), shares[low + 1], float(nearer[low + 1])),
            _zero(shares[high - 1], float(farther[high - 1]), shares[high], float(farther[high])),
        ]
        found.append(
            {
                "change": "begins" if begins else "ends",
                "at": axis.at(at),
                "low": axis.at(min(ends[0], at)),
                "high": axis.at(max(ends[1], at)),
                HOLDS: _holding(layers, row, right if begins else left),
            }
        )
    return found


def _holding(layers: Mapping[str, Layer], row: int, column: int) -> str:
    """The names of the verdicts that hold at a place of the grid."""
    return ", ".join(name for name, layer in layers.items() if name != ANY and layer.mean[row, column] > 0)


def _zero(left: float, before: float, right: float, after: float) -> float:
    """Where a line between two values is 0, or the end that is nearer to it."""
    if (before > 0) == (after > 0):
        return left if abs(before) < abs(after) else right
    return left + (right - left) * before / (before - after)
