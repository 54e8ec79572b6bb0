"""Figures of samples over time, of one seed: the first of those that are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import altair as alt
import polars as pl

from sojourn import colours, names
from sojourn.errors import InputError
from sojourn.figures import capacity, look
from sojourn.figures.drawn import Drawn, flow_names
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import ColumnFigure, Figure
from sojourn.names import GROUP

#: Stretches of a line for each point of a panel's width; of each the least and the greatest sample is drawn.
STRETCHES = 2

#: Queues that share a panel; more have panels of their own, since lines that cross all the time cannot be told apart.
MOST_LINES = 5


@dataclass(frozen=True)
class Sampled:
    """What is drawn over time."""

    #: Of the y axis, with the unit.
    label: str
    #: Of ``series``.
    measure: str
    #: What a sample is multiplied by to be in that unit.
    factor: float = 1
    #: Whether the samples count, and what is drawn is how fast.
    counts: bool = False


def _queue(sampled: Sampled, figure: Figure, source: Drawn, width: int) -> look.Chart:
    """The bottleneck's queue, a line a cell."""
    bottlenecks = source.bottlenecks.filter(seed=source.seeds[0]).select("key", which="link").collect()
    samples = _samples(sampled, figure, source, "queue").join(bottlenecks, on=["key", "which"], how="semi", maintain_order="left")
    return _by_cell(sampled, figure, source, samples, width)


def _by_cell(sampled: Sampled, figure: Figure, source: Drawn, samples: pl.DataFrame, width: int) -> look.Chart:
    """Samples, a line a cell."""
    side = together(source)
    if len(source.labels(side)) > MOST_LINES:
        side = None
    panels = Panels(figure.name, source, [axis for axis in source.varying if axis != side])
    lines = samples.with_columns(shown_axis(side, "colour"))
    return _lines(sampled, panels, lines, side, source.places(side), width)


def _flow(sampled: Sampled, figure: Figure, source: Drawn, width: int) -> look.Chart:
    """A line a flow; of many flows the mean of each algorithm's."""
    flows = named_flows(source)
    lines = _samples(sampled, figure, source, "flow").join(
        flows.select("key", "which", "algorithm", "colour"), on=["key", "which"], maintain_order="left"
    )
    if flows["colour"].n_unique() <= colours.MOST:
        title, places = "flow", places_of_flows(source, flows, lines["colour"])
    else:
        title = "mean of the flows of"
        means = lines.group_by("key", *source.columns, "algorithm", "time", maintain_order=True).agg(pl.col("value").mean())
        lines = means.rename({"algorithm": "colour"})
        places = colours.apart(lines["colour"].unique(maintain_order=True).to_list(), source.of_algorithms)
    panels = Panels(figure.name, source, [axis for axis in source.varying if axis != GROUP])
    return _lines(sampled, panels, lines, title, places, width)


def named_flows(source: Drawn) -> pl.DataFrame:
    """The flows of one seed: ``which`` of ``series``, and what they are called, ``colour``."""
    flows = source.scan_throughputs().filter(seed=source.seeds[0]).collect().with_columns(which=pl.col("flow").cast(pl.String))
    return flows.with_columns(colour=_names(flows))


def places_of_flows(source: Drawn, flows: pl.DataFrame, drawn: pl.Series) -> Mapping[str, int]:
    """The places in the palette of those flows of ``named_flows`` that are drawn, by what they are called."""
    number = pl.col("flow").rank("ordinal").over("key", "flow_group")
    numbered = flows.select("colour", "flow_group", number=number).unique("colour", maintain_order=True)
    places = {name: source.of_flows.get((group, number), 0) for name, group, number in numbered.iter_rows()}
    return colours.apart(drawn.unique(maintain_order=True).to_list(), places)


def _names(flows: pl.DataFrame) -> pl.Series:
    """What flows are called, and their algorithm if it is the same in all runs."""
    named = flows.select("algorithm", name=flow_names(flows))
    told = named.group_by("name").agg(pl.col("algorithm").n_unique())["algorithm"].max() == 1
    return named.select(pl.col("name") + ": " + pl.col("algorithm") if told else pl.col("name")).to_series()


def _samples(sampled: Sampled, figure: Figure, source: Drawn, kind: str) -> pl.DataFrame:
    """The samples of one seed in the unit of the figure: key, axes, time, which, value."""
    seed = source.seeds[0]
    rows = source.frame("series").filter(seed=seed, kind=kind, measure=sampled.measure)
    found = rows.select("key", *source.columns, "time", "which", "value").collect()
    if sampled.counts:
        line = ["key", "which"]
        rate = pl.col("value").diff().over(line) / pl.col("time").diff().over(line)
        found = found.with_columns(value=rate)
    found = found.with_columns(pl.col("value") * sampled.factor).drop_nulls("value")
    if not found.height:
        raise InputError(f"figure {figure.name}: no samples of {sampled.measure} in the runs with seed {seed}")
    return found


def _lines(
    sampled: Sampled, panels: Panels, lines: pl.DataFrame, title: str | None, places: Mapping[str, int], width: int
) -> look.Chart:
    look.check_distinct(panels.figure, title, list(places))
    thin = thinned(lines.select(*panels.source.columns, "colour", "time", "value"), STRETCHES * panels.width(width))
    rows = panels.place(thin, "colour", "time", "value")
    shared = panels.alike(rows)
    panel = panels.width(width, shared=shared)
    encoding = {
        "x": alt.X("time:Q", title="Time (s)"),
        "y": alt.Y("value:Q", title=sampled.label),
        "tooltip": look.labels({"colour": title}) + look.numbers({"time": "Time (s)", "value": sampled.label}),
        **look.colour_and_dash(title, places, width),
    }
    chart = alt.Chart(look.data(rows)).mark_line().encode(**encoding)
    return panels.divide(chart, panel, shared=shared)


def thinned(rows: pl.DataFrame, stretches: int) -> pl.DataFrame:
    """Lines reduced to the minimum and the maximum ``value`` of each stretch of time, so that no peak is lost."""
    line = [column for column in rows.columns if column not in ("time", "value")]
    start, end = pl.col("time").min(), pl.col("time").max()
    numbered = rows.with_row_index("row").with_columns(
        stretch=((pl.col("time") - start) / (end - start) * stretches).floor().clip(0, stretches - 1).fill_nan(0)
    )
    kept = (
        numbered.group_by(*line, "stretch", maintain_order=True)
        .agg(
            pl.col("row").get(pl.col("value").arg_min()).alias("least"),
            pl.col("row").get(pl.col("value").arg_max()).alias("most"),
        )
        .select(row=pl.concat_list("least", "most"))
        .explode("row")["row"]
    )
    return rows[kept.unique().sort()]


def of_measure(figure: ColumnFigure, source: Drawn, width: int) -> look.Chart:
    """A measure of ``series`` in its own unit: a line a flow, or of the bottlenecks a line a cell."""
    kinds = dict(source.frame("series").select("measure", "kind").unique().collect().iter_rows())
    names.check("measure of series", figure.column, sorted(kinds), InputError, f"figure {figure.name}: ")
    drawn = _flow if kinds[figure.column] == "flow" else _queue
    return drawn(Sampled(figure.column, figure.column), figure, source, width)


def queueing_delay(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """How long it takes the bottleneck to send what waits for it, a line a cell."""
    links = _bottlenecks(figure, source)
    waiting = _samples(Sampled("", "bytes"), figure, source, "queue")
    samples = capacity.delays(waiting, links).with_columns(pl.col("value") * 1e3)
    return _by_cell(Sampled("Queueing delay (ms)", "bytes"), figure, source, samples, width)


def capacity_and_throughput(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """The bottleneck's capacity and the throughput of all flows over it, a panel a cell."""
    sampled = Sampled("Rate (Mbit/s)", "bytes_received")
    links = _bottlenecks(figure, source)
    received = _samples(sampled, figure, source, "flow")
    flows = source.frame("flows").filter(seed=source.seeds[0]).select("key", "flow", "sender", "receiver").collect()
    lines = capacity.rates(received, flows, links).rename({"which": "colour"})
    if not lines.height:
        raise InputError(f"figure {figure.name}: no flow that is sampled has to cross the bottleneck")
    panels = Panels(figure.name, source, source.varying)
    return _lines(sampled, panels, lines, "rate", {capacity.CAPACITY: 0, capacity.THROUGHPUT: 1}, width)


def _bottlenecks(figure: Figure, source: Drawn) -> Mapping[str, capacity.Bottleneck]:
    keys = source.bottlenecks.filter(seed=source.seeds[0]).select("key").collect()["key"].to_list()
    runs = source.results.scan("runs").filter(pl.col("key").is_in(keys)).select("key", "specification")
    links = capacity.bottlenecks(runs.collect(engine="streaming").iter_rows())
    if not links:
        raise InputError(f"figure {figure.name}: the bottleneck's rate changes at times that each seed decides (spread)")
    return links


queue_length = partial(_queue, Sampled("Queue length (packets)", "packets"))
drops = partial(_queue, Sampled("Drops (packets/s)", "drops", counts=True))
throughput = partial(_flow, Sampled("Throughput (Mbit/s)", "bytes_received", 8e-6, counts=True))
congestion_window = partial(_flow, Sampled("Congestion window (kB)", "cwnd", 1e-3))
round_trip_time = partial(_flow, Sampled("Round-trip time (ms)", "rtt", 1e3))
