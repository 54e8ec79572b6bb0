"""The benchmark's parts as tables and as JSON."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from rich.table import Table
from rich.text import Text

from sojourn.bench.figures import Extent, Figure, Part
from sojourn.bench.machine import Machine


@dataclass(frozen=True)
class Report:
    """All that was measured, how much of it, and what on."""

    machine: Machine
    extent: Extent
    parts: list[Part]


def text(report: Report) -> str:
    """The report as JSON: each figure with its target and whether it is met, and all measurements."""
    parts = [
        {**asdict(part), "figures": [{**asdict(figure), "met": figure.met} for figure in part.figures]} for part in report.parts
    ]
    return json.dumps({**asdict(report), "parts": parts}, indent=2, ensure_ascii=False) + "\n"


def tables(report: Report) -> Iterable[Table]:
    """The measurements of each part, then all figures beside their targets."""
    for part in report.parts:
        yield _measurements(part)
    yield _figures(report)


def _measurements(part: Part) -> Table:
    made = _titled(part.title, part.method)
    for name, value in part.measurements[0].items():
        made.add_column(_heading(name), justify="left" if isinstance(value, str) else "right")
    for row in part.measurements:
        made.add_row(*(_shown(value) for value in row.values()))
    return made


def _figures(report: Report) -> Table:
    machine, seconds = report.machine, report.extent.seconds
    missed = sum(figure.met is False for part in report.parts for figure in part.figures)
    made = _titled(
        f"Sojourn {machine.engine} on {machine.processor}, {machine.cores} cores",
        f"* misses its target: {missed} of them. A data-centre cell lasts {seconds:g} simulated s.",
    )
    made.add_column("part")
    made.add_column("figure")
    made.add_column("measured", justify="right")
    made.add_column("target", justify="right")
    made.add_column("unit")
    for part in report.parts:
        for figure in part.figures:
            target = "" if figure.target is None else f"{figure.target.bound} {_shown(figure.target.value)}"
            made.add_row(part.name, figure.name, _verdict(figure), target, figure.unit)
    return made


def _titled(title: str, caption: str) -> Table:
    """An empty table that is as wide as its title at least."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption=caption,
        caption_justify="left",
        min_width=len(title),
    )


def _verdict(figure: Figure) -> Text:
    """The measured value; one that misses its target has an asterisk, since output may be without colour."""
    shown = _shown(figure.value)
    return Text(f"* {shown}", style="red") if figure.met is False else Text(shown)


def _heading(name: str) -> str:
    return name.replace("_", " ").replace("cpu", "CPU")


def _shown(value: str | int | float) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
