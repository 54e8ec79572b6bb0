"""The results of the benchmark as tables and as JSON."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from rich.text import Text

from sojourn.bench.machine import Machine
from sojourn.bench.measurements import Bound, Extent, Part
from sojourn.table import Column, Content, Row, Table, label, number, text

#: The version of the JSON format.
FORMAT = 2

SIGNS: dict[Bound, str] = {"at least": "≥", "at most": "≤", "below": "<"}

#: Columns that a narrow terminal leaves out first: what others are computed from.
COUNTED = {
    "queue_statistics",
    "flows",
    "simulated_seconds",
    "data_packets",
    "cpu_seconds",
    "lost",
    "retransmissions",
    "instructions",
}


@dataclass(frozen=True)
class Report:
    """All that was measured, the extent, and the machine."""

    machine: Machine
    extent: Extent
    parts: list[Part]


def as_json(report: Report) -> str:
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
    columns: list[Column] = []
    for name, value in part.rows[0].items():
        heading, is_first = name.replace("_", " ").replace("cpu", "CPU"), not columns
        rank = int(name in COUNTED)
        of_numbers = number(name, heading, shown, keep=is_first, rank=rank)
        columns.append(label(name, heading, keep=is_first, rank=rank) if isinstance(value, str) else of_numbers)
    return Table(part.name, part.title, columns, part.rows, [part.method])


def _measurements(report: Report) -> Table:
    """One table of all parts."""
    machine, seconds = report.machine, report.extent.seconds
    rows = [
        {
            **{"part": part.name, "name": each.name, "measured": each.value, "met": each.met, "unit": each.unit},
            "bound": None if each.target is None else each.target.bound,
            "target": None if each.target is None else each.target.value,
        }
        for part in report.parts
        for each in part.measurements
    ]
    missed = sum(row["met"] is False for row in rows)
    columns = [
        label("part", keep=True),
        text("name", "measurement", keep=True),
        Column("measured", ("measured", "met"), _verdict, Content.NUMBER, keep=True),
        Column("target", ("bound", "target"), _target, Content.NUMBER, keep=True),
        text("unit", keep=True),
    ]
    return Table(
        "measurements",
        f"{machine.engine} on {machine.processor}, {machine.cores} cores",
        columns,
        rows,
        [f"* misses its target ({missed} in all). A data-centre cell lasts {seconds:g} simulated s."],
        section=lambda row: row["part"],
    )


def _target(row: Row) -> str:
    return "" if row["target"] is None else f"{SIGNS[row['bound']]} {shown(row['target'])}"


def _verdict(row: Row) -> Text:
    """The measured value; one that misses its target has an asterisk, since output may be without colour."""
    measured = shown(row["measured"])
    return Text(f"* {measured}", style="red") if row["met"] is False else Text(measured)


def shown(value: int | float) -> str:
    """A measurement with three digits, or all before the point."""
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
