"""Charts of a report: figures of ``sojourn.figures``, and what filters need to know of them."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from sojourn.errors import InputError
from sojourn.figures import Drawn, Selection, lines, named
from sojourn.metrics import METRICS
from sojourn.report.contents import Contents

#: How wide charts are in points, unless the screen is narrower.
WIDTH = 960

#: The same of charts of which two are beside each other.
HALF = 480

#: What is drawn of every campaign, besides heat maps.
OF_CAMPAIGN = ("delay-goodput", "fairness-delay", "throughput", "flow-throughputs")

#: The same of one in which one axis varies: what is drawn over that axis is left out.
OF_ONE_AXIS = ("delay-goodput", "flow-throughputs")

#: What is drawn by group of flows.
BY_GROUP = ("throughput-by-group", "round-trip-time-by-group", "loss-ratio-by-group", "delay-p99-by-group", "jitter-by-group")

#: What has scales of its own in every panel: networks of a campaign may differ tenfold.
OWN_SCALES = ("delay-goodput", "fairness-delay", "flow-throughputs")


@dataclass(frozen=True)
class Drawing:
    """A chart with what is written about it."""

    name: str
    title: str
    #: What it shows of several seeds, which tables may show otherwise.
    shown: str
    #: The command that draws the same.
    command: str
    #: In Vega-Lite.
    spec: Mapping[str, Any]
    #: Which axes' labels are in which field of the data, joined by commas, so that a filter can choose rows.
    fields: Mapping[str, Sequence[str]]


def of_study(contents: Contents) -> list[Drawing]:
    """The paper's figures that can be drawn of the cells that there are."""
    if contents.study is None:
        return []
    made = []
    for figure in contents.study.figures:
        drawing = _drawing(contents, figure.figure, f"Figure {figure.number}. {figure.title}", figure.select)
        made += [drawing] if drawing else []
    return made


def of_campaign(contents: Contents) -> list[Drawing]:
    """What is drawn of any campaign."""
    return _drawings(contents, OF_CAMPAIGN if len(contents.varying) > 1 else OF_ONE_AXIS)


def over_axis(contents: Contents) -> list[Drawing]:
    """Each main metric over the one axis that varies: a line where its values are quantities, and else bars."""
    if len(contents.varying) != 1:
        return []
    prefix = "line-" if lines.axis_of(contents.drawn) else ""
    return _drawings(contents, [f"{prefix}{metric.figure_name}" for metric in METRICS.values() if metric.main], HALF)


def by_group(contents: Contents) -> list[Drawing]:
    """What is drawn by group of flows."""
    return _drawings(contents, BY_GROUP)


def _drawings(contents: Contents, figures: Sequence[str], width: int = WIDTH) -> list[Drawing]:
    """Charts of all cells; none where these are more than a page shows."""
    if contents.left_out:
        return []
    drawings = (_drawing(contents, name, named(name).title, {}, width) for name in figures)
    return [drawing for drawing in drawings if drawing]


def _drawing(contents: Contents, name: str, title: str, select: Selection, width: int = WIDTH) -> Drawing | None:
    """A chart, or none if the results do not have what it shows, or more than can be looked at."""
    wanted = {axis: [labels] if isinstance(labels, str) else labels for axis, labels in select.items()}
    chosen = {axis: [label for label in labels if label in contents.axes[axis]] for axis, labels in wanted.items()}
    if not all(chosen.values()):
        return None
    only = [f"--only={axis}={label}" for axis, labels in chosen.items() for label in labels]
    command = shlex.join(["sojourn", "plot", str(contents.directory), "--figure", name, "--format", "svg", *only])
    try:
        source = Drawn.of(contents.result, chosen, order=contents.axes) if chosen else contents.drawn
        chart = named(name).draw(source, width)
    except InputError:
        return None
    if isinstance(chart, alt.FacetChart) and name in OWN_SCALES:
        chart = chart.resolve_scale(x="independent", y="independent")
    spec = chart.to_dict(validate=False)  # which takes as long as drawing; tests validate every figure
    shown = named(name).shown(source)
    return Drawing(name, title, f"{shown[:1].upper()}{shown[1:]}", command, spec, fields(spec, list(contents.axes)))


def fields(spec: Any, axes: Sequence[str]) -> dict[str, list[str]]:
    """The fields of a chart's data that hold labels of axes: those that a channel shows under the axes' names."""
    found: dict[str, list[str]] = {}
    if isinstance(spec, list):
        for part in spec:
            found |= fields(part, axes)
    elif isinstance(spec, dict):
        title, field = spec.get("title"), spec.get("field")
        if isinstance(title, str) and isinstance(field, str):
            names = [title] if title in axes else title.split(", ")
            found |= {field: names} if all(name in axes for name in names) else {}
        for key, part in spec.items():
            if key not in ("datasets", "values"):
                found |= fields(part, axes)
    return found
