"""``sojourn lab``: the laboratory, a page in the browser."""

import json
import tempfile
import webbrowser
from pathlib import Path

import click

from sojourn.cli.options import Command, option
from sojourn.errors import InputError

#: The page, which ``make lab`` builds, and which wheels have.
PAGE = Path(__file__).parents[1] / "laboratory.html"

#: Where the page looks for a scenario that it is opened with: an element that it has empty.
_GIVEN = '<script type="application/json" id="given"></script>'


@click.command("lab", cls=Command)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@option("--no-open", "only_says", is_flag=True, help="Print the page's address, and do not open it.")
def command(file: Path | None, only_says: bool) -> None:
    """Open the laboratory in the browser, with the scenario FILE if it is given.

    The page has the simulator in it and needs no network. Of a sweep, the page shows the cell that you choose. What a page cannot
    run is named there, with its line.
    """
    if not PAGE.is_file():
        raise InputError(
            f"the laboratory is not built: {PAGE.name} is not in {PAGE.parent}; in Sojourn's source tree, run make lab"
        )
    address = (PAGE if file is None else _with_scenario(file)).as_uri()
    click.echo(address)
    if not only_says and not webbrowser.open(address):
        raise InputError("no browser was found; open the address in one")


def _with_scenario(file: Path) -> Path:
    """A page that opens with a scenario, in a temporary directory."""
    from sojourn.sweeps import file as sweep_file

    next(sweep_file.load(file).cells())  # what is wrong with it is told here, as everywhere
    given = {"name": file.name, "text": file.read_text(encoding="utf-8")}
    # What would end the element is written so that it does not.
    element = _GIVEN.replace("></", ">" + json.dumps(given).replace("<", "\\u003c") + "</")
    page = Path(tempfile.mkdtemp(prefix="sojourn-lab-")) / f"{file.stem}.html"
    page.write_text(PAGE.read_text(encoding="utf-8").replace(_GIVEN, element, 1), encoding="utf-8")
    return page
