"""A study's tables on the terminal: each cell "published | ours", or ours alone if nothing was published."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from sojourn.metrics import METRICS
from sojourn.study.cells import Compared, agreement
from sojourn.study.design import Study

#: Marks a cell that does not agree, for terminals and readers without colour.
DISAGREES = " *"


def study_tables(study: Study, cells: Sequence[Compared]) -> list[Table]:
    """One table for each of the study's that has cells, in order of their numbers."""
    by_number: dict[int, list[Compared]] = {}
    for cell in cells:
        by_number.setdefault(cell.published.table.number, []).append(cell)
    return [_table(study, by_number[number]) for number in sorted(by_number)]


def _table(study: Study, cells: Sequence[Compared]) -> Table:
    described = cells[0].published.table
    *row_axes, column_axis = [axis for axis in study.axes if axis == described.algorithms or _varies(described.select.get(axis))]
    columns = list(dict.fromkeys(cell.published.labels[column_axis] for cell in cells))
    table = Table(title=f"Table {described.number}. {described.title}", title_justify="left", title_style="bold")
    for axis in (*row_axes, "metric"):
        table.add_column(axis)
    for value in columns:
        table.add_column(value if study.published is None else f"{value}\npublished | ours", justify="right")
    rows: dict[tuple[str, ...], dict[str, Compared]] = {}
    for cell in cells:
        labels = cell.published.labels
        rows.setdefault((*(labels[axis] for axis in row_axes), cell.published.metric), {})[labels[column_axis]] = cell
    previous: tuple[str, ...] = ()
    for row, by_column in rows.items():
        # A label is only printed where it changes, as in the paper.
        shown = [label if row[: place + 1] != previous[: place + 1] else "" for place, label in enumerate(row[:-1])]
        if previous and row[0] != previous[0]:
            table.add_section()
        table.add_row(*shown, row[-1], *(_compared(by_column.get(value)) for value in columns))
        previous = row
    return table


def _varies(selected: str | list[str] | None) -> bool:
    return not isinstance(selected, str)


def _compared(cell: Compared | None) -> Text:
    if cell is None:
        return Text("")
    metric = METRICS[cell.published.metric]
    ours = "none"
    if cell.measured is not None:
        ours = metric.format(cell.measured.mean)
        if cell.measured.high is not None:
            ours += f" ± {metric.format(cell.measured.high - cell.measured.mean)}"
    if cell.agrees is None:
        return Text(ours)
    text = f"{cell.published.printed} | {ours}"
    return Text(f"{text}  ", style="green") if cell.agrees else Text(f"{text}{DISAGREES}", style="red")


def agreement_table(cells: Sequence[Compared]) -> Table:
    """How many values agree with the published ones, by table and in all."""
    table = Table(title="Values that agree with the paper's", title_justify="left", title_style="bold")
    table.add_column("table", justify="right")
    table.add_column("title")
    for heading in ("agree", "of", "%"):
        table.add_column(heading, justify="right")
    counts = agreement(cells)
    for number, (published, agreeing, total) in counts.items():
        table.add_row(str(number), published.title, str(agreeing), str(total), f"{100 * agreeing / total:.0f}")
    agreeing = sum(count for _, count, _ in counts.values())
    table.add_section()
    total = sum(count for _, _, count in counts.values())
    table.add_row("all", "", str(agreeing), str(total), f"{100 * agreeing / total:.0f}", style="bold")
    return table
