"""Two sides of many cells on the terminal: how many values agree, and which differ the most."""

from collections.abc import Callable, Sequence

from rich.text import Text

from sojourn.analysis.agreement import RELATIVE
from sojourn.analysis.side_by_side import SideBySide, Value
from sojourn.table import Column, Content, Row, Table, label, number

#: Rows of the table of differences that a terminal gets.
MOST_DIFFERENCES = 20


def tables(found: SideBySide, first: str, second: str) -> list[Table]:
    """The tables of a comparison of many cells, whose sides are called so."""
    return [_agreement(found, first, second), _differences(found)]


def _agreement(found: SideBySide, first: str, second: str) -> Table:
    """How many cells agree in each metric, and in all, by the value of each axis that has several."""
    of_cell: dict[tuple[str | None, ...], list[Value]] = {cell: [] for cell in found.cells}
    for value in found.values:
        of_cell[value.cell].append(value)
    rows: list[Row] = []
    for place, axis in enumerate(found.axes):
        labels = dict.fromkeys(cell[place] for cell in of_cell)
        if len(labels) > 1:
            rows += (
                _counted(found, axis, each, [values for cell, values in of_cell.items() if cell[place] == each])
                for each in labels
            )
    rows.append(_counted(found, "all", "", list(of_cell.values())))
    columns = [
        label("axis", keep=True),
        label("value", keep=True),
        number("cells", keep=True),
        *(number(metric.name, metric.caption, rank=1) for metric in found.metrics),
        number("agree_in_all", "in all"),
        number("percent", "values, %", lambda percent: f"{percent:.0f}"),
    ]
    notes = [
        f"A: {first}",
        f"B: {second}",
        f"A value of B agrees if it is within {100 * RELATIVE:.0f} % of A's or the metric's floor; means over common seeds.",
        f"{found.same_runs:,} of {found.runs:,} runs are the same in A and B, in number of events and all that is compared.",
    ]
    for number_of, side, other in ((found.only_first, "A", "B"), (found.only_second, "B", "A")):
        if number_of:
            notes.append(f"{number_of:,} {'cell' if number_of == 1 else 'cells'} of {side} not in {other}.")
    return Table(
        "agreement", "Cells in which B agrees with A", columns, rows, notes, lambda row: row["axis"], ["agree", "values"]
    )


def _counted(found: SideBySide, axis: str, value: str | None, cells: Sequence[Sequence[Value]]) -> Row:
    values = [each for cell in cells for each in cell]
    agree = sum(each.agrees for each in values)
    by_metric = {
        metric.name: sum(each.agrees for each in values if each.metric is metric)
        if any(each.metric is metric for each in values)
        else None
        for metric in found.metrics
    }
    return {
        **{"axis": axis, "value": value, "cells": len(cells), **by_metric},
        **{"agree_in_all": sum(all(each.agrees for each in cell) for cell in cells)},
        **{"agree": agree, "values": len(values), "percent": 100 * agree / len(values)},
    }


def _differences(found: SideBySide) -> Table:
    """The values that differ, those first that are the furthest from agreeing."""
    differing = sorted((value for value in found.values if not value.same), key=lambda value: -value.excess)
    rows = [_row(found, value) for value in differing]
    columns = [
        *(label(axis, keep=True) for axis in found.axes),
        Column("metric", ("metric",), lambda row: row["entry"].label, Content.LABEL, keep=True),
        number("seeds", rank=2),
        *(Column(name.upper(), (name,), _in_its_unit(name), Content.NUMBER, rank=1) for name in ("a", "b")),
        Column("B - A", ("difference", "difference_ci_low", "difference_ci_high"), _difference, Content.NUMBER),
        Column("allowed", ("allowed",), _in_its_unit("allowed"), Content.NUMBER, rank=2),
        Column("agrees", ("agrees",), _agrees, Content.LABEL, keep=True),
    ]
    same = len(found.values) - len(rows)
    notes = [f"{same:,} of {len(found.values):,} values are the same in A and B, seed by seed."] if same else []
    if any(row["difference_ci_low"] is not None for row in rows):
        notes.append("In brackets: 95 % confidence interval of the paired differences (Student).")
    return Table("differences", "Values that differ", columns, rows, notes, most_rows=MOST_DIFFERENCES)


def _row(found: SideBySide, value: Value) -> Row:
    mean, low, high = (None, None, None) if value.difference is None else value.difference
    return {
        **dict(zip(found.axes, value.cell, strict=True)),
        **{"entry": value.metric, "metric": value.metric.name, "seeds": value.seeds, "a": value.first, "b": value.second},
        **{"difference": mean, "difference_ci_low": low, "difference_ci_high": high},
        **{"allowed": value.allowed, "agrees": value.agrees},
    }


def _in_its_unit(name: str) -> Callable[[Row], str]:
    return lambda row: "-" if row[name] is None else row["entry"].number(row[name])


def _difference(row: Row) -> str:
    mean, low, high = (row[name] for name in ("difference", "difference_ci_low", "difference_ci_high"))
    if high is None:
        return _in_its_unit("difference")(row)
    shown, least, most, *_ = row["entry"].numbers(mean, low, high, row["a"], row["b"], half=high - mean)
    return f"{shown} [{least}, {most}]"


def _agrees(row: Row) -> Text:
    return Text("yes", "green") if row["agrees"] else Text("no", "red")
