"""A figure: its name, what it needs, and the function that draws it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import altair as alt
import polars as pl

from sojourn.errors import InputError
from sojourn.figures.drawn import Drawn

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart


class Need(Enum):
    """What results must have for a figure; its text says how to get it."""

    RUNS = "runs, of which there are none"
    QUEUES = "a link with a queue, which the network has not"
    QUEUE_SERIES = 'samples of queues over time; have them taken with queue_series = "100 ms" under [probe] of the scenario'
    FLOW_SERIES = 'samples of flows over time; have them taken with flow_series = "1 s" under [probe] of the scenario'

    def met(self, source: Drawn) -> bool:
        """Whether the results have it."""
        match self:
            case Need.RUNS:
                return True
            case Need.QUEUES:
                return source.bottlenecks.height > 0
            case Need.QUEUE_SERIES:
                return _any(source.frame("series").filter(kind="queue"))
            case Need.FLOW_SERIES:
                return _any(source.frame("series").filter(kind="flow"))


def _any(rows: pl.LazyFrame) -> bool:
    return rows.head(1).collect().height > 0


@dataclass(frozen=True)
class Figure:
    """One kind of figure; ``make`` draws it so wide, in points, and leaves title and style to others."""

    name: str
    title: str
    need: Need
    make: Callable[[Drawn, int], Chart]
    #: What is shown of several seeds.
    over_seeds: str = "means over {seeds} seeds, lines their 95 % intervals"

    def shown(self, source: Drawn) -> str:
        """What the figure shows, in words: what its cells have in common, and how their seeds come in."""
        seeds = source.seeds
        one = len(seeds) == 1 or self.need in (Need.QUEUE_SERIES, Need.FLOW_SERIES)
        return ", ".join(
            part for part in (source.common, f"seed {seeds[0]}" if one else self.over_seeds.format(seeds=len(seeds))) if part
        )

    def possible(self, source: Drawn) -> bool:
        """Whether the results have what the figure shows."""
        return self.need.met(source)

    def draw(self, source: Drawn, width: int) -> Chart:
        """Draws it, without title and style.

        Raises:
            InputError: the results do not have what it shows, or too much of it.
        """
        if not self.possible(source):
            raise InputError(f"figure {self.name}: needs {self.need.value}")
        return self.make(source, width)
