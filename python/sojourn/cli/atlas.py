"""``sojourn atlas``: which congestion controls and queue disciplines get along, pair by pair."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn import digits
from sojourn.cli.console import Form, put, say
from sojourn.cli.options import (
    CELLS,
    RESULTS,
    Command,
    backend_option,
    cluster_option,
    form_options,
    jobs_option,
    option,
    out_option,
    progress_option,
)
from sojourn.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from sojourn.api import Atlas, Checks, PlannedLandmark
    from sojourn.backends.backend import Backend
    from sojourn.table import Table


@click.command("atlas", cls=Command)
@option("--landmark", "landmarks", section=CELLS, metavar="NAME", multiple=True, help="Take only this landmark; repeatable.")
@option("--tcp", "tcps", section=CELLS, metavar="NAME", multiple=True, help="Take only this congestion control; repeatable.")
@option("--queue", "queues", section=CELLS, metavar="NAME", multiple=True, help="Take only this queue discipline; repeatable.")
@option("--beside", "besides", section=CELLS, metavar="alone|cubic", multiple=True, help="Take pairs alone, or beside CUBIC.")
@option("--all", "whole", section=CELLS, is_flag=True, help="Take all algorithms of the catalogue.")
@option("--seeds", section=CELLS, metavar="N", type=click.IntRange(min=1), help="Run each cell with N seeds. [default: 6]")
@option(
    "--check",
    section=CELLS,
    metavar="KERNEL",
    help="Ask a kernel about pairs at a border and one in ten others, or all that are named.",
)
@option("--checks", section=CELLS, metavar="N", type=click.IntRange(min=1), help="Ask it about N pairs of each landmark at most.")
@option("--ranges", "ranges", section=CELLS, is_flag=True, help="Map the range of each pair around each landmark, too.")
@option("--landmarks", "listing", section=RESULTS, is_flag=True, help="List the landmarks and run nothing.")
@out_option("results/atlas", "Keep the results in DIR; runs that it has are not made again.")
@backend_option
@jobs_option
@cluster_option
@progress_option
@form_options
def command(
    landmarks: tuple[str, ...],
    tcps: tuple[str, ...],
    queues: tuple[str, ...],
    besides: tuple[str, ...],
    whole: bool,
    seeds: int | None,
    check: str | None,
    checks: int | None,
    ranges: bool,
    listing: bool,
    out: Path | None,
    backend: str,
    jobs: int | None,
    cluster: str | None,
    progress: str,
    form: Form,
) -> None:
    """Ask which congestion controls and queue disciplines get along.

    Each pair of twelve and twelve is run alone and beside CUBIC at each landmark, such as a home's line or a data centre, and
    judged as by 'sojourn verdicts'. The verdicts are kept in DIR/atlas.parquet. The cheapest landmark comes first, and the
    same command goes on where one was ended.
    """
    from sojourn import api, backends
    from sojourn.atlas import folder
    from sojourn.cli import cards, show
    from sojourn.cli.terminal import notify
    from sojourn.exploration import gaussian

    if listing:
        put(_landmarks(), form)
        return
    carrier = backends.named(backend)
    kernel = None if check is None else backends.named(check)
    if kernel is not None and kernel.identity.name == carrier.identity.name:
        raise InputError(f"--check {check}: carries out the runs; name another backend")
    planned = api.plan_atlas(landmarks, tcps, queues, besides, whole=whole, seeds=seeds, backend=carrier)
    if ranges:
        gaussian.check("--ranges")
        if planned.named:
            from sojourn.figures import ranges as maps

            maps.check()
    directory = out or Path("results/atlas")
    if directory.exists() and not directory.is_dir():
        raise InputError(f"--out {directory}: is a file; give a directory")
    for reason in dict.fromkeys(reason for each in planned.landmarks for reason in each.left_out):
        notify(f"left out: {reason}")
    parts = ((len(planned.landmarks), "landmark"), (planned.cells, "cell"), (planned.cells * planned.seeds, "run"))
    extent = ", ".join(digits.counted(*part) for part in parts)
    say(f"{extent}, about {show.duration(planned.seconds(carrier, jobs))} if none is there yet", form)
    looking = cards.Looking(click.get_current_context().obj, directory, progress)
    found = []
    for each, said in api.survey(planned, out=directory, jobs=jobs, backend=carrier, cluster=cluster, observer=looking):
        found.append(said)
        say(f"{each.landmark.title}: {_in_all(said)}", form)
    if kernel is not None:
        _check(planned, kernel, directory, checks, jobs, progress, form)
    if ranges:
        _ranges(planned, directory, jobs, carrier, cluster, progress, form)
    if form is not None:
        put(_verdicts(found), form)
    say(f"The verdicts are in {directory / folder.ATLAS}", form)


def _check(
    planned: "Atlas", kernel: "Backend", directory: Path, most: int | None, jobs: int | None, progress: str, form: Form
) -> None:
    """Asks a kernel, and says how its verdicts stand to the simulator's."""
    from sojourn import api
    from sojourn.atlas import Agreement, folder
    from sojourn.cli import cards
    from sojourn.cli.terminal import notify

    def tell(each: "PlannedLandmark", state: "Checks") -> None:
        notify(f"{each.landmark.name}: {_stands(state, kernel)}")

    looking = cards.Looking(click.get_current_context().obj, directory, progress)
    state = api.check_atlas(planned, kernel, out=directory, most=most, jobs=jobs, observer=looking, progress=tell)
    counted = dict(folder.Folder(directory).join()["agreement"].value_counts().iter_rows())
    said = ", ".join(f"{counted.get(str(each), 0)} {each}" for each in Agreement)
    say(f"{kernel.identity.name}: {_stands(state, kernel)}; verdicts beside the simulator's: {said}", form)


def _ranges(
    planned: "Atlas",
    directory: Path,
    jobs: int | None,
    carrier: "Backend",
    cluster: str | None,
    progress: str,
    form: Form,
) -> None:
    """Maps the ranges of all pairs, and draws those of pairs that were named."""
    from sojourn import api
    from sojourn.atlas import folder
    from sojourn.cli import cards
    from sojourn.exploration import words
    from sojourn.report import ranges as pages

    looking = cards.Looking(click.get_current_context().obj, directory, progress)
    mapped = api.map_atlas(planned, out=directory, jobs=jobs, backend=carrier, cluster=cluster, observer=looking)
    for each in mapped:
        if each.directory is None:
            say(f"{each.label}: {words.lines(each.found)[0]}", form)
            continue
        for line in words.lines(each.found):
            say(f"{each.label}: {line}", form)
        say(f"The map is {pages.write(each.found, each.directory)}", form)
    say(f"The ranges are in {directory / folder.RANGES}", form)


def _stands(state: "Checks", kernel: "Backend") -> str:
    """How far a kernel has been asked."""
    return f"{digits.counted(state.done, 'pair')} asked, {state.refused} not for {kernel.identity.name}, {state.left} to go"


def _in_all(found: "pl.DataFrame") -> str:
    """How many pairs get along, on one line."""
    import polars as pl

    from sojourn.atlas import AXES
    from sojourn.verdicts import Answer

    states = found.group_by(*AXES).agg(
        bad=(pl.col("state") == str(Answer.HOLDS)).any(), open=(pl.col("state") == str(Answer.OPEN)).any()
    )
    bad = states["bad"].sum()
    left = states.filter(~pl.col("bad") & pl.col("open")).height
    good = states.height - bad - left
    return f"{digits.counted(states.height, 'pair')}: {good} get along, {bad} do not, {left} undecided"


def _verdicts(found: "Sequence[pl.DataFrame]") -> "Table":
    """All verdicts that were asked."""
    import polars as pl

    from sojourn.atlas import NOT_ASKED
    from sojourn.table.frame import of_frame

    return of_frame("verdicts", pl.concat(found).filter(pl.col("state") != NOT_ASKED), None)


def _landmarks() -> "Table":
    from sojourn import atlas
    from sojourn.table import Table, label, text

    rows = [atlas.load(name).model_dump(include={"name", "title", "about", "source", "scaled"}) for name in atlas.available()]
    columns = [label("name", keep=True), text("about", keep=True), text("source", rank=1), text("scaled", rank=2)]
    return Table("landmarks", "Landmarks", columns, rows, beside=["title"])
