"""A run as a page of a terminal."""

from collections.abc import Mapping

import polars as pl
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from sojourn import colours
from sojourn.specification import RunSpecification, link_name
from sojourn.units import PICOSECONDS, RATE
from sojourn.watch import parts
from sojourn.watch.pace import Pace
from sojourn.watch.recent import Queue, Recent, by_group, described

#: Lines of what is shown of a queue.
QUEUE_ROWS = parts.GRAPH_ROWS + 5

#: Columns of a graph on the narrowest terminal.
MINIMUM_GRAPH = 20

#: Queues that are drawn. A run has seldom more, and a terminal is not high.
MOST_QUEUES = 2

#: Inner states that are shown: each takes a line or two.
MOST_STATES = 4

#: Flows that are shown if not all of them are: those with the highest rates.
TOP = 5


class Screen:
    """Draws the latest moment of a run."""

    def __init__(self, run: RunSpecification, name: str, recent: Recent, pace: Pace) -> None:
        self._title = f"{name}, seed {run['seed']}"
        self._duration, self._warm_up = run["duration"] / PICOSECONDS, run["warm_up"] / PICOSECONDS
        self._about = {
            link_name(run, link): f"{link['queue']['name']} at {RATE.format(link['rate'])}"
            for link in run["links"]
            if link["queue"] is not None
        }
        disciplines = {link_name(run, link): link["queue"]["name"] for link in run["links"] if link["queue"] is not None}
        places = colours.slots(disciplines.values())
        self._colours = {link: colours.PALETTE[places[name]] for link, name in disciplines.items()}
        algorithm = pl.when(pl.col("algorithm").n_unique() == 1).then(pl.col("algorithm").first())
        groups = described(run).group_by("group", maintain_order=True).agg(algorithm=algorithm)
        self._groups = {group: colours.PALETTE[place] for group, place in colours.of_groups(dict(groups.iter_rows())).items()}
        self._recent, self._pace = recent, pace

    def draw(self, width: int, height: int) -> RenderableType:
        """The page, for a terminal of this size in columns and rows."""
        queues = self._recent.queues()
        shown = queues[:MOST_QUEUES]
        page: list[RenderableType] = [self._head(), *(self._queue(queue, width) for queue in shown)]
        if len(queues) > len(shown):
            page.append(Text(f"{len(queues) - len(shown)} more queues"))
        # What is left over for rows of flows, between two headings and their rules.
        states = list(self._recent.states().items())[:MOST_STATES]
        rows = height - 3 - QUEUE_ROWS * len(shown) - 10 - 2 * len(states)
        page.append(_flows(self._recent.flows(), max(rows, TOP), self._groups))
        page += [Text.assemble((owner, "bold"), f"  {state}") for owner, state in states]
        return Group(*page)

    def _head(self) -> RenderableType:
        now = self._recent.now
        phase = "warm-up" if now < self._warm_up else "measuring window"
        speed = f"{self._pace.reached:.3g} simulated s per second"
        if self._pace.is_behind:
            speed += ", as fast as possible"
        title = Text.assemble((self._title, "bold"), f"  {now:.2f} of {self._duration:g} s, {phase}")
        return parts.head(title, speed, now, self._duration)

    def _queue(self, queue: Queue, width: int) -> RenderableType:
        past = self._recent.history(queue.link)
        values = [f"{queue.packets} packets"]
        if queue.sojourn is not None:
            values.append(f"sojourn {1e3 * queue.sojourn:.1f} ms")
        if queue.mbps is not None:
            values.append(f"{queue.mbps:.2f} Mbit/s sent")
        values += queue.counts
        # Borders and padding of the panel, and the gap between its halves.
        half = max(MINIMUM_GRAPH, (width - 4 - 3) // 2)
        graphs = Table.grid(padding=(0, 3, 0, 0))
        seen = self._recent.seen
        colour = self._colours[queue.link]
        graphs.add_row(parts.lengths(past, seen, half, colour), parts.times(past, seen, half, colour))
        graphs.add_row(
            parts.spark("drops", [each.drops for each in past], seen, half),
            parts.spark("marks", [each.marks for each in past], seen, half),
        )
        title = f"[bold]{escape(queue.link)}[/bold]  {escape(self._about[queue.link])}"
        now = Text("   ".join(values), no_wrap=True, overflow="ellipsis")
        return Panel(Group(now, graphs), title=title, title_align="left", width=width)


def _flows(flows: pl.DataFrame, rows: int, of_groups: Mapping[str, str]) -> RenderableType:
    """A row a flow or, where they are too many, a row a group and then the flows with the highest rates."""
    if flows.height <= rows:
        return _table("Flows", "flow", flows, of_groups)
    groups = by_group(flows)
    most = max(1, rows - TOP)
    listed = groups.sort("mbps", descending=True, maintain_order=True)[:most] if groups.height > most else groups
    left_out = f", {groups.height - most} more" if groups.height > most else ""
    top = flows.sort("mbps", descending=True, maintain_order=True)[:TOP]
    return Group(
        _table(f"Groups of flows{left_out}: total rates, means of other values", "flows", listed, of_groups),
        _table(f"The fastest of {flows.height} flows", "flow", top, of_groups),
    )


def _table(title: str, first: str, rows: pl.DataFrame, of_groups: Mapping[str, str]) -> Table:
    made = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for heading in (first, "group", "algorithm", "Mbit/s", "cwnd kB", "RTT ms"):
        made.add_column(heading, justify="left" if heading in ("group", "algorithm") else "right")
    for row in rows.iter_rows(named=True):
        cwnd = "-" if row["cwnd"] is None else f"{row['cwnd'] / 1e3:.1f}"
        rtt = "-" if row["rtt"] is None else f"{row['rtt'] * 1e3:.1f}"
        made.add_row(
            str(row[first]), Text(row["group"], of_groups[row["group"]]), row["algorithm"], f"{row['mbps']:.2f}", cwnd, rtt
        )
    return made
