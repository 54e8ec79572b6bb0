"""``sojourn search``: where in a space of scenarios a value is largest or smallest."""

import json as as_json
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.console import Form, put, say
from sojourn.cli.options import (
    CELLS,
    Command,
    any_seed_option,
    backends_option,
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
    from sojourn.exploration.disagreement import Difference
    from sojourn.exploration.finding import Check, Finding
    from sojourn.exploration.hunt import Hunt, Trial

#: The best points that the table shows.
SHOWN = 10


class _Progress:
    """Tells of each generation: its best so far where that is new, or every one as a line of JSON."""

    def __init__(self, form: str) -> None:
        self._form, self._begun, self._told = form, time.monotonic(), ""

    def __call__(self, hunt: "Hunt") -> None:
        best = None if hunt.best is None else hunt.best.mean()
        labels = {} if hunt.best is None else hunt.space.labels(hunt.best.point)
        if self._form == "json":
            elapsed = round(time.monotonic() - self._begun, 3)
            line = {"runs": hunt.purse.spent, "points": len(hunt.trials), "best": best, "at": labels, "elapsed_s": elapsed}
            click.echo(as_json.dumps(line), err=True)
            return
        told = f"best so far {best:.4g} at {_at(labels)}" if best is not None else ""
        if all(trial.mean() is None for trial in hunt.trials.values()):
            told = "no point has a value yet"
        if told and told != self._told:
            click.echo(f"{hunt.purse.spent} runs, {told}", err=True)
        self._told = told


@click.command("search", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@option(
    "--maximise",
    section=CELLS,
    metavar="VALUE",
    help="Look for large values of a metric, an expression, or a query, or for disagreement.",
)
@option("--minimise", section=CELLS, metavar="VALUE", help="Look for small values of it.")
@option("--pareto", section=CELLS, metavar="A B", nargs=2, default=None, help="Look for the front between two metrics.")
@option(
    "--budget",
    section=CELLS,
    metavar="N runs|TIME",
    help="Make so many runs, or search for so long. [default: 200 runs, of two backends 1200]",
)
@any_seed_option(help="Search by this seed. [default: the file's, or 0]")
@option("--check", section=CELLS, metavar="BACKEND", help="Carry out the finding on another backend, too, such as linux.")
@set_option
@trust_option
@out_option(None, "Keep the results in DIR; a search that was ended goes on there.")
@backends_option
@jobs_option
@cluster_option
@progress_option
@form_options
def command(
    file: Path,
    maximise: str | None,
    minimise: str | None,
    pareto: tuple[str, str] | None,
    budget: str | None,
    seed: int | None,
    check: str | None,
    changes: Mapping[str, Any],
    out: Path | None,
    backend: tuple[str, ...],
    jobs: int | None,
    cluster: str | None,
    progress: str,
    form: Form,
) -> None:
    """Search the space of FILE for the point where a value is largest, or smallest.

    FILE is a scenario with a table [search.space]: keys with bounds. What it says of the rest the options replace.
    """
    from sojourn import api
    from sojourn.cli.terminal import Terminal

    found = api.search(
        file,
        maximise=maximise,
        minimise=minimise,
        pareto=pareto,
        budget=budget,
        seed=seed,
        changes=changes,
        out=out,
        jobs=jobs,
        backend=backend,
        cluster=cluster,
        check=check,
        observer=Terminal(click.get_current_context().obj, out, progress, form),
        progress=_Progress(progress),
    )
    _show(found, out, form)


def _show(found: "Finding", out: Path | None, form: Form) -> None:
    from sojourn.api import FRONT, POINTS
    from sojourn.exploration.finding import value_column
    from sojourn.exploration.hunt import RUNGS, SEEDS
    from sojourn.table.frame import of_frame

    if found.front is not None:
        put(of_frame("front", found.front, None), form)
        if found.own is not None and found.beside is not None:
            _show_own(found, found.own, found.beside, form)
    else:
        column = value_column(found.aims, 0)
        ranked = found.points.filter(found.points[column].is_not_null()).sort(
            column, descending=found.aims[0].larger, maintain_order=True
        )
        put(of_frame("points", ranked.head(SHOWN), None), form)
    if found.valueless:
        more = f"; the first problem: {found.problem}" if found.problem else ""
        say(f"{found.valueless} of {found.points.height} points have no value{more}", form)
    if out is not None:
        say(
            f"All points are in {out / POINTS}"
            + (f", a picture of the front in {out / FRONT}" if found.front is not None else ""),
            form,
        )
    if found.front is None and found.best is None:
        say("Nothing was found: no point has a value on most of its seeds", form)
    if found.best is not None and found.shrunk is not None:
        say(f"Found: {found.best.mean():.4g} at {_at(found.space.labels(found.best.point))}", form)
        say(f"Shrunk: {found.shrunk.mean():.4g} at {_at(found.space.labels(found.shrunk.point))}", form)
        for difference in found.differences:
            if difference.times > 0:
                say(_told(difference, found.backends), form)
        if found.differences and not found.differences[0].times:
            say(f"On {SEEDS} other seeds the backends do not differ", form)
        if found.confirmed is not None and found.confirmed.low is not None and found.confirmed.high is not None:
            low, high = found.confirmed.low, found.confirmed.high
            say(f"On {SEEDS} other seeds: {found.confirmed.mean:.4g}, 95 % interval {low:.4g} to {high:.4g}", form)
            value, larger = found.shrunk.mean(), found.aims[0].larger
            if value is not None and (high < value if larger else low > value):
                say("The other seeds show less than the search saw; trust their interval", form)
        if found.checked is not None:
            say(_of_check(found.checked), form)
        if found.best.seeds < max(RUNGS) and not found.best.repeated:
            say("The budget ended before it had all its seeds; a larger one knows more", form)
        if found.file is not None:
            where = shlex.quote(str(found.file))
            if found.differences:
                say(f"Look at it: sojourn run {where}{''.join(f' --backend {name}' for name in found.backends)}", form)
            else:
                say(f"Look at it: sojourn run {where}; on a kernel: sojourn run {where} --backend linux", form)


def _of_check(checked: "Check") -> str:
    """What another backend says of a finding, on one line."""
    from sojourn.exploration.hunt import SEEDS

    if checked.problem is not None:
        return f"{checked.backend} cannot carry it out: {checked.problem}"
    found = checked.found
    if found is None:
        return f"On {checked.backend}, {SEEDS} seeds have no value"
    between = f", 95 % interval {found.low:.4g} to {found.high:.4g}" if found.low is not None and found.high is not None else ""
    return f"On {checked.backend}, these seeds: {found.mean:.4g}{between}"


def _told(difference: "Difference", backends: Sequence[str]) -> str:
    from sojourn.exploration.hunt import SEEDS

    sides = zip(backends, (difference.first, difference.second), strict=True)
    told = ", ".join(f"{name} {side.mean:.4g} (95 % interval {side.low:.4g} to {side.high:.4g})" for name, side in sides)
    return f"On {SEEDS} other seeds, {difference.metric} differs by {difference.times:.3g} times what counts as equal: {told}"


def _show_own(found: "Finding", own: "Trial", beside: Sequence[float], form: Form) -> None:
    """Says where what the file itself has stands."""
    from sojourn.exploration.finding import value_column

    names = [value_column(found.aims, aim) for aim in range(2)]
    mine = [own.mean(aim) for aim in range(2)]
    say(
        f"The file has {_at(found.space.labels(own.point))}: "
        + ", ".join(f"{name} {value:.4g}" for name, value in zip(names, mine, strict=True)),
        form,
    )
    if list(beside) == mine:
        say("That is in the front: no point is better by both", form)
        return
    for here, other in ((0, 1), (1, 0)):
        say(f"With no worse {names[other]} the front has {names[here]} {beside[here]:.4g}", form)


def _at(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {label}" for name, label in labels.items())
