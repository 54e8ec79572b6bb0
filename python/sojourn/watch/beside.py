"""Runs that differ in their queue, side by side on a page of a terminal."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from sojourn import colours
from sojourn.watch import parts
from sojourn.watch.recent import Past, Queue, Recent

#: Waits, in s, from which on a conversation suffers (ITU-T G.114, 2003: 150 ms one way).
TOO_LONG = 0.150

#: Lines of the graphs: with all else a page is 19 lines high.
TIME_ROWS, LENGTH_ROWS = 6, 4


class Beside:
    """Draws the latest moments of runs at the same time, each in a column, on common scales.

    ``about`` says what they have in common. Each lasts ``duration`` simulated seconds.
    """

    def __init__(self, about: str, runs: Mapping[str, Recent], duration: float) -> None:
        self._about, self._runs, self._duration = about, runs, duration
        self._colours = {name: colours.PALETTE[place] for name, place in colours.slots(runs).items()}

    def draw(self, width: int) -> RenderableType:
        """The page, for a terminal of ``width`` columns."""
        now = next(iter(self._runs.values())).now
        queues = {name: recent.queues()[0] for name, recent in self._runs.items()}
        pasts = {name: self._runs[name].history(queue.link) for name, queue in queues.items()}
        longest = max((time for past in pasts.values() for time in parts.milliseconds(past) if time is not None), default=0.0)
        most = max(each.packets for past in pasts.values() for each in past)
        panels = Table.grid()
        panels.add_row(
            *(self._panel(name, queues[name], pasts[name], longest, most, width // len(self._runs)) for name in self._runs)
        )
        title = Text(self._about, style="bold", no_wrap=True, overflow="ellipsis")
        return Group(parts.head(title, f"{now:.1f} of {self._duration:g} s", now, self._duration), panels)

    def _panel(self, name: str, queue: Queue, past: Sequence[Past], longest: float, most: float, width: int) -> RenderableType:
        # Without borders and padding.
        inside, seen = width - 4, self._runs[name].seen
        colour = self._colours[name]
        values = [f"{queue.packets} packets", f"{queue.drops or 0} drops"]
        if queue.mbps is not None:
            values.append(f"{queue.mbps:.1f} Mbit/s")
        content = Group(
            _felt(queue.sojourn),
            Text(", ".join(values), no_wrap=True, overflow="ellipsis"),
            parts.times(past, seen, inside, colour, longest, TIME_ROWS),
            parts.lengths(past, seen, inside, colour, most, LENGTH_ROWS),
            parts.spark("drops", [each.drops for each in past], seen, inside),
        )
        return Panel(content, title=f"[bold]{escape(name)}[/bold]", title_align="left", border_style=colour, width=width)


def _felt(sojourn: float | None) -> Text:
    """What the wait of a packet means to people who talk."""
    if sojourn is None:
        return Text("no packet")
    feeling, style = ("bad for a call", "bold reverse") if sojourn > TOO_LONG else ("fine for a call", "bold")
    return Text.assemble(f"wait {1e3 * sojourn:.0f} ms: ", (feeling, style), no_wrap=True, overflow="ellipsis")
