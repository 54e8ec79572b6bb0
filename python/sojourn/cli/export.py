"""``sojourn export``: one run for other tools, or a policy as C."""

from pathlib import Path
from typing import Any

import click

from sojourn.cli.options import RESULTS, Command, backend_option, cells_of, option, scenario_options, seed_option
from sojourn.errors import InputError


@click.command("export", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@option("--format", "form", type=click.Choice(["pcapng", "tcp-info", "flent", "c"]), required=True, help="Write this format.")
@option(
    "--out",
    section=RESULTS,
    metavar="PATH",
    type=click.Path(path_type=Path),
    required=True,
    help="Write to this file; with tcp-info to a new or empty directory, one file per connection.",
)
@option("--link", metavar="LINK", show_default="the first with a queue", help='With pcapng, capture this link: "left->right".')
@scenario_options
@seed_option
@backend_option
def command(
    file: Path,
    form: str,
    out: Path,
    link: str | None,
    seed: int | None,
    only: tuple[str, ...],
    changes: dict[str, Any],
    backend: str,
) -> None:
    """Run FILE, one scenario, and write the run for other tools; or write FILE, a policy that was learned, as C.

    Of a sweep, choose one cell with --only.

    pcapng: the packets of a link, for Wireshark. tcp-info: the states of connections over time, as Linux's tcp_info has
    them, in CSV. flent: throughput and round-trip times over time, for Flent, in a file .flent.gz. c: the policy as a congestion
    control of your own, which decides as it does; nothing is run.
    """
    if link is not None and form != "pcapng":
        raise InputError(f"--link {link}: needs --format pcapng")
    from sojourn import api, exports

    if form == "c":
        exports.write_c(file, out)
        click.echo(f'wrote {out}; run it with tcp = {{ file = "{out.name}" }}')
        return
    run = api.single_run(file, seed, cells_of(only), changes, backend)
    typed = click.get_current_context().obj
    match form:
        case "pcapng":
            name, packets = exports.write_pcapng(run, out, link, typed, backend)
            click.echo(f"wrote {packets} packets of {name} to {out}")
        case "tcp-info":
            connections = exports.write_tcp_info(run, out, backend)
            click.echo(f"wrote {connections} connections to {out}, one file each")
        case _:
            connections = exports.write_flent(run, out, run.label, typed, backend)
            click.echo(f"wrote {connections} connections to {out}")
