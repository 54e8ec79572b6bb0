"""``sojourn range``: where in a space of scenarios verdicts begin to hold."""

import json as as_json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.console import Form, put, say
from sojourn.cli.options import (
    CELLS,
    Command,
    any_seed_option,
    backend_option,
    cluster_option,
    form_options,
    jobs_option,
    option,
    out_option,
    progress_option,
    set_option,
    trust_option,
)

if TYPE_CHECKING:
    from sojourn.exploration.exploring import Exploration
    from sojourn.exploration.operating import OperatingRange


class _Progress:
    """Tells of each generation, as a line of JSON or of text."""

    def __init__(self, form: str) -> None:
        self._form, self._begun = form, time.monotonic()

    def __call__(self, exploration: "Exploration") -> None:
        runs, points = exploration.purse.spent, sum(map(len, exploration.tried))
        if self._form == "json":
            elapsed = round(time.monotonic() - self._begun, 3)
            click.echo(as_json.dumps({"runs": runs, "points": points, "elapsed_s": elapsed}), err=True)
        else:
            click.echo(f"{runs} runs, {points} points", err=True)


@click.command("range", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@option("--axes", section=CELLS, metavar="X Y", nargs=2, default=None, help="Draw the map over these two names of the space.")
@option("--verdict", "verdicts", section=CELLS, metavar="NAME", multiple=True, help="Ask only this verdict; repeatable.")
@option("--budget", section=CELLS, metavar="N runs|TIME", help="Make so many runs, or look for so long. [default: 400 runs]")
@any_seed_option(help="Spread the first places by this seed. [default: the file's, or 0]")
@set_option
@trust_option
@out_option(None, "Keep the results and the map in DIR; a range that was ended goes on there.")
@backend_option
@jobs_option
@cluster_option
@progress_option
@form_options
def command(
    file: Path,
    axes: tuple[str, str] | None,
    verdicts: tuple[str, ...],
    budget: str | None,
    seed: int | None,
    changes: Mapping[str, Any],
    out: Path | None,
    backend: str,
    jobs: int | None,
    cluster: str | None,
    progress: str,
    form: Form,
) -> None:
    """Find where in the space of FILE a congestion control and a queue get along, and what is wrong elsewhere.

    FILE is a scenario with a table [search.space]: keys with bounds. Two of them are the axes of a map; each combination of
    choices has its own. What the table [range] says of the rest the options replace.
    """
    from sojourn import api
    from sojourn.cli.terminal import Terminal

    if out is not None:
        from sojourn.figures import ranges

        ranges.check()  # before anything is run
    found = api.find_range(
        file,
        axes=axes,
        verdicts=verdicts or None,
        budget=budget,
        seed=seed,
        changes=changes,
        out=out,
        jobs=jobs,
        backend=backend,
        cluster=cluster,
        observer=Terminal(click.get_current_context().obj, out, progress, form),
        progress=_Progress(progress),
    )
    _show(found, out, form)


def _show(found: "OperatingRange", out: Path | None, form: Form) -> None:
    from sojourn.exploration import words
    from sojourn.table.frame import of_frame

    if form is not None:
        put(of_frame("borders", found.borders), form)
    elif found.borders.height:
        put(of_frame("borders", words.rows(found)))
    for line in words.lines(found):
        say(line, form)
    if out is not None:
        from sojourn.report import ranges

        say(f"The map is {ranges.write(found, out)}", form)
