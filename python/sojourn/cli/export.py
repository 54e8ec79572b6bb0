"""``sojourn export``: one run, for other tools."""

from collections.abc import Callable
from pathlib import Path

import click

from sojourn import api, exports
from sojourn.cli.options import changes_of, only_option, selection, set_option
from sojourn.errors import InputError
from sojourn.runs import Run


def _pcapng(run: Run, out: Path, link: str | None, command: str) -> str:
    name, packets = exports.write_pcapng(run, out, link, command)
    return f"{packets} packets of {name} are in {out}"


def _tcp_info(run: Run, out: Path, _link: None, _command: str) -> str:
    connections = exports.write_tcp_info(run, out)
    return f"{connections} connections are in {out}, a file each"


def _flent(run: Run, out: Path, _link: None, command: str) -> str:
    connections = exports.write_flent(run, out, run.label, command)
    return f"{connections} connections are in {out}"


FORMS: dict[str, Callable[..., str]] = {"pcapng": _pcapng, "tcp-info": _tcp_info, "flent": _flent}


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(list(FORMS)), required=True, help="What to write.")
@click.option(
    "--out",
    metavar="PATH",
    type=click.Path(path_type=Path),
    required=True,
    help="The file, or with tcp-info a directory, new or empty, for a file a connection.",
)
@click.option("--link", metavar="LINK", help='With pcapng the link, such as "left->right"; the first with a queue unless given.')
@click.option("--seed", metavar="N", type=click.IntRange(0, 2**63 - 1), help="The run's seed; the file's unless given.")
@only_option
@set_option
def export(
    file: Path, form: str, out: Path, link: str | None, seed: int | None, only: tuple[str, ...], changes: tuple[str, ...]
) -> None:
    """Run the scenario in FILE, or the one cell of its sweep that --only leaves, and write the run for other tools.

    pcapng: the packets of a link, for Wireshark. tcp-info: the states of connections over time, as Linux's tcp_info has
    them, in CSV. flent: throughput and round-trip times over time, for Flent, in a file .flent.gz.
    """
    if link is not None and form != "pcapng":
        raise InputError(f"--link {link}: goes with --format pcapng")
    run = api.single_run(file, seed, selection(only), changes_of(changes))
    click.echo(FORMS[form](run, out, link, click.get_current_context().obj))
