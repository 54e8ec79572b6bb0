"""The results of the benchmark as tables and as JSON."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sojourn.bench.machine import Machine
from sojourn.bench.measurements import Bound, Extent, Measurement, Part

#: The version of the JSON format.
FORMAT = 2

SIGNS: dict[Bound, str] = {"at least": "≥", "at most": "≤", "below": "<"}


@dataclass(frozen=True)
class Report:
    """All that was measured, the extent, and the machine."""

    machine: Machine
    extent: Extent
    parts: list[Part]


def text(report: Report) -> str:
    """The report as JSON: each measurement with its target and whether it is met, and all rows."""
    parts = [
        {**asdict(part), "measurements": [{**asdict(measurement), "met": measurement.met} for measurement in part.measurements]}
        for part in report.parts
    ]
    return json.dumps({"format": FORMAT, **asdict(report), "parts": parts}, indent=2, ensure_ascii=False) + "\n"


def tables(report: Report) -> Iterable[Table]:
    """The rows of each part, then all measurements with their targets."""
    for part in report.parts:
        yield _rows(part)
    yield _measurements(report)


def _rows(part: Part) -> Table:
    made = _titled(part.title, part.method)
    made.min_width = len(part.title)
    for name, value in part.rows[0].items():
        made.add_column(_heading(name), justify="left" if isinstance(value, str) else "right")
    for row in part.rows:
        made.add_row(*(_shown(value) for value in row.values()))
    return made


def _measurements(report: Report) -> Table:
    """One table of all parts, which a terminal of 80 columns shows without cutting numbers."""
    machine, seconds = report.machine, report.extent.seconds
    missed = sum(measurement.met is False for part in report.parts for measurement in part.measurements)
    made = _titled(
        f"Sojourn {machine.engine} on {machine.processor}, {machine.cores} cores",
        f"* misses its target ({missed} in all). A data-centre cell lasts {seconds:g} simulated s.",
    )
    made.box, made.pad_edge = box.SIMPLE_HEAD, False
    made.add_column("measurement")
    made.add_column("measured", justify="right", no_wrap=True)
    made.add_column("target", justify="right", no_wrap=True)
    made.add_column("unit")
    for part in report.parts:
        made.add_row(Text(part.name, style="bold"))
        for measurement in part.measurements:
            target = measurement.target
            bound = "" if target is None else f"{SIGNS[target.bound]} {_shown(target.value)}"
            made.add_row(Padding(measurement.name, (0, 0, 0, 2)), _verdict(measurement), bound, measurement.unit)
    return made


def _titled(title: str, caption: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", caption=caption, caption_justify="left")


def _verdict(measurement: Measurement) -> Text:
    """The measured value; one that misses its target has an asterisk, since output may be without colour."""
    shown = _shown(measurement.value)
    return Text(f"* {shown}", style="red") if measurement.met is False else Text(shown)


def _heading(name: str) -> str:
    return name.replace("_", " ").replace("cpu", "CPU")


def _shown(value: str | int | float) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
