"""Parts of pictures of a run on a terminal: its progress, graphs of lengths and times, and when something happened."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from sojourn.watch import graph
from sojourn.watch.recent import HISTORY, Past

#: Lines of a graph without its title.
GRAPH_ROWS = 5


def head(left: Text, right: str, now: float, duration: float) -> RenderableType:
    """Two texts on one line, and under them how much of the run is done."""
    line = Table.grid(expand=True, padding=(0, 2))
    line.add_column(ratio=1)
    line.add_column(justify="right")
    line.add_row(left, right)
    progress = Table.grid(expand=True)
    progress.add_row(ProgressBar(total=duration, completed=now))
    return Group(line, progress)


def lengths(past: Sequence[Past], seen: int, width: int, colour: str, most: float = 0.0, rows: int = GRAPH_ROWS) -> Text:
    """The length of a queue over time; the scale reaches to ``most`` packets at least."""
    return _graph("packets", past, [float(each.packets) for each in past], seen, width, most, rows, colour)


def times(past: Sequence[Past], seen: int, width: int, colour: str, most: float = 0.0, rows: int = GRAPH_ROWS) -> Text:
    """The sojourn time in a queue over time; the scale reaches to ``most`` milliseconds at least."""
    return _graph("sojourn ms", past, milliseconds(past), seen, width, most, rows, colour)


def milliseconds(past: Sequence[Past]) -> list[float | None]:
    """Sojourn times in ms."""
    return [None if each.sojourn is None else 1e3 * each.sojourn for each in past]


def _graph(
    what: str,
    past: Sequence[Past],
    values: Sequence[float | None],
    seen: int,
    width: int,
    most: float,
    rows: int,
    colour: str,
) -> Text:
    heights = graph.columns(values, seen, width, HISTORY)
    top = graph.round_top(max([most, *heights]))
    lines = graph.area(heights, top, rows, width)
    title = f"{what}, 0 to {top:g}, since {past[0].time:.4g} s"[:width]
    return Text.assemble((title.ljust(width), "dim"), "\n", ("\n".join(lines), colour))


def spark(what: str, values: Sequence[int], seen: int, width: int) -> Text:
    """One line that shows when something happened."""
    label = f"{what} "
    heights = graph.columns(values, seen, width, HISTORY)[-(width - len(label)) :]
    (line,) = graph.area(heights, max([1.0, *heights]), 1, width - len(label))
    return Text.assemble((label, "dim"), line)
