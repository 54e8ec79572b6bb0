"""All figures, as ``sojourn plot``, reports, studies and docs/figures.md read them. docs/add-a-figure.md says how to add one.

Nothing heavy is imported: commands read this that draw nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

from sojourn import names
from sojourn.errors import InputError
from sojourn.metrics import Metric, Scope, of_run

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart
    from sojourn.figures.drawn import Drawn


class Need(Enum):
    """What results must have for a figure; its text says how to get it."""

    RUNS = "runs, but there are none"
    QUEUES = "a link with a queue, but the network has none"
    QUEUE_SERIES = 'samples of queues over time; set queue_series = "100 ms" under [probe] of the scenario'
    FLOW_SERIES = 'samples of flows over time; set flow_series = "1 s" under [probe] of the scenario'

    def met(self, source: "Drawn") -> bool:
        """Whether the results have it."""
        match self:
            case Need.RUNS:
                return True
            case Need.QUEUES:
                return source.bottlenecks.height > 0
            case Need.QUEUE_SERIES:
                return source.has_series("queue")
            case Need.FLOW_SERIES:
                return source.has_series("flow")


class Family(StrEnum):
    """Figures that look alike; a section of docs/figures.md."""

    OVER_TIME = "Over time"
    BARS = "Bars"
    TRADE_OFFS = "Trade-offs"
    HEAT_MAPS = "Heat maps"
    DISTRIBUTIONS = "Distributions"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure; an entry of the registry."""

    #: What ``--figure`` and studies call it.
    name: str
    title: str
    family: Family
    #: What it shows, in one line.
    help: str
    need: Need
    #: The function that draws it, as ``module:function`` in this package. It takes the entry, the results and a width in points,
    #: and leaves title and style to ``look.finish``.
    drawn_by: str
    #: What is shown of several seeds.
    over_seeds: str = "means over {seeds} seeds, lines their 95 % intervals"

    def shown(self, source: "Drawn") -> str:
        """What the figure shows, in words: what its cells have in common, and how their seeds come in."""
        seeds = source.seeds
        told = f"seed {seeds[0]}" if self.shows_one_seed(source) else self.over_seeds.format(seeds=len(seeds))
        return ", ".join(part for part in (source.common, told) if part)

    def shows_one_seed(self, source: "Drawn") -> bool:
        """Whether it shows runs of one seed, of several or not."""
        return len(source.seeds) == 1 or self.need in (Need.QUEUE_SERIES, Need.FLOW_SERIES)

    def possible(self, source: "Drawn") -> bool:
        """Whether the results have what the figure shows."""
        return self.need.met(source)

    def draw(self, source: "Drawn", width: int) -> "Chart":
        """Draws it, without title and style.

        Raises:
            InputError: the results do not have what it shows, or too much of it.
        """
        if not self.possible(source):
            raise InputError(f"figure {self.name}: needs {self.need.value}")
        module, _, function = self.drawn_by.partition(":")
        draw: Callable[[Figure, Drawn, int], Chart] = getattr(import_module(f"{__package__}.{module}"), function)
        return draw(self, source, width)


@dataclass(frozen=True, kw_only=True)
class MetricFigure(Figure):
    """A figure of one metric of each cell."""

    metric: Metric


FIGURES = (
    Figure(
        name="queue-over-time",
        title="Queue length over time",
        family=Family.OVER_TIME,
        help="length of the bottleneck's queue, packets",
        need=Need.QUEUE_SERIES,
        drawn_by="over_time:queue_length",
    ),
    Figure(
        name="loss-over-time",
        title="Drops over time",
        family=Family.OVER_TIME,
        help="drops at the bottleneck between two samples, packets/s",
        need=Need.QUEUE_SERIES,
        drawn_by="over_time:drops",
    ),
    Figure(
        name="throughput-over-time",
        title="Throughput over time",
        family=Family.OVER_TIME,
        help="throughput of each flow between two samples, Mbit/s",
        need=Need.FLOW_SERIES,
        drawn_by="over_time:throughput",
    ),
    Figure(
        name="cwnd-over-time",
        title="Congestion window over time",
        family=Family.OVER_TIME,
        help="congestion window of each flow, kB",
        need=Need.FLOW_SERIES,
        drawn_by="over_time:congestion_window",
    ),
    Figure(
        name="rtt-over-time",
        title="Round-trip time over time",
        family=Family.OVER_TIME,
        help="latest RTT sample of each flow, ms",
        need=Need.FLOW_SERIES,
        drawn_by="over_time:round_trip_time",
    ),
    Figure(
        name="throughput-by-algorithm",
        title="Throughput of the flows of each algorithm",
        family=Family.BARS,
        help="total throughput of the flows of each congestion control, Mbit/s",
        need=Need.RUNS,
        drawn_by="bars:throughput_by_algorithm",
    ),
    Figure(
        name="fairness-delay",
        title="Fairness against queueing delay",
        family=Family.TRADE_OFFS,
        help="Jain's index against the mean sojourn time: means over seeds, with lines for their 95 % intervals",
        need=Need.QUEUES,
        drawn_by="tradeoffs:fairness_delay",
    ),
    Figure(
        name="delay-goodput",
        title="Goodput against queueing delay",
        family=Family.TRADE_OFFS,
        help=(
            "total throughput against the mean sojourn time, as in RFC 7928: the median of the runs and an "
            "ellipse of one standard deviation; needs three seeds"
        ),
        need=Need.QUEUES,
        drawn_by="tradeoffs:delay_goodput",
        over_seeds="medians over {seeds} seeds, ellipses one standard deviation",
    ),
    Figure(
        name="flow-throughputs",
        title="Throughputs of the flows",
        family=Family.DISTRIBUTIONS,
        help="cumulative distribution of the throughput of a cell's flows, over all its seeds",
        need=Need.RUNS,
        drawn_by="distributions:flow_throughputs",
        over_seeds="flows of {seeds} seeds together",
    ),
)


def available() -> dict[str, Figure]:
    """All figures by name: those above, and bars and a heat map of every metric that a run has."""
    figures = (*FIGURES, *(figure for metric in of_run() for figure in _of_metric(metric)))
    return {figure.name: figure for figure in figures}


def named(name: str) -> Figure:
    """A figure by its name.

    Raises:
        InputError: there is none of that name.
    """
    known = available()
    if name not in known:
        raise InputError(names.unknown("figure", name, known))
    return known[name]


def _of_metric(metric: Metric) -> tuple[MetricFigure, MetricFigure]:
    title = metric.title[0].upper() + metric.title[1:]
    need = Need.QUEUES if metric.scope is Scope.QUEUE else Need.RUNS
    name, said = metric.figure_name, f"{metric.title}, {metric.shown_unit}" if metric.shown_unit else metric.title
    bars = MetricFigure(
        name=name, title=title, family=Family.BARS, help=said, need=need, drawn_by="bars:of_metric", metric=metric
    )
    heat_map = MetricFigure(
        name=f"heatmap-{name}",
        title=title,
        family=Family.HEAT_MAPS,
        help=said,
        need=need,
        drawn_by="heatmaps:of_metric",
        over_seeds="means over {seeds} seeds",
        metric=metric,
    )
    return bars, heat_map
