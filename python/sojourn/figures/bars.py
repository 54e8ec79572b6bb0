"""Bars: one metric of every cell side by side, with 95 % intervals over seeds."""

from collections.abc import Iterator, Mapping, Sequence

import altair as alt
import polars as pl
from polars import selectors as cs

from sojourn import colours
from sojourn.figures import look, means
from sojourn.figures.drawn import Drawn
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import Figure, MetricFigure
from sojourn.metrics import METRICS
from sojourn.names import GROUP

#: Flows that are added up at once.
AT_ONCE = 20_000


def of_metric(figure: MetricFigure, source: Drawn, width: int) -> look.Chart:
    """The figure's metric, a bar a cell; where one axis varies, it is below the bars and colours tell nothing."""
    return _of_metric(figure, source, width, together(source) if len(source.varying) > 1 else None)


def by_group(figure: MetricFigure, source: Drawn, width: int) -> look.Chart:
    """The figure's metric of each group of flows, a bar a group."""
    return _of_metric(figure, source if GROUP in source.axes else source.by_group(), width, GROUP)


def _of_metric(figure: MetricFigure, source: Drawn, width: int, side: str | None) -> look.Chart:
    bars = means.of_figure(figure, source).with_columns(shown_axis(side, "colour"))
    others = [axis for axis in source.varying if axis != side]
    return _bars(figure.name, figure.metric.label, source, width, bars, others, side, source.places(side))


def throughput_by_algorithm(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """The total throughput of the flows of each congestion control, a bar each."""
    rates = pl.concat(_by_algorithm(source)).lazy()
    bars = means.over_seeds(rates, [*source.columns, "algorithm"], METRICS["total_mbps"].bounds).rename({"algorithm": "colour"})
    bars = bars.with_columns(cs.categorical().cast(pl.String))
    algorithms = colours.apart(sorted(bars["colour"].unique()), source.of_algorithms)
    return _bars(figure.name, METRICS["total_mbps"].label, source, width, bars, source.varying, "algorithm", algorithms)


def _by_algorithm(source: Drawn) -> Iterator[pl.DataFrame]:
    """The axes, ``algorithm``, and ``value``: the total throughput of its flows in a run; so many flows at once."""
    by = ["key", *source.columns, "algorithm"]
    held = pl.DataFrame()
    for block in source.scan_throughputs().select(*by, "mbps").collect_batches(chunk_size=AT_ONCE):
        rows = pl.concat([held, block]) if held.height else block
        # The flows of the last run may go on in the next block.
        is_last = rows["key"] == rows["key"].tail(1).item() if rows.height else pl.Series([], dtype=pl.Boolean)
        held = rows.filter(is_last)
        yield _sums(rows.filter(~is_last), by)
    yield _sums(held, by)


def _sums(flows: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    sums = flows.group_by(by, maintain_order=True).agg(value=pl.col("mbps").sum()).drop("key")
    return sums.with_columns(pl.col(by[1:]).cast(pl.Categorical))


def _bars(
    figure: str,
    title: str,
    source: Drawn,
    width: int,
    bars: pl.DataFrame,
    axes: Sequence[str],
    side: str | None,
    places: Mapping[str, int],
) -> look.Chart:
    """Bars in panels by ``axes``, of which the last tells groups side by side; ``side`` is what the colours tell."""
    look.check_distinct(figure, side, list(places))
    group = axes[-1] if axes else None
    panels = Panels(figure, source, axes[:-1])
    rows = panels.place(bars, shown_axis(group, "group"), "colour", "value", "low", "high", "seeds")
    shared = panels.alike(rows)
    panel = panels.width(width, shared=shared)
    base = alt.Chart(look.data(rows)).encode(
        x=look.groups(group, source.labels(group), panel),
        xOffset=alt.XOffset("colour:N", sort=list(places)),
        tooltip=[*look.labels({"group": group, "colour": side}), *look.interval(title)],
    )
    told = look.own_colour(source, group) if side is None else look.colour(side, places, width)
    filled = base.mark_bar().encode(y=alt.Y("value:Q", title=title), **told)
    intervals = base.mark_rule().encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    return panels.divide([filled, intervals], panel, shared=shared)
