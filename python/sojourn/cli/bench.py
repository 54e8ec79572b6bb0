"""``sojourn bench``: speed and memory compared with their targets."""

from pathlib import Path

import click

from sojourn.cli.console import Form, put
from sojourn.cli.options import RESULTS, Command, form_options, option
from sojourn.errors import InputError, check_out


def _parts(_context: click.Context, option: click.Parameter, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The names of parts, if there are such; what they are is loaded only when it is needed."""
    if wanted:
        from sojourn.bench.parts import PARTS

        for name in wanted:
            if name not in PARTS:
                raise click.BadParameter(f"{name!r} is not one of {', '.join(PARTS)}.", param=option)
    return wanted


@click.command("bench", cls=Command)
@option("--only", metavar="PART", multiple=True, callback=_parts, help="Measure only this part; repeatable.")
@option("--against", type=click.Choice(["ns3"]), help="Compare with ns-3 instead. Needs a clone and libns3-dev.")
@option(
    "--seconds",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    show_default="10; with --against ns3, 1",
    help="Simulate data-centre cells for S seconds, access-link cells for ten times as long, and scale the other parts in "
    "proportion. Targets apply to 10.",
)
@option(
    "--repeat",
    metavar="N",
    type=click.IntRange(min=1),
    show_default="3; with --against ns3, 1",
    help="Repeat each timing N times and take the median.",
)
@option(
    "--instructions",
    is_flag=True,
    help="Count instructions a packet in every row of speed, not in the part of that name alone; takes fifty times as long.",
)
@option("--out", section=RESULTS, metavar="FILE", type=click.Path(path_type=Path), help="Write the measurements to FILE as JSON.")
@option(
    "--history",
    section=RESULTS,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --only instructions: add what its cells cost at this commit to FILE of Sojourn's repository.",
)
@form_options
def command(
    only: tuple[str, ...],
    against: str | None,
    seconds: float | None,
    repeat: int | None,
    instructions: bool,
    out: Path | None,
    history: Path | None,
    form: Form,
) -> None:
    """Measure speed, instructions, start-up and memory.

    Every measurement is shown with its target.
    """
    if against is not None and only:
        raise InputError(f"--only {only[0]}: cannot be combined with --against {against}")
    if out is not None:
        check_out(out)
    if history is not None and "instructions" not in only:
        raise InputError(f"--history {history}: needs --only instructions")
    from sojourn.bench import callgrind, machine, measurements, ns3, parts, report
    from sojourn.bench import history as recording
    from sojourn.cli.terminal import notify
    from sojourn.store import write_whole

    standard = ns3.STANDARD if against is not None else measurements.STANDARD
    extent = measurements.Extent(seconds or standard.seconds, repeat or standard.repeat, instructions)
    if instructions:
        callgrind.check("--instructions")
    commit = None if history is None else recording.here(history)
    this = machine.this()
    if against is None:
        measured = parts.measure(only or parts.measurable(notify), extent, notify)
    else:
        measured = [ns3.measure(extent, notify)]
    found = report.Report(this, extent, measured)
    put(list(report.tables(found)), form)
    if out is not None:
        write_whole(out, lambda path: path.write_text(report.as_json(found), encoding="utf-8"))
    if history is not None and commit is not None:
        (rows,) = (part.rows for part in measured if part.name == "instructions")
        recording.append(history, recording.recorded(rows, extent.seconds, commit))
