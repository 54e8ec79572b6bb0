"""``sojourn demo``: bufferbloat and its cure, live."""

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.options import Command, out_option

if TYPE_CHECKING:
    from sojourn.analysis.result import Result

#: In a clone ``examples`` is a link to the top-level folder; an installed package holds the files themselves.
SCENARIO = Path(__file__).parents[1] / "examples" / "demo.toml"

OUT = "sojourn-demo"

#: Simulated seconds a second.
SPEED = 4.0


@click.command("demo", cls=Command)
@out_option(OUT, "Keep the results, the report and the scenario in DIR.")
def command(out: Path | None) -> None:
    """Show bufferbloat and its cure, and write a report.

    A call and two downloads share a line, once with DropTail and once with CoDel. On a terminal, both queues are shown live.
    """
    from sojourn import api, campaign, report
    from sojourn.cli.terminal import notify
    from sojourn.store import write_whole

    class Quiet(campaign.Observer):
        command = click.get_current_context().obj

        def notify(self, message: str, /) -> None:
            notify(message)

    directory = Path(OUT) if out is None else out
    # Before anything is shown, so that a directory that will not do is known at once.
    found = api.run(SCENARIO, out=directory, observer=Quiet())
    copy = directory / SCENARIO.name
    if not copy.exists():
        write_whole(copy, lambda path: path.write_bytes(SCENARIO.read_bytes()))
    if sys.stdout.isatty():
        _show_live()
    _show_result(found)
    _show_next(report.write(directory), copy)


def _show_live() -> None:
    from rich.console import Console
    from rich.live import Live

    from sojourn import api, backends
    from sojourn.cli import interrupts
    from sojourn.units import PICOSECONDS
    from sojourn.watch.beside import Beside
    from sojourn.watch.pace import REFRESH, Pace
    from sojourn.watch.recent import HISTORY, LATELY, Recent

    cells = list(api.expand(SCENARIO).cells())
    runs = [cell.specification for cell in cells]
    recent = [Recent(run, LATELY) for run in runs]
    duration = runs[0]["duration"]
    # The whole of a run fits into the history.
    stepped = (backends.stepping(backends.DEFAULT).step(run).moments(duration // HISTORY) for run in runs)
    names = (",".join(cell.axes.values()) for cell in cells)
    page = Beside(cells[0].scenario.description, dict(zip(names, recent, strict=True)), duration / PICOSECONDS)
    terminal, pace, drawn = Console(), Pace(SPEED), 0.0
    with interrupts.Raised(), Live(console=terminal, auto_refresh=False, vertical_overflow="crop") as live:
        for moments in zip(*stepped, strict=True):
            for values, moment in zip(recent, moments, strict=True):
                values.add(moment)
            pace.keep(moments[0].time)
            if time.monotonic() - drawn >= REFRESH:
                drawn = time.monotonic()
                live.update(page.draw(terminal.width), refresh=True)
        live.update(page.draw(terminal.width), refresh=True)


def _show_result(found: "Result") -> None:
    from sojourn.analysis import findings, summary
    from sojourn.cli.console import put
    from sojourn.table import Frame, Table, label, number
    from sojourn.watch.beside import TOO_LONG

    names = ["queue", "sojourn_mean_s", "sojourn_p99_s", "drop_pct", "utilisation"]
    runs = found.columns("runs", names).sort("sojourn_mean_s", descending=True)
    columns = [
        label("queue", keep=True),
        number("sojourn_mean_s", "mean wait, ms", lambda seconds: f"{1e3 * seconds:.1f}"),
        number("sojourn_p99_s", "p99 wait, ms", lambda seconds: f"{1e3 * seconds:.1f}"),
        number("drop_pct", "drops, %", lambda percent: f"{percent:.2f}"),
        number("utilisation", "link in use, %", lambda share: f"{100 * share:.1f}"),
    ]
    queues = Table("queues", "A call and two downloads behind two queues", columns, Frame(runs))
    put([summary.sentences(findings.of(found)), queues])
    click.echo(f"With DropTail the downloads keep the buffer full. People who talk notice a wait of {1e3 * TOO_LONG:g} ms.")


def _show_next(report: Path, scenario: Path) -> None:
    click.echo(f"Report: {report}  Scenario: {scenario}  To try next:")
    for command, *options in (["watch", "--only", "queue=codel"], ["run", "--set", "flows.1.tcp=bbr"]):
        click.echo(f"  {shlex.join(['sojourn', command, str(scenario), *options])}")
