"""A study's tables on the terminal: each cell "published | ours", or ours alone if nothing was published."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text

from sojourn.metrics import METRICS
from sojourn.study.cells import Compared, agreement
from sojourn.study.design import Study
from sojourn.table import Column, Kind, Row, Table, label, number, text

#: Marks a cell that does not agree, for terminals and readers without colour.
DISAGREES = " *"

#: Where a row has its first label even if that is not printed; no axis is called so.
FIRST = "="


def study_tables(study: Study, cells: Sequence[Compared]) -> list[Table]:
    """One table for each of the study's that has cells, in order of their numbers."""
    by_number: dict[int, list[Compared]] = {}
    for cell in cells:
        by_number.setdefault(cell.published.table.number, []).append(cell)
    return [_table(study, by_number[number]) for number in sorted(by_number)]


def _table(study: Study, cells: Sequence[Compared]) -> Table:
    described = cells[0].published.table
    *row_axes, column_axis = [axis for axis in study.axes if axis == described.algorithms or _varies(described.select.get(axis))]
    named = [*row_axes, "metric"]
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    columns: dict[str, Column] = {}
    for cell in cells:
        labels = {**cell.published.labels, "metric": cell.published.metric}
        row = rows.setdefault(tuple(labels[name] for name in named), {FIRST: labels[named[0]]})
        value = labels[column_axis]
        row[_value(value)] = cell
        heading = value if study.published is None else f"{value}\npublished | ours"
        columns.setdefault(value, Column(heading, (), _compared(_value(value)), Kind.NUMBER))
    previous: tuple[str, ...] = ()
    for key, row in rows.items():
        # A label is only printed where it changes, as in the paper; the metric always is.
        changed = [key[: place + 1] != previous[: place + 1] for place in range(len(key) - 1)]
        row |= {name: label if shown else "" for name, label, shown in zip(named, key, [*changed, True], strict=True)}
        previous = key
    return Table(
        f"table {described.number}",
        f"Table {described.number}. {described.title}",
        [*(label(name, keep=True) for name in named), *columns.values()],
        list(rows.values()),
        section=lambda row: row[FIRST],
    )


def _value(label: str) -> str:
    """What a row calls the cell in the column of a label: not what it calls an axis."""
    return f"={label}"


def _varies(selected: str | list[str] | None) -> bool:
    return not isinstance(selected, str)


def _compared(name: str) -> Callable[[Row], Text]:
    """What shows the cell that a row has under a name."""

    def shown(row: Row) -> Text:
        cell: Compared | None = row.get(name)
        if cell is None:
            return Text("")
        ours = _ours(cell)
        if cell.agrees is None:
            return Text(ours)
        both = f"{cell.published.printed} | {ours}"
        return Text(f"{both}  ", style="green") if cell.agrees else Text(f"{both}{DISAGREES}", style="red")

    return shown


def _ours(cell: Compared) -> str:
    metric = METRICS[cell.published.metric]
    if cell.measured is None:
        return "none"
    ours = metric.format(cell.measured.mean)
    return ours if cell.measured.high is None else f"{ours} ± {metric.format(cell.measured.high - cell.measured.mean)}"


def agreement_table(cells: Sequence[Compared]) -> Table:
    """How many cells agree with what was published, by table and in all."""
    counts = list(agreement(cells).values())
    rows = [_agreeing(str(described.number), described.title, agree, total) for described, agree, total in counts]
    rows.append(_agreeing("all", "", sum(agree for _, agree, _ in counts), sum(total for _, _, total in counts)))
    columns = [
        number("table", keep=True),
        text("title", rank=1),
        number("agree"),
        number("cells"),
        number("percent", "%", lambda percent: f"{percent:.0f}"),
    ]
    heading = "Cells that agree with the paper"
    return Table("agreement", heading, columns, rows, section=lambda row: row["table"] == "all")


def _agreeing(number: str, title: str, agree: int, total: int) -> Row:
    percent = 100 * agree / total if total else None
    return {"table": number, "title": title, "agree": agree, "cells": total, "percent": percent}
