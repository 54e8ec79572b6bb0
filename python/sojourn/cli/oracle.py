"""``sojourn oracle``: a built-in congestion control beside Linux's module of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.console import Form, put, say
from sojourn.cli.options import CELLS, RESULTS, Command, any_seed_option, changes_option, form_options, option, out_option
from sojourn.errors import InputError
from sojourn.table import Column, Frame, Table, label, number

if TYPE_CHECKING:
    from sojourn.oracle import Parting

#: Decimal places of a time, of a window and of a difference.
MICROSECONDS, SEGMENTS, PER_CENT = "{:.6f}", "{:.1f}", "{:+.1%}"


@click.command("oracle", cls=Command)
@click.argument("name", metavar="NAME")
@option(
    "--source",
    "kernel",
    metavar="KERNEL",
    type=click.Path(path_type=Path),
    required=True,
    help="Take the module from this source tree or tarball of a kernel, folder with the module, or file.",
)
@changes_option(help="Set a parameter of the built-in algorithm, such as beta=0.8; repeatable. The others are those of linux-6.")
@option(
    "--events",
    section=CELLS,
    metavar="N",
    type=click.IntRange(2, 10_000_000),
    default=20_000,
    help="Compare over N acknowledgements and timeouts.",
)
@option("--rtt", section=CELLS, metavar="TIME", default="40 ms", help="Use a path with this round-trip time.")
@any_seed_option(show_default="none", help="Add random losses, delays, outages and pauses from this seed.")
@option("--every", section=RESULTS, is_flag=True, help="Show every event, not only those where the two part.")
@out_option(None, "Write a figure of both windows over time to FILE, which ends in .svg, .png or .pdf.", "FILE")
@form_options
def command(
    name: str,
    kernel: Path,
    changes: dict[str, Any],
    events: int,
    rtt: str,
    seed: int | None,
    every: bool,
    out: Path | None,
    form: Form,
) -> None:
    """Compare a congestion control with Linux's module of it.

    The module's flow is alone on a path of 50 Mbit/s. The built-in algorithm is told the same and has no effect, so that
    differences do not grow through the network. Without --seed the run has slow start, losses by overflow, a timeout half way,
    and marks in its last quarter.
    """
    from sojourn import catalogue, names, oracle, units
    from sojourn.cli.plot import target_of

    try:
        algorithm = catalogue.load().congestion_control(name)
    except ValueError as error:
        raise InputError(str(error)) from None
    names.check("congestion control with a module of Linux", algorithm.name, oracle.PAIRS, InputError)
    try:
        base = units.DURATION.parse(rtt)
    except ValueError as error:
        raise InputError(f"--rtt {rtt}: {error}") from None
    drawn = None if out is None else target_of("oracle", None, out)
    sequence = oracle.Sequence(events, seed, base)
    with oracle.module(kernel, oracle.PAIRS[algorithm.name]) as module:
        compared = oracle.run(algorithm.name, module, sequence, changes)
        file = module.name
    parting = oracle.parting(compared)
    rows = Frame(parting.all if every else parting.rows)
    title = f"{algorithm.name} and Linux's {file}"
    put(Table("events", title, _columns(), rows), form)
    say(_verdict(parting), form)
    if drawn is not None:
        from sojourn.figures import saving
        from sojourn.oracle import drawing

        written, path = drawn
        saving.save(drawing.draw(compared, algorithm.name, file, click.get_current_context().obj), path, written)
        say(str(path), form)


def _columns() -> list[Column]:
    """Our window beside Linux's, and what follows from it."""
    segments = SEGMENTS.format
    return [
        number("event", keep=True),
        number("time", "time (s)", MICROSECONDS.format),
        label("kind", "what", keep=True),
        number("rtt", "RTT (ms)", lambda rtt: f"{1e3 * rtt:.3f}", rank=2),
        number("ours_cwnd", "cwnd: ours (segments)", segments, keep=True),
        number("linux_cwnd", "cwnd: Linux (segments)", segments, keep=True),
        number("difference", "difference", PER_CENT.format, keep=True),
        number("ours_ssthresh", "ssthresh: ours", segments, rank=1),
        number("linux_ssthresh", "ssthresh: Linux", segments, rank=1),
        number("ours_pacing_rate", "pacing: ours (Mbit/s)", _megabits, rank=1),
        number("linux_pacing_rate", "pacing: Linux (Mbit/s)", _megabits, rank=1),
    ]


def _megabits(rate: float) -> str:
    return f"{rate / 1e6:.3f}"


def _verdict(parting: "Parting") -> str:
    """One line on all of it."""
    if parting.first is None:
        return f"They agree in all {parting.events:,} events, to {parting.most:.2%} of the window."
    return (
        f"They part first at event {parting.first:,}, and in {parting.share:.1%} of {parting.events:,} events; "
        f"their windows differ by {parting.mean:.1%} on average and {parting.most:.1%} at most."
    )
