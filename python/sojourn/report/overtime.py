"""What the drill-down of a cell draws of its first run over time: the bottleneck, congestion windows and round-trip times."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sojourn import colours
from sojourn.figures import capacity, look
from sojourn.figures.drawn import flow_names
from sojourn.figures.over_time import thinned
from sojourn.figures.panels import TOGETHER
from sojourn.report.contents import Contents

#: Samples that all cells together may have: about 12 bytes of the page each.
MOST_SAMPLES = 80_000

#: Samples of one line: what a screen can show, and what still tells a shape.
FINEST, COARSEST = 600, 60

#: Lines of a chart: as many as there are colours.
MOST_LINES = colours.MOST

#: Measures from which something follows.
FOLLOWED = ("bytes", "bytes_received")

#: What is shown of the series, and of ``link`` what follows from them: ``kind`` and ``measure``, the heading, and from the
#: file's unit to the shown one.
SHOWN = (
    ("link", "rate", "Capacity of the bottleneck and throughput over it (Mbit/s)", 1.0),
    ("link", "delay", "Queueing delay (ms)", 1e3),
    ("queue", "packets", "Queue length (packets)", 1.0),
    ("flow", "cwnd", "Congestion window (kB)", 1e-3),
    ("flow", "rtt", "Round-trip time (ms)", 1e3),
)


def samples(contents: Contents) -> Mapping[int, Sequence[Mapping[str, Any]]]:
    """By a cell's number, its charts: heading, how many lines were left out, and lines of times and values."""
    first = {cell.first_key: cell.number for cell in contents.cells}
    columns = ["key", "kind", "measure", "which", "time", "value"]
    wanted = pl.col("measure").is_in([*FOLLOWED, *(measure for _, measure, _, _ in SHOWN)])
    series = contents.rows_of(list(first), "series", columns).filter(wanted).drop_nulls("value")
    series = pl.concat([series.filter(~pl.col("measure").is_in(FOLLOWED)), *_of_links(contents, series)])
    names = {chart: group["which"].to_list() for chart, group in _names(series).items()}
    number = sum(len(_spread(group)) for group in names.values())
    most = max(COARSEST, min(FINEST, MOST_SAMPLES // max(1, number)))
    lines = thinned(series, most // 2).partition_by("key", "kind", "measure", "which", as_dict=True)
    flows, queues = _flows(contents, list(first)), contents.drawn.places(TOGETHER if TOGETHER in contents.axes else None)
    of_cell = {cell.first_key: queues.get(cell.axes.get(TOGETHER, ""), 0) for cell in contents.cells}
    charts: dict[int, list[Mapping[str, Any]]] = {}
    for key, cell in first.items():
        for kind, measure, heading, factor in SHOWN:
            there = names.get((key, kind, measure), [])
            shown = _spread(there)
            told = {
                name: flows[key, int(name)]
                if kind == "flow"
                else (name, of_cell[key] if measure != "rate" else there.index(name))
                for name in shown
            }
            places = colours.apart(shown, {name: place for name, (_, place) in told.items()})
            drawn = [
                {
                    "name": told[name][0],
                    "colour": colours.PALETTE[places[name]],
                    "dash": look.DASHES[places[name]],
                    **_line(lines[key, kind, measure, name], factor),
                }
                for name in shown
            ]
            if drawn:
                charts.setdefault(cell, []).append({"heading": heading, "left_out": len(there) - len(drawn), "lines": drawn})
    return charts


def _of_links(contents: Contents, series: pl.DataFrame) -> list[pl.DataFrame]:
    """Capacity, throughput and queueing delay of the bottlenecks."""
    keys = series["key"].unique(maintain_order=True).to_list()
    links = capacity.bottlenecks(contents.rows_of(keys, "runs", ["key", "specification"]).iter_rows())
    flows = contents.rows_of(keys, "flows", ["key", "flow", "sender", "receiver"])
    waiting, received = (series.filter(measure=measure) for measure in FOLLOWED)
    told = {"rate": capacity.rates(received, flows, links), "delay": capacity.delays(waiting, links)}
    return [lines.with_columns(kind=pl.lit("link"), measure=pl.lit(measure)) for measure, lines in told.items()]


def _names(series: pl.DataFrame) -> Mapping[tuple[object, ...], pl.DataFrame]:
    """The lines of each chart, in the order of the samples."""
    charts = ["key", "kind", "measure"]
    return series.select(*charts, "which").unique(maintain_order=True).partition_by(charts, as_dict=True)


def _spread(names: Sequence[str]) -> list[str]:
    """As many as can be shown, evenly over all."""
    if len(names) <= MOST_LINES:
        return list(names)
    return [names[round(place)] for place in np.linspace(0, len(names) - 1, MOST_LINES)]


def _line(frame: pl.DataFrame, factor: float) -> Mapping[str, list[float]]:
    return {
        "times": [float(f"{time:.6g}") for time in frame["time"]],
        "values": [float(f"{value * factor:.4g}") for value in frame["value"]],
    }


def _flows(contents: Contents, keys: Sequence[str]) -> Mapping[tuple[str, int], tuple[str, int]]:
    """What each flow of some runs is called, and its place in the palette."""
    flows = contents.rows_of(keys, "flows", ["key", "flow", "flow_group", "algorithm"])
    number = pl.col("flow").rank("ordinal").over("key", "flow_group")
    named = flows.select("key", "flow", "flow_group", "algorithm", name=flow_names(flows), number=number)
    places = contents.drawn.of_flows
    return {
        (key, flow): (f"{name}: {algorithm}", places.get((group, number), 0))
        for key, flow, group, algorithm, name, number in named.iter_rows()
    }
