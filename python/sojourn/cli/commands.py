"""The ``sojourn`` command. Exit status: 0 done, 1 a run failed, 2 bad input, 130 interrupted."""

import os
import shlex
import sys
from contextlib import closing, nullcontext
from pathlib import Path

import click

from sojourn import _engine, api, comparison, store
from sojourn.backends import Backend
from sojourn.backends.simulator import Simulator
from sojourn.bench import machine as machines
from sojourn.bench import measurements, ns3, parts
from sojourn.bench import report as reports
from sojourn.bench.parts import PARTS
from sojourn.campaign import Conducted, Plan, carry_out, conduct, workers
from sojourn.campaign import plan as plan_of
from sojourn.cli import describe as descriptions
from sojourn.cli import progress as progresses
from sojourn.cli import query as queries
from sojourn.cli import show
from sojourn.cli.export import export
from sojourn.cli.options import changes_of, only_option, selection, set_option
from sojourn.cli.plot import plot
from sojourn.cli.progress import Checking, Progress
from sojourn.cli.report import report as report_
from sojourn.cli.watch import watch
from sojourn.cluster import Cluster
from sojourn.errors import ClusterLost, InputError, SojournError, StoreFailed
from sojourn.results import Result
from sojourn.scenario import schema
from sojourn.specification import flow_count
from sojourn.study import library, tables
from sojourn.sweep import estimate
from sojourn.sweep.campaign import Repeated
from sojourn.sweep.stopping import StoppingRule
from sojourn.sweep.until import conduct_until

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

#: What stands for the studies of all papers.
ALL_STUDIES = "all"


def status(arguments: list[str]) -> int:
    """Runs the command line with some arguments and returns its exit status."""
    try:
        sojourn.main(arguments, prog_name="sojourn", standalone_mode=False, obj=shlex.join(["sojourn", *arguments]))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return BAD_INPUT
    except click.ClickException as error:
        return _complain(error.format_message(), BAD_INPUT)
    except InputError as error:
        return _complain(str(error), BAD_INPUT)
    except SojournError as error:
        return _complain(str(error), FAILED)
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has gone, as with "| head"; keep Python from failing once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error), FAILED)
    return 0


def _complain(message: str, exit_status: int) -> int:
    click.echo(f"sojourn: {' '.join(message.split())}", err=True)
    return exit_status


seeds_option = click.option(
    "--seeds", metavar="N", type=click.IntRange(min=1), help="N seeds for each cell; what the file says unless given, or 1."
)
jobs_option = click.option(
    "--jobs", metavar="J", type=click.IntRange(min=1), help="Runs at the same time; as many as there are cores unless given."
)
progress_option = click.option(
    "--progress",
    type=click.Choice(list(progresses.FORMS)),
    default="bar",
    help="How to tell of progress on standard error: a bar, on a terminal only, or json, an object a line.",
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Make the runs on a Dask cluster, whose scheduler is at ADDRESS, such as tcp://host:8786.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sojourn", message="sojourn %(version)s")
def sojourn() -> None:
    """How TCP congestion controls and router queue disciplines get along."""


@sojourn.command()
@click.argument("file", type=click.Path(path_type=Path))
@seeds_option
@only_option
@set_option
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep the results in a directory, new, empty, or with results: runs that are there are not made again.",
)
@jobs_option
@cluster_option
@progress_option
def run(
    file: Path,
    seeds: int | None,
    only: tuple[str, ...],
    changes: tuple[str, ...],
    out: Path | None,
    jobs: int | None,
    cluster: str | None,
    progress: str,
) -> None:
    """Run the scenario in FILE, or all cells of its sweep, and show what flows and queues did."""
    backend = Simulator()
    asked = api.campaign(file, seeds, selection(only), changes_of(changes))
    planned = _planned(asked, backend)
    found = _conduct(planned, asked.until, backend, out, jobs, cluster, progress, _provenance(None, only, changes))
    if len(planned.cells) == 1:
        show.result(found)
    else:
        show.cells(found, planned)


@sojourn.command()
@click.argument("file", metavar="FILE|STUDY", type=click.Path(path_type=Path))
@only_option
@set_option
def check(file: Path, only: tuple[str, ...], changes: tuple[str, ...]) -> None:
    """Check the scenario in FILE, or all cells of its sweep, or a study with its figures and claims, without running it."""
    if str(file) in library.available() and not file.is_file():
        loaded = library.load(str(file))
        claims = api.check_study(loaded)
        planned = _planned(api.study_campaign(loaded, 1, selection(only), changes_of(changes)), Simulator())
        shown = len(library.figures(loaded))
        click.echo(f"study {loaded.name} is fine: {len(planned.cells)} cells, {shown} figures, {len(claims)} claims")
        return
    planned = _planned(api.campaign(file, 1, selection(only), changes_of(changes)), Simulator())
    run = planned.cells[0].run()
    nodes, links = len(run.specification["nodes"]), len(run.specification["links"])
    size = f"{nodes} nodes, {links} one-way links, {flow_count(run.specification)} flows, {run.simulated_seconds:g} s"
    first = "" if len(planned.cells) == 1 else f"{len(planned.cells)} cells, the first with "
    click.echo(f'{file}: scenario "{planned.name}" is fine: {first}{size}')


@sojourn.command()
@click.argument("file", type=click.Path(path_type=Path))
@seeds_option
@only_option
@set_option
@jobs_option
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Tell how many of the runs are in DIR already.")
def plan(
    file: Path, seeds: int | None, only: tuple[str, ...], changes: tuple[str, ...], jobs: int | None, out: Path | None
) -> None:
    """Show what running FILE would mean: axes, cells, runs, and about how long they take here."""
    asked, backend = api.campaign(file, seeds, selection(only), changes_of(changes)), Simulator()
    planned = _planned(asked, backend)
    show.axes(asked)
    click.echo(show.extent(planned, asked.until))
    kept = 0
    if out is not None:
        kept = api.kept(planned, out)
        click.echo(f"{kept} of the runs are in {out}")
    if kept < len(planned):
        largest = max(planned.cells, key=lambda cell: cell.cost).run()
        speed = estimate.measure(largest, lambda run: carry_out(run, backend))
        left = estimate.packets(planned.cost) * (1 - kept / len(planned))
        click.echo(show.estimated(speed, len(planned) - kept, left, workers(jobs)))


@sojourn.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--metric", "metrics", metavar="M", multiple=True, help="Only this metric; repeatable.")
def compare(directory: Path, first: str, second: str, metrics: tuple[str, ...]) -> None:
    """Compare two cells of the results in DIR, over the seeds that both have.

    A and B are values of axes that tell a cell from all others, such as tcp=cubic,queue=codel.
    """
    runs = api.summaries(directory)
    one, other = (comparison.condition(text, comparison.axes_of(runs)) for text in (first, second))
    show.compared(comparison.compare_cells(runs, one, other, metrics or None), first, second)


@sojourn.command("list")
@click.argument("what", type=click.Choice(["tcp", "queues", "studies", "profiles"]))
def list_(what: str) -> None:
    """List the congestion controls, queue disciplines, studies or stack profiles there are."""
    show.listing(what)


@sojourn.command()
@click.argument("name")
def describe(name: str) -> None:
    """Tell what NAME is: a congestion control, queue discipline, stack profile or study."""
    descriptions.describe(name)


@sojourn.command("schema")
def schema_() -> None:
    """Print the JSON Schema of scenario files."""
    click.echo(schema.text(), nl=False)


@sojourn.command()
@click.argument("study")
@seeds_option
@only_option
@set_option
@jobs_option
@cluster_option
@progress_option
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help=(
        "A directory for the results, new, empty, or with results: runs that are there are not made again. results/STUDY "
        "unless given."
    ),
)
def reproduce(
    study: str,
    seeds: int | None,
    only: tuple[str, ...],
    changes: tuple[str, ...],
    jobs: int | None,
    cluster: str | None,
    progress: str,
    out: Path | None,
) -> None:
    """Run STUDY and show its tables: the published figures beside our own, or our own if none are published.

    With all for STUDY, the study of every paper.
    """
    everything = study == ALL_STUDIES
    if everything and (only or changes):
        raise InputError("reproduce all: --only and --set go with one study")
    studies = [library.load(name) for name in (library.papers() if everything else [study])]
    # All are checked before any is run.
    claims = {loaded.name: api.check_study(loaded) for loaded in studies}
    backend = Simulator()
    found = []
    for loaded in studies:
        if everything:
            click.echo(f"{loaded.name}: {loaded.title}")
        directory = out if out is not None and not everything else (out or Path("results")) / loaded.name
        asked = api.study_campaign(loaded, seeds, selection(only), changes_of(changes))
        planned = _planned(asked, backend)
        made_by = _provenance(loaded.name, only, changes)
        result = _conduct(planned, asked.until, backend, directory, jobs, cluster, progress, made_by)
        reproduction = api.compare(loaded, result, directory)
        _show(reproduction, len(claims[loaded.name]), directory)
        # The results themselves are not held: series of many seeds are long.
        found.append((loaded, reproduction.judged, reproduction.comparison))
    if everything:
        show.papers(found)


def _show(reproduction: api.Reproduction, claims: int, directory: Path) -> None:
    """A study's tables, how many of their figures agree, and how its claims fare."""
    for table in tables.study_tables(reproduction.study, reproduction.comparison):
        show.console().print(table)
    legend = ""
    if reproduction.study.published is not None:
        show.console().print(tables.agreement_table(reproduction.comparison))
        legend = "* does not agree. "
    if claims:
        click.echo(show.verdicts_in_all(reproduction.judged, claims))
    click.echo(f"{legend}Results of {reproduction.result.runs.height} runs are in {directory}")


@sojourn.command("claims")
@click.argument("study")
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def claims_(study: str, directory: Path | None) -> None:
    """Judge the claims of STUDY's paper by its runs in DIR, results/STUDY unless given, and write claims.csv there."""
    loaded = library.load(study)
    where = directory if directory is not None else Path("results") / loaded.name
    judged = api.judge(loaded, where)
    show.claims(judged)
    click.echo(show.verdicts_in_all(judged, len(library.claims(loaded))))


@sojourn.command("query")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("sql")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(queries.FORMS)),
    default="table",
    show_default=True,
    help="How to print what it finds; parquet is for a file or a pipe.",
)
def query_(directory: Path, sql: str, form: str) -> None:
    """Ask the results in DIR in SQL: tables runs, flows, queues and series."""
    queries.query(directory, sql, form, _notify)


@sojourn.command("bench")
@click.option(
    "--only",
    metavar="PART",
    multiple=True,
    type=click.Choice(list(PARTS)),
    help=f"Measure only this part: {', '.join(PARTS)}. Repeatable.",
)
@click.option("--against", type=click.Choice(["ns3"]), help="Compare with ns-3 instead. Needs a clone and libns3-dev.")
@click.option(
    "--seconds",
    metavar="S",
    type=click.FloatRange(min=0, min_open=True),
    help=(
        "Simulate a data-centre cell for S seconds, an access-link cell for ten times as long, and scale the other parts in "
        "proportion. Targets apply to 10.  [default: 10; with --against ns3, 1]"
    ),
)
@click.option(
    "--repeat",
    metavar="N",
    type=click.IntRange(min=1),
    help="Repeat each timing N times and take the median.  [default: 3; with --against ns3, 1]",
)
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Write the measurements to FILE as JSON.")
def bench_(only: tuple[str, ...], against: str | None, seconds: float | None, repeat: int | None, out: Path | None) -> None:
    """Measure speed, instructions, start-up and memory, and compare them with their targets."""
    if against is not None and only:
        raise InputError(f"--only {only[0]}: cannot be combined with --against {against}")
    if out is not None and not out.parent.is_dir():
        raise InputError(f"--out {out}: there is no directory {out.parent}")
    if out is not None and out.is_dir():
        raise InputError(f"--out {out}: is a directory; give a file")
    standard = ns3.STANDARD if against is not None else measurements.STANDARD
    extent = measurements.Extent(seconds or standard.seconds, repeat or standard.repeat)
    machine = machines.this()
    if against is None:
        measured = parts.measure(only or parts.measurable(_notify), extent, _notify)
    else:
        measured = [ns3.measure(extent, _notify)]
    report = reports.Report(machine, extent, measured)
    for table in reports.tables(report):
        show.console().print(table)
    if out is not None:
        store.write_whole(out, lambda path: path.write_text(reports.text(report), encoding="utf-8"))


sojourn.add_command(export)
sojourn.add_command(plot)
sojourn.add_command(report_)
sojourn.add_command(watch)


def _notify(what: str) -> None:
    click.echo(what, err=True)


def _provenance(study: str | None, only: tuple[str, ...], changes: tuple[str, ...]) -> store.Provenance:
    """The command that is being carried out, as it was typed."""
    typed = click.get_current_context().obj
    return store.Provenance(typed, _engine.version(), study, api.labels_of(selection(only)), changes_of(changes))


def _planned(asked: Repeated, backend: Backend) -> Plan:
    """What is asked for, all its cells checked, which is shown on the terminal."""
    with Checking(asked.size) as checking:
        return plan_of(asked, backend, asked.origin, checking.advance)


def _conduct(
    planned: Plan,
    until: StoppingRule | None,
    backend: Backend,
    out: Path | None,
    jobs: int | None,
    cluster: str | None,
    form: str,
    made_by: store.Provenance,
) -> Result:
    """Carries out runs with progress on the terminal; a failure or an interrupt says what is left of the results."""
    scheduler = None if cluster is None else Cluster(cluster)
    keeper = store.Memory() if out is None else store.Store(out, create=True, notify=_notify)
    if isinstance(keeper, store.Store):
        keeper.note(made_by)
    where = "" if out is None else f"; their results are in {out}"
    if len(planned.cells) > 1:
        click.echo(show.extent(planned, until))

    def conduct_with_progress(batch: Plan) -> Conducted:
        with Progress(batch, form) as progress:
            try:
                execute = None if scheduler is None else scheduler.execute
                return conduct(batch, backend, keeper, jobs, progress.advance, execute)
            except (KeyboardInterrupt, StoreFailed, ClusterLost):
                progress.stop()
                click.echo(f"{progress.finished} of {len(batch)} runs are finished{where if progress.finished else ''}", err=True)
                raise

    with closing(keeper), nullcontext() if scheduler is None else closing(scheduler):
        settled = conduct_until(planned, until, keeper, conduct_with_progress)
        conducted = settled.conducted
        if conducted.failures and out is not None:
            total = conducted.finished + len(conducted.failures)
            click.echo(f"{conducted.finished} of {total} runs succeeded{where}", err=True)
        if until is not None:
            for unsettled in settled.unsettled:
                click.echo(unsettled.told(until), err=True)
        return api.complete(conducted)
