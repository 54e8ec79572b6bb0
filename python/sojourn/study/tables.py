"""A study's tables on the terminal: each cell "published | ours", or ours alone if nothing was published."""

from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text

from sojourn import digits
from sojourn.metrics import METRICS
from sojourn.names import BACKEND
from sojourn.study.cells import Agreement, Compared, agreement, by_backend, by_table
from sojourn.study.design import Study
from sojourn.table import Column, Content, Row, Table, label, number, text

#: Marks of cells that do not agree, for terminals and readers without colour; the second of those within chance.
DISAGREES, BY_CHANCE = " *", " ~"

LEGEND = "* does not agree; ~ does not agree, but one seed of ours may be as far from the others"

#: Where a row has its first label even if that is not printed; no axis is called so.
FIRST = "="


def study_tables(study: Study, cells: Sequence[Compared]) -> list[Table]:
    """One table for each of the study's that has cells, in order of their numbers."""
    return [_table(study, part) for part in by_table(cells)]


def _table(study: Study, cells: Sequence[Compared]) -> Table:
    described = cells[0].published.table
    row_axes, column_axis = study.arranged(described)
    backends = by_backend(cells)
    # Of several backends each has a row, one below the other.
    named = [*row_axes, "metric", *([BACKEND] if len(backends) > 1 else [])]
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    columns: dict[str, Column] = {}
    for cell in cells:
        labels = {**cell.published.labels, "metric": cell.published.metric, BACKEND: cell.backend or ""}
        row = rows.setdefault(tuple(labels[name] for name in named), {FIRST: labels[named[0]]})
        value = labels[column_axis]
        row[_value(value)] = cell
        heading = value if study.published is None else f"{value}\npublished | ours"
        columns.setdefault(value, Column(heading, (), _compared(_value(value)), Content.NUMBER))
    previous: tuple[str, ...] = ()
    if len(backends) > 1:
        first = {key[:-1]: place for place, key in reversed(list(enumerate(rows)))}
        rows = dict(sorted(rows.items(), key=lambda row: first[row[0][:-1]]))
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
        if cell.agrees:
            return Text(f"{both}  ", style="green")
        if cell.beyond_chance is False:
            return Text(f"{both}{BY_CHANCE}", style="yellow")
        return Text(f"{both}{DISAGREES}", style="red")

    return shown


def _ours(cell: Compared) -> str:
    metric = METRICS[cell.published.metric]
    if cell.measured is None:
        return "none"
    mean, low, high = cell.measured
    if low is None or high is None:
        return metric.format(mean)
    return " ".join(digits.with_interval(mean, low, high, metric.format))


def agreement_table(cells: Sequence[Compared]) -> Table:
    """How many values agree with the published ones, by table and in all, of each backend."""
    rows: list[Row] = []
    parts = by_backend(cells)
    for backend, found in parts.items():
        of_backend = [_agreeing(str(table.number), table.title, agreed) for table, agreed in agreement(found).values()]
        of_backend.append(_agreeing("all", "", Agreement.of(found)))
        rows += ({BACKEND: backend, **row} for row in of_backend)
    several_seeds = any(row["ceiling"] is not None for row in rows)
    columns = [
        *([label(BACKEND, keep=True)] if len(parts) > 1 else []),
        number("table", keep=True),
        text("title", rank=1),
        number("agree"),
        number("values", "of"),
        number("percent", "%", _whole),
        *([number("beyond_chance", "beyond chance"), number("ceiling", "seeds agree, %", _whole)] if several_seeds else []),
    ]
    heading = "Values that agree with the paper's"
    return Table("agreement", heading, columns, rows, section=lambda row: row["table"] == "all")


def _agreeing(number: str, title: str, agreed: Agreement) -> Row:
    return {
        **{"table": number, "title": title, "agree": agreed.agreeing, "values": agreed.total},
        **{"percent": 100 * agreed.agreeing / agreed.total if agreed.total else None, "beyond_chance": agreed.beyond_chance},
        "ceiling": None if agreed.ceiling is None else 100 * agreed.ceiling,
    }


def _whole(percent: float) -> str:
    return f"{percent:.0f}"
