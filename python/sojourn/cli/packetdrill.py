"""``sojourn packetdrill``: scripts that hold a TCP to its packets."""

from collections import Counter
from pathlib import Path

import click

from sojourn.cli.options import RESULTS, Command, option
from sojourn.errors import InputError

#: What may come of a file.
VERDICTS = ("passed", "failed", "not for us", "no script")
WIDTH = max(map(len, VERDICTS))


@click.command("packetdrill", cls=Command)
@click.argument("places", metavar="FILE|DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@option("--trace", section=RESULTS, is_flag=True, help="Print the packets sent and received, in the notation of scripts.")
def command(places: tuple[Path, ...], trace: bool) -> None:
    """Run packetdrill scripts on the simulator's TCP.

    Each script passes, fails at a line, or is "not for us": it needs a feature of hosts that the simulator's endpoint does not
    have. The stack is linux-6, as the script's sysctls change it.
    """
    from sojourn import packetdrill

    counts: Counter[str] = Counter()
    for script in packetdrill.scripts(places):
        try:
            outcome = packetdrill.run(script)
        except InputError as error:
            counts["no script"] += 1
            click.echo(f"{'no script':<{WIDTH}}  {error}")
            continue
        counts[outcome.verdict] += 1
        about = f": {outcome.feature}" if outcome.feature else ""
        click.echo(f"{outcome.verdict:<{WIDTH}}  {script}{about}")
        if trace:
            for packet in outcome.packets:
                click.echo(f"    {packet}")
        if (difference := outcome.difference) is not None:
            click.echo(f"    line {difference.line}, at {difference.at:.6f} s")
            click.echo(f"    expected  {difference.expected}")
            click.echo(f"    seen      {difference.seen}")
    click.echo(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]))
    if counts["no script"]:
        raise SystemExit(2)
    if counts["failed"]:
        raise SystemExit(1)
