"""What the drill-down of a cell draws: queue length, congestion window and round-trip time of its first run, over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from sojourn.report.contents import Contents
from sojourn.report.sampling import thin

#: Samples that all cells together may have: about 12 bytes of the page each.
MOST_SAMPLES = 120_000

#: Samples of one line: what a screen can show, and what still tells a shape.
FINEST, COARSEST = 600, 60

#: Lines of a chart: as many as there are colours.
MOST_LINES = 7

#: What is shown of the series: kind and measure, its heading, and from the file's unit to the shown one.
SHOWN = (
    ("queue", "packets", "Queue length (packets)", 1.0),
    ("flow", "cwnd", "Congestion window (kB)", 1e-3),
    ("flow", "rtt", "Round-trip time (ms)", 1e3),
)


def samples(contents: Contents) -> Mapping[int, Sequence[Mapping[str, Any]]]:
    """By a cell's number, its charts: heading, how many lines were left out, and lines of times and values."""
    first = {cell.first_key: cell.number for cell in contents.cells}
    columns = ["key", "time", "kind", "which", "measure", "value"]
    series = contents.result.columns("series", columns).filter(pl.col("key").is_in(list(first)))
    lines = series.partition_by("key", "kind", "measure", "which", as_dict=True)
    by_chart: dict[tuple[str, str, str], list[str]] = {}
    for key, kind, measure, which in lines:
        by_chart.setdefault((str(key), str(kind), str(measure)), []).append(str(which))
    kept = {chart: _spread(names) for chart, names in by_chart.items() if chart[1:] in {shown[:2] for shown in SHOWN}}
    number = sum(map(len, kept.values()))
    most = max(COARSEST, min(FINEST, MOST_SAMPLES // max(1, number)))
    flows = _flows(contents, list(first))
    charts: dict[int, list[Mapping[str, Any]]] = {}
    for key, cell in first.items():
        for kind, measure, heading, factor in SHOWN:
            names = kept.get((key, kind, measure), [])
            called = {name: flows[key, int(name)] if kind == "flow" else name for name in names}
            drawn = [{"name": called[name], **_line(lines[key, kind, measure, name], factor, most)} for name in names]
            if drawn:
                left_out = len(by_chart[key, kind, measure]) - len(names)
                charts.setdefault(cell, []).append({"heading": heading, "left_out": left_out, "lines": drawn})
    return charts


def _spread(names: Sequence[str]) -> list[str]:
    """As many as can be shown, evenly over all."""
    if len(names) <= MOST_LINES:
        return list(names)
    return [names[round(place)] for place in np.linspace(0, len(names) - 1, MOST_LINES)]


def _line(frame: pl.DataFrame, factor: float, most: int) -> Mapping[str, list[float | None]]:
    times, values = frame["time"].to_numpy(), frame["value"].cast(pl.Float64).fill_null(float("nan")).to_numpy() * factor
    chosen = thin(values, most)
    return {
        "times": [float(f"{time:.6g}") for time in times[chosen]],
        "values": [None if np.isnan(value) else float(f"{value:.4g}") for value in values[chosen]],
    }


def _flows(contents: Contents, keys: Sequence[str]) -> Mapping[tuple[str, int], str]:
    """What each flow of some runs is called."""
    columns = ["key", "flow", "algorithm", "from", "to"]
    flows = contents.result.columns("flows", columns).filter(pl.col("key").is_in(list(keys)))
    return {(key, flow): f"{flow}: {algorithm}, {start} to {end}" for key, flow, algorithm, start, end in flows.iter_rows()}
