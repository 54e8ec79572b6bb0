"""How a result shows itself in a notebook: a table of its cells, and its queues over time where they were sampled."""

import base64
from html import escape
from itertools import islice

import polars as pl

from sojourn import digits, figures
from sojourn.analysis import findings, summary
from sojourn.analysis.result import Result
from sojourn.errors import InputError
from sojourn.figures import Drawn, means, svg
from sojourn.figures.drawn import column
from sojourn.metrics import METRICS
from sojourn.metrics.transfers import MAIN as OF_TRANSFERS

#: Cells that the table shows at most.
MOST_ROWS = 50

QUEUES = "queue-over-time"


def html(result: Result) -> str:
    """The result as HTML that needs nothing else."""
    if not result.columns("runs", ["key"]).height:
        return "<p>No runs.</p>"
    source = Drawn.of(result, order=result.order)
    return f"{_findings(result)}{_table(source)}{_note(source)}{_queues(result, source)}{_programs(result)}"


def _findings(result: Result) -> str:
    """What the runs show, in sentences."""
    return "".join(f"<p>{escape(finding.text)}</p>" for finding in findings.of(result))


def _table(source: Drawn) -> str:
    shown: dict[str, dict[tuple[str, ...], tuple[float | None, ...]]] = {}
    for metric in METRICS.values():
        if not metric.main:
            continue
        found = means.of_cells(source, metric)
        if metric.name in OF_TRANSFERS and found["value"].null_count() == found.height:
            continue
        numbers = found.select("value", "low", "high").iter_rows()
        shown[metric.label] = dict(zip(found.select(source.columns).iter_rows(), numbers, strict=True))
    in_order = (pl.col(column(axis)).cast(pl.Enum(labels)) for axis, labels in source.axes.items())
    cells = source.cells.select(source.columns).sort(in_order)
    rows = [
        _row("td", [*cell, *(_number(*numbers.get(cell, (None, None, None))) for numbers in shown.values())])
        for cell in cells.head(MOST_ROWS).iter_rows()
    ]
    left_out = cells.height - len(rows)
    more = f"<p>The first {len(rows)} of {cells.height} cells.</p>" if left_out else ""
    return f"<table><thead>{_row('th', [*source.axes, *shown])}</thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _row(tag: str, texts: list[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"


def _number(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "-"
    if low is None or high is None:
        return f"{value:.4g}"
    return " ".join(digits.with_interval(value, low, high, lambda each: f"{each:.4g}"))


def _note(source: Drawn) -> str:
    seeds = (
        f"Seed {source.seeds[0]}"
        if len(source.seeds) == 1
        else f"Means over {len(source.seeds)} seeds ± half of the 95 % interval"
    )
    if source.note is not None:
        seeds = f"{seeds}. {source.note.rstrip('.')}"
    command = f" <code>{escape(source.results.command)}</code>" if isinstance(source.results, Result) else ""
    return f"<p>{seeds}.{command}</p>"


def _queues(result: Result, source: Drawn) -> str:
    """The queues of all cells or, where these are too many for a figure, of the first."""
    figure = figures.named(QUEUES)
    if not figure.possible(source):
        return ""
    try:
        chart = figures.draw(QUEUES, result)
    except InputError:
        first = dict(zip(source.axes, source.cells.row(0), strict=True))
        chart = figures.draw(QUEUES, result, first)
    picture = base64.b64encode(svg(chart).encode()).decode()
    size = "width: 44em; max-width: 100%"
    return f'<img alt="{escape(figure.title)}" style="{size}" src="data:image/svg+xml;base64,{picture}">'


def _programs(result: Result) -> str:
    """How programs ended, where there are any."""
    table = summary.programs(result)
    if table is None:
        return ""
    heads = [column.heading for column in table.columns]
    rows = [_row("td", [str(column.show(row)) for column in table.columns]) for row in islice(table.rows, MOST_ROWS)]
    return f"<table><thead>{_row('th', heads)}</thead><tbody>{''.join(rows)}</tbody></table>"
