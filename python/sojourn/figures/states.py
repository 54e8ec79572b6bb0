"""Figures of inner states over time, of one seed: a panel for each value, in its own unit and on its own scale."""

from collections.abc import Mapping
from dataclasses import replace

import altair as alt
import polars as pl

from sojourn import catalogue
from sojourn.backends.columns import COLUMNS
from sojourn.catalogue import Algorithm, StateValue
from sojourn.errors import InputError
from sojourn.figures import look
from sojourn.figures.drawn import Drawn, column
from sojourn.figures.over_time import STRETCHES, named_flows, places_of_flows, thinned
from sojourn.figures.panels import Panels, shown_axis, together
from sojourn.figures.registry import Figure
from sojourn.names import GROUP

#: The axis of panels that this figure adds.
VALUE = "value"


def of_flows(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """What congestion controls tell of themselves, a line a flow."""
    flows = named_flows(source)
    lines = _samples(source, "flow").join(
        flows.select("key", "which", "algorithm", "colour"), on=["key", "which"], maintain_order="left"
    )
    known = {entry.name: entry for entry in catalogue.load().congestion_controls}
    return _drawn(figure, source, lines, known, "flow", places_of_flows(source, flows, lines["colour"]), width)


def of_queue(figure: Figure, source: Drawn, width: int) -> look.Chart:
    """What the bottleneck's discipline tells of itself, a line a cell."""
    bottlenecks = source.bottlenecks.filter(seed=source.seeds[0]).select("key", "discipline", which="link").collect()
    lines = _samples(source, "queue").join(bottlenecks, on=["key", "which"], maintain_order="left")
    side = together(source)
    lines = lines.drop_nulls("discipline").rename({"discipline": "algorithm"}).with_columns(shown_axis(side, "colour"))
    known = {entry.name: entry for entry in catalogue.load().queues}
    return _drawn(figure, source, lines, known, side, source.places(side), width)


def _samples(source: Drawn, kind: str) -> pl.DataFrame:
    """The samples of one seed that are no samples of Sojourn's own: key, axes, time, which, measure, value."""
    own = [each.name for each in COLUMNS[f"{kind}_series"]]
    rows = source.frame("series").filter(~pl.col("measure").is_in(own), seed=source.seeds[0], kind=kind)
    return rows.select("key", *source.columns, "time", "which", "measure", "value").collect()


def _drawn(
    figure: Figure,
    source: Drawn,
    lines: pl.DataFrame,
    known: Mapping[str, Algorithm],
    title: str | None,
    places: Mapping[str, int],
    width: int,
) -> look.Chart:
    if not lines.height:
        raise InputError(
            f"figure {figure.name}: no inner state in the runs with seed {source.seeds[0]}: these algorithms tell none"
        )
    look.check_distinct(figure.name, title, list(places))
    pairs = lines.select("algorithm", "measure").unique(maintain_order=True)
    several = pairs["algorithm"].n_unique() > 1
    panel_of = {}
    for algorithm, measure in _ordered(pairs.rows(), known):
        value = _value(known.get(algorithm), measure)
        factor, unit = value.shown
        label = f"{f'{algorithm} ' if several else ''}{measure}{_told(value, unit)}"
        panel_of[algorithm, measure] = (label, factor)
    named = pl.DataFrame(
        [(*pair, *told) for pair, told in panel_of.items()],
        schema=["algorithm", "measure", column(VALUE), "factor"],
        orient="row",
    )
    lines = lines.join(named, on=["algorithm", "measure"], maintain_order="left")
    lines = lines.with_columns(pl.col("value") * pl.col("factor"))
    source = replace(source, axes={**source.axes, VALUE: [label for label, _ in panel_of.values()]})
    shown = [axis for axis in source.varying if axis not in (GROUP, title, VALUE)]
    panels = Panels(figure.name, source, [*shown, VALUE])
    thin = thinned(lines.select(*source.columns, "colour", "time", "value"), STRETCHES * panels.width(width, shared=False))
    rows = panels.place(thin, "colour", "time", "value")
    chart = (
        alt.Chart(look.data(rows))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("time:Q", title="Time (s)"),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
            tooltip=look.labels({"colour": title}) + look.numbers({"time": "Time (s)", "value": "Value"}),
            **look.colour_and_dash(title, places, width),
        )
    )
    return panels.divide(chart, panels.width(width, shared=False), shared=False)


def _ordered(pairs: list[tuple[str, str]], known: Mapping[str, Algorithm]) -> list[tuple[str, str]]:
    """Values in the order of the catalogue, those that it does not know as they came."""
    listed = {(name, value.name): place for name, entry in known.items() for place, value in enumerate(entry.state)}
    algorithms = list(dict.fromkeys(algorithm for algorithm, _ in pairs))
    return sorted(pairs, key=lambda pair: (algorithms.index(pair[0]), listed.get(pair, len(listed))))


def _value(entry: Algorithm | None, measure: str) -> StateValue:
    """A value as the catalogue has it; those of users' files have a name alone."""
    found = (value for value in (entry.state if entry is not None else ()) if value.name == measure)
    return next(found, StateValue(name=measure))


def _told(value: StateValue, unit: str) -> str:
    """What a panel says of a value besides its name: its unit, or the first and the last phase."""
    if value.phases is not None:
        return f": 0 {value.phases[0]} to {len(value.phases) - 1} {value.phases[-1]}"
    return f" ({unit})" if unit else ""
