"""All figures, as ``sojourn plot``, reports, studies and docs/figures.md read them. docs/add-a-figure.md says how to add one.

Nothing heavy is imported: commands read this that draw nothing.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from sojourn import names
from sojourn.errors import InputError
from sojourn.metrics import METRICS, Metric, Scope, of_group, of_run

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart
    from sojourn.figures.drawn import Drawn


class Need(Enum):
    """What results must have for a figure; its text says how to get it."""

    RUNS = "runs, but there are none"
    FLOWS = "flows, but there are none"
    QUEUES = "a link with a queue, but the network has none"
    QUEUE_SERIES = 'samples of queues over time; set queue_series = "100 ms" under [probe] of the scenario'
    SERIES = 'samples over time; set queue_series = "100 ms" or flow_series = "1 s" under [probe] of the scenario'
    FLOW_SERIES = 'samples of flows over time; set flow_series = "1 s" under [probe] of the scenario'
    QUEUE_STATE = 'inner states of disciplines; set queue_series = "100 ms" and queue_state = true under [probe] of the scenario'
    FLOW_STATE = (
        'inner states of congestion controls; set flow_series = "1 s" and flow_state = true under [probe] of the scenario'
    )

    def met(self, source: "Drawn") -> bool:
        """Whether the results have it."""
        if self in (Need.RUNS, Need.FLOWS, Need.QUEUES, Need.SERIES):
            return self is Need.RUNS or source.has(self.name.lower())
        if self in (Need.QUEUE_STATE, Need.FLOW_STATE):
            return source.asked_for(self.name.lower())
        return source.has("series", kind="queue" if self is Need.QUEUE_SERIES else "flow")


class Family(StrEnum):
    """Figures that look alike; a section of docs/figures.md."""

    OVER_TIME = "Over time"
    BARS = "Bars"
    LINES = "Lines"
    BY_GROUP = "By group"
    TRADE_OFFS = "Trade-offs"
    HEAT_MAPS = "Heat maps"
    BOXES = "Boxes"
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
    #: The same of two seeds, where that is something else.
    over_two_seeds: str = ""

    @property
    def told_of(self) -> str:
        """What it has a line, a bar or a point for, in words."""
        return {Need.QUEUES: "run", Need.QUEUE_SERIES: "queue", Need.QUEUE_STATE: "queue"}.get(self.need, "flow")

    def shown(self, source: "Drawn") -> str:
        """What the figure shows, in words: what its cells have in common, and how their seeds come in."""
        seeds = source.seeds
        over_seeds = self.over_two_seeds if len(seeds) == 2 and self.over_two_seeds else self.over_seeds
        told = f"seed {seeds[0]}" if self.shows_one_seed(source) else over_seeds.format(seeds=len(seeds))
        return ", ".join(part for part in (source.common, told) if part)

    def shows_one_seed(self, source: "Drawn") -> bool:
        """Whether it shows runs of one seed, of several or not."""
        of_one = (Need.QUEUE_SERIES, Need.FLOW_SERIES, Need.QUEUE_STATE, Need.FLOW_STATE)
        return len(source.seeds) == 1 or self.need in of_one

    def possible(self, source: "Drawn") -> bool:
        """Whether the results have what the figure shows."""
        return self.need.met(source)

    def draw(self, source: "Drawn", width: int) -> "Chart":
        """Draws it, without title and style."""
        if not self.possible(source):
            raise InputError(f"figure {self.name}: needs {self.need.value}")
        wishes = source.wishes
        if wishes.x_scale is not None and self.family is not Family.LINES:
            raise InputError(f"figure {self.name}: --x-scale is for lines over an axis of quantities, such as line-throughput")
        if wishes.reverse_delay and self.family is not Family.TRADE_OFFS:
            raise InputError(f"figure {self.name}: --reverse-delay is for trade-offs with a delay, such as delay-goodput")
        # Loaded here, because listing figures needs no Altair.
        from altair.utils.schemapi import debug_mode

        module, _, function = self.drawn_by.partition(":")
        draw: Callable[[Figure, Drawn, int], Chart] = getattr(import_module(f"{__package__}.{module}"), function)
        # Altair would check every part when it is made; a chart is checked when it is saved.
        with debug_mode(False):
            return draw(self, source, width)


@dataclass(frozen=True, kw_only=True)
class MetricFigure(Figure):
    """A figure of one metric of each cell."""

    metric: Metric

    @property
    def told_of(self) -> str:
        """See ``Figure.told_of``: a run has a value where its queue has one."""
        return str(self.metric.scope)


@dataclass(frozen=True, kw_only=True)
class ColumnFigure(Figure):
    """A figure of the values in one column of a frame, or of one measure of ``series``."""

    frame: str
    column: str


def _sampled(name: str, title: str, what: str, need: Need, function: str) -> Figure:
    drawn_by = f"over_time:{function}"
    return Figure(
        name=f"{name}-over-time", title=f"{title} over time", family=Family.OVER_TIME, help=what, need=need, drawn_by=drawn_by
    )


_goodput = partial(
    Figure,
    family=Family.TRADE_OFFS,
    over_seeds="medians over {seeds} seeds, ellipses one standard deviation",
    over_two_seeds="medians over 2 seeds; ellipses need 3",
)

FIGURES = (
    _sampled("queue", "Queue length", "length of the bottleneck's queue, packets", Need.QUEUE_SERIES, "queue_length"),
    _sampled("loss", "Drops", "drops at the bottleneck between two samples, packets/s", Need.QUEUE_SERIES, "drops"),
    _sampled(
        "delay",
        "Queueing delay",
        "how long it takes the bottleneck to send what waits for it, ms",
        Need.QUEUE_SERIES,
        "queueing_delay",
    ),
    _sampled(
        "capacity",
        "Capacity and throughput",
        "capacity of the bottleneck, and throughput of all flows over it, between two samples, Mbit/s",
        Need.FLOW_SERIES,
        "capacity_and_throughput",
    ),
    _sampled("throughput", "Throughput", "throughput of each flow between two samples, Mbit/s", Need.FLOW_SERIES, "throughput"),
    _sampled("cwnd", "Congestion window", "congestion window of each flow, kB", Need.FLOW_SERIES, "congestion_window"),
    _sampled("rtt", "Round-trip time", "latest RTT sample of each flow, ms", Need.FLOW_SERIES, "round_trip_time"),
    Figure(
        name="state-over-time",
        title="Inner states of the congestion controls over time",
        family=Family.OVER_TIME,
        help="inner state of each flow's congestion control, a panel for each value",
        need=Need.FLOW_STATE,
        drawn_by="states:of_flows",
    ),
    Figure(
        name="queue-state-over-time",
        title="Inner state of the discipline over time",
        family=Family.OVER_TIME,
        help="inner state of the bottleneck's discipline, a panel for each value",
        need=Need.QUEUE_STATE,
        drawn_by="states:of_queue",
    ),
    Figure(
        name="throughput-by-algorithm",
        title="Throughput of the flows of each algorithm",
        family=Family.BARS,
        help="total throughput of the flows of each congestion control, Mbit/s",
        need=Need.FLOWS,
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
    _goodput(
        name="delay-goodput",
        title="Goodput against queueing delay",
        help=(
            "total throughput against the mean sojourn time, as in RFC 7928: the median of the runs and, of three "
            "seeds or more, an ellipse of one standard deviation"
        ),
        need=Need.QUEUES,
        drawn_by="tradeoffs:delay_goodput",
    ),
    _goodput(
        name="delay-goodput-by-group",
        title="Goodput against round-trip time by group",
        help=(
            "mean throughput of a flow against the mean round-trip time of each group of flows: the median of the runs and, of "
            "three seeds or more, an ellipse of one standard deviation"
        ),
        need=Need.FLOWS,
        drawn_by="tradeoffs:delay_goodput_by_group",
    ),
    Figure(
        name="flow-throughputs",
        title="Throughputs of the flows",
        family=Family.DISTRIBUTIONS,
        help="cumulative distribution of the throughput of a cell's flows, over all its seeds",
        need=Need.FLOWS,
        drawn_by="distributions:flow_throughputs",
        over_seeds="flows of {seeds} seeds together",
    ),
)


def available() -> dict[str, Figure]:
    """All figures by name: those above, five of every metric that a run has, and two of every metric of a group.

    ``named`` knows besides them box plots and distributions of any column, and any measure of ``series`` over time.
    """
    of_runs = (figure for metric in of_run() for figure in _of_metric(metric))
    of_groups = (figure for metric in of_group() for figure in (_by_group(metric), _line_by_group(metric)))
    return {figure.name: figure for figure in (*FIGURES, *of_runs, *of_groups)}


def named(name: str) -> Figure:
    """A figure by its name.

    Raises:
        InputError: there is none of that name.
    """
    known = available()
    if name.startswith(OVER_TIME):
        return _over_time(name, name.removeprefix(OVER_TIME))
    of_column = _COLUMN.fullmatch(name)
    if of_column is not None and name not in known:
        return _of_column(name, *of_column.group("form", "frame", "column"))
    if name not in known and (metric := _METRIC.fullmatch(name)) is not None and metric["metric"] in METRICS:
        meant = METRICS[metric["metric"]]
        # Of the metrics of a group alone there are only bars and lines.
        by_group = _line_by_group if metric["form"] == "line-" else _by_group
        figure = f"{metric['form']}{meant.figure_name}" if meant.of_run else by_group(meant).name
        raise InputError(f'unknown figure "{name}", did you mean "{figure}"? It is the figure of the metric {meant.name}')
    if name not in known:
        raise InputError(f"{names.nearest('figure', name, known, SUGGESTIONS)} (sojourn list figures shows all)")
    return known[name]


#: Figures that are suggested for a name that none has: there are hundreds, many of which are alike.
SUGGESTIONS = 3

#: A metric in place of a figure, such as ``jain`` or ``heatmap-sojourn_p99_s``.
_METRIC = re.compile(r"(?P<form>(heatmap-|line-|box-|cdf-)?)(?P<metric>\w+)")

#: What box plots and distributions are called: ``box-flows.rtt_max``, ``cdf-series.packets``.
_COLUMN = re.compile(r"(?P<form>box|cdf)-(?P<frame>[a-z]+)\.(?P<column>.+)")

#: What begins the name of a figure of any measure of ``series`` over time, such as one that an algorithm records.
OVER_TIME = "series-"

#: The families of the two, the functions that draw them, and what they are called in titles.
_FORMS = {
    "box": (Family.BOXES, "boxes:of_values", "quartiles, least and greatest"),
    "cdf": (Family.DISTRIBUTIONS, "distributions:of_values", "cumulative distribution"),
}

#: What is shown of several seeds where every value counts.
_TOGETHER = "values of {seeds} seeds together"


def _of_column(name: str, form: str, frame: str, column: str) -> ColumnFigure:
    """A box plot or a distribution of a column."""
    from sojourn.analysis.frames import EVERY  # heavy

    names.check("frame", frame, EVERY, InputError, f"figure {name}: ")
    family, drawn_by, what = _FORMS[form]
    title = f"{column} of {frame}{' after the warm-up' if frame == 'series' else ''}"
    return ColumnFigure(
        name=name,
        title=title,
        family=family,
        help=f"{title}: {what}",
        need={"queues": Need.QUEUES, "series": Need.SERIES}.get(frame, Need.RUNS),
        drawn_by=drawn_by,
        over_seeds=_TOGETHER,
        frame=frame,
        column=column,
    )


def _over_time(name: str, measure: str) -> ColumnFigure:
    """A measure of ``series`` over time, such as what an algorithm of a user's own records."""
    return ColumnFigure(
        name=name,
        title=f"{measure} over time",
        family=Family.OVER_TIME,
        help=f"{measure} of series over time",
        need=Need.SERIES,
        drawn_by="over_time:of_measure",
        frame="series",
        column=measure,
    )


def _by_group(metric: Metric) -> MetricFigure:
    return MetricFigure(
        name=f"{metric.figure_name}-by-group",
        title=f"{metric.caption} by group",
        family=Family.BY_GROUP,
        help=f"{_said(metric)}, of each group of flows",
        need=Need.RUNS,
        drawn_by="bars:by_group",
        metric=metric,
    )


def _line_by_group(metric: Metric) -> MetricFigure:
    """Lines by group of flows; of what only groups have there are no others, so that ``line-share`` says enough."""
    return MetricFigure(
        name=f"line-{metric.figure_name}{'-by-group' if metric.of_run else ''}",
        title=f"{metric.caption} by group",
        family=Family.LINES,
        help=f"{_said(metric)}, of each group of flows",
        need=Need.RUNS,
        drawn_by="lines:by_group",
        metric=metric,
    )


def _said(metric: Metric) -> str:
    return f"{metric.title}, {metric.shown_unit}" if metric.shown_unit else metric.title


def _of_metric(metric: Metric) -> Iterator[MetricFigure]:
    need = Need.QUEUES if metric.scope is Scope.QUEUE else Need.RUNS
    name, said = metric.figure_name, _said(metric)
    figure = partial(MetricFigure, title=metric.caption, need=need, metric=metric)
    yield figure(name=name, family=Family.BARS, help=said, drawn_by="bars:of_metric")
    yield figure(
        name=f"heatmap-{name}",
        family=Family.HEAT_MAPS,
        help=said,
        drawn_by="heatmaps:of_metric",
        over_seeds="means over {seeds} seeds",
    )
    yield figure(name=f"line-{name}", family=Family.LINES, help=said, drawn_by="lines:of_metric")
    for form, (family, drawn_by, what) in _FORMS.items():
        yield figure(name=f"{form}-{name}", family=family, help=f"{said}: {what}", drawn_by=drawn_by, over_seeds=_TOGETHER)
