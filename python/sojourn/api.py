"""What the command line and notebooks call alike."""

import shlex
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from sojourn import _engine, backends, names
from sojourn import campaign as campaigns
from sojourn.analysis.result import Result
from sojourn.analysis.several_backends import beside, by_backend
from sojourn.backends.backend import Backend
from sojourn.backends.identity import Identity
from sojourn.campaign import Campaign, CampaignOutcome, Cluster, Observer, Outcome, Plan
from sojourn.errors import InputError, RunFailed
from sojourn.names import BACKEND
from sojourn.runs import Run, requests
from sojourn.scenario import Scenario
from sojourn.specification import text
from sojourn.store import Memory, Provenance, RunStore, Store
from sojourn.study import cells, library, verdicts
from sojourn.study.cells import Compared
from sojourn.study.claims import Claim
from sojourn.study.design import AS_STATED, Study
from sojourn.study.verdicts import Judged
from sojourn.sweep import file
from sojourn.sweep.matrix import Matrix

#: Runs whose results are held in memory where nothing else is asked for, a few kilobytes each; more are in a temporary directory.
MOST_IN_MEMORY = 5_000


def load(path: str | Path) -> Scenario:
    """Reads and checks a scenario file.

    Raises:
        InputError: the file cannot be read, is no scenario, or is many; one line that names file and key or line.
    """
    matrix = expand(path)
    if matrix.sweep.axes:
        raise InputError(f"{path}: sweep: the file has {matrix.size} scenarios; read it with sojourn.expand")
    (cell,) = matrix.cells()
    return cell.scenario


def expand(path: str | Path | Mapping[str, Any]) -> Matrix:
    """Reads a scenario file that may have a sweep; ``cells()`` of what it returns makes its cells one by one.

    A dictionary stands for the file that has these tables and keys.

    Raises:
        InputError: the file cannot be read, or its sweep makes no sense; one line that names file and key or line.
    """
    return file.from_data(path, "the scenario") if isinstance(path, Mapping) else file.load(path)


def run(
    scenario: Scenario | str | Path | Mapping[str, Any],
    seeds: int | None = None,
    *,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend | Sequence[str | Backend] = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Result:
    """Runs a scenario, or all cells of a scenario file with a sweep.

    Args:
        scenario: a scenario, the path of a scenario file, or what such a file says as a dictionary.
        seeds: how many repetitions of each cell, with seeds counted up from its own; what the file says unless given, or 1.
        only: values of some axes that the sweep is narrowed to, such as ``{"tcp": ["cubic", "bbr"]}``.
        changes: keys set in every scenario of the file: ``{"stack.minimum_rto": "200 ms"}``.
        out: a directory for the results, new, empty or a store that is to go on; none are written unless given.
        jobs: how many runs at once; as many as there are cores unless given.
        backend: what carries out the runs, a name of ``sojourn.backends.BACKENDS`` or a backend; of a list each carries out all
            of them, and the backend is then the last of the result's axes.
        cluster: the address of a Dask scheduler whose workers make the runs, such as ``tcp://host:8786``; made here unless given.
        observer: what looks on meanwhile.

    Raises:
        InputError: the scenario, the backend, the cluster or the directory will not do.
        RunFailed: a run failed; the other runs' results are in ``out``, and in the error's ``result``.
    """
    wanted = campaign(scenario, seeds, only, changes)
    what = repr(str(scenario))
    if isinstance(scenario, Scenario | Mapping):
        what = f"<scenario {scenario.name if isinstance(scenario, Scenario) else scenario.get('name', '')}>"
    call = _call("run", what, seeds=seeds, only=only, changes=changes, out=out, backend=_given_backend(backend))
    settings = _Settings(out, jobs, backend, cluster, observer or Observer())
    return _carry_out(wanted, settings, call, None, only, changes)


def open(directory: str | Path) -> Store:  # noqa: A001, as sojourn.open it shadows nothing
    """Opens the results in a directory: frames, and SQL over them.

    Raises:
        InputError: there is no store there, or one of another schema.
        StoreFailed: its files cannot be read or written.
    """
    return Store(Path(directory))


def campaign(
    scenario: Scenario | str | Path | Mapping[str, Any],
    seeds: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Campaign:
    """The campaign of a scenario, or of a scenario file or what stands for one; not checked yet.

    Raises:
        InputError: the file will not do, or there is no such axis, value or key.
    """
    if isinstance(scenario, Scenario):
        if only or changes:
            raise InputError("only a scenario file has axes to choose from and takes changes")
        return Campaign.of_scenario(scenario, 1 if seeds is None else seeds)
    return Campaign.of_matrix(expand(scenario).only(labels_of(only)).with_changes(changes or {}), seeds)


def check_groups(wanted: Campaign, groups: Iterable[str]) -> None:
    """Checks that a cell of a campaign has each of some groups of flows.

    Raises:
        InputError: none has one.
    """
    known = dict.fromkeys(flow["group"] for cell in wanted.cells() for flow in cell.specification["flows"])
    for group in groups:
        if group not in known:
            raise InputError(f"{wanted.origin}: {names.unknown(names.GROUP, group, known)}")


def single_run(
    path: str | Path,
    seed: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    backend: str | Backend = backends.DEFAULT,
) -> Run:
    """The one run of a scenario file, or of the cell of its sweep that ``only`` leaves; with the file's seed unless given.

    Raises:
        InputError: the file will not do, or it holds several cells; there is no such axis, value, key or backend.
    """
    wanted = campaign(path, 1, only, {**(changes or {}), **({} if seed is None else {"seed": seed})})
    if wanted.size > 1:
        axes = ", ".join(wanted.axes)
        raise InputError(f"{path}: {wanted.size} cells; choose one with --only (axes: {axes})")
    return campaigns.plan(wanted, backends.named(backend)).cells[0].run()


def kept(planned: Plan, directory: str | Path) -> tuple[int, Mapping[Identity, int]]:
    """How many of a campaign's runs have results in a directory, which need not be there, and how many are stale.

    A stale result is of the same run and backend, but of another build of it; the number of runs of each build is returned.

    Raises:
        InputError: the directory is no store, or one of another schema.
        StoreFailed: its files cannot be read.
    """
    if not Path(directory).exists():
        return 0, {}
    with open(directory) as store:
        return store.count(planned.run_keys()), campaigns.stale(planned, store)


@dataclass(frozen=True)
class Reproduction:
    """A study's results, its published values beside them, and what they say of its claims."""

    study: Study
    result: Result
    comparison: Sequence[Compared]
    #: Claims with a cell that has no run are left out.
    judged: Sequence[Judged]

    @property
    def cells(self) -> pl.DataFrame:
        """The comparison as a frame: study, table, axes, metric, published, measured, ci_low, ci_high, agrees.

        Of several backends it has the column ``backend`` besides.
        """
        return cells.frame(self.study, self.comparison)

    @property
    def claims(self) -> pl.DataFrame:
        """The verdicts as a frame: id, claim, source, verdict, held, seeds, evidence; of several backends also backend."""
        return verdicts.frame(self.judged)


def reproduce(
    study: str | Path | Study,
    seeds: int | None = None,
    *,
    reading: str | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend | Sequence[str | Backend] = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Reproduction:
    """Runs a study, or the part of it that ``only`` selects, such as ``{"queue": ["pie", "codel"], "load": "HC"}``.

    A study is given by its name, by the path of one's own, or as one that ``check_study`` has found sound. ``reading`` is one of
    its readings, such as ``"as-inferred"``; without it the study is run as loaded. ``changes`` sets keys of its scenarios, to see
    what an assumption is worth: ``{"stack.minimum_rto": "200 ms"}``. The other arguments are those of ``run``; ``out`` also gets
    ``cells.csv`` and, of a study with claims, ``claims.csv``.

    Raises:
        InputError: there is no such study, reading, axis or value, or the backend, the cluster or the directory will not do.
        RunFailed: a run failed; the other runs' results are in ``out``.
    """
    if not isinstance(study, Study):
        study = library.load(str(study))
        check_study(study)
    name = repr(study.origin.called)
    if reading is not None:
        study = study.under(reading)
    call = _call(
        "reproduce", name, seeds=seeds, reading=reading, only=only, changes=changes, out=out, backend=_given_backend(backend)
    )
    settings = _Settings(out, jobs, backend, cluster, observer or Observer())
    result = _carry_out(study_campaign(study, seeds, only, changes), settings, call, study, only, changes)
    return compare(study, result, None if out is None else Path(out))


def study_campaign(
    study: Study,
    seeds: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Campaign:
    """The campaign of a study; not checked yet.

    Raises:
        InputError: there is no such axis, value or key.
    """
    return Campaign.of_matrix(study.part(labels_of(only), changes), seeds)


def _call(name: str, what: str, **arguments: object) -> str:
    """A call as it is written, without what was not given."""
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in arguments.items() if value is not None}
    given = (f"{key}={value!r}" for key, value in plain.items())
    return f"sojourn.{name}({', '.join([what, *given])})"


def _given_backend(backend: str | Backend | Sequence[str | Backend]) -> str | list[str] | None:
    if isinstance(backend, Sequence) and not isinstance(backend, str):
        return [each if isinstance(each, str) else each.identity.name for each in backend]
    name = backend if isinstance(backend, str) else backend.identity.name
    return None if name == backends.DEFAULT else name


@dataclass(frozen=True)
class _Settings:
    """How a campaign is to be carried out."""

    out: str | Path | None
    jobs: int | None
    backend: str | Backend | Sequence[str | Backend]
    cluster: str | None
    observer: Observer


def _carry_out(
    wanted: Campaign,
    settings: _Settings,
    call: str,
    study: Study | None,
    only: Mapping[str, str | Iterable[str]] | None,
    changes: Mapping[str, Any] | None,
) -> Result:
    observer, carriers = settings.observer, backends.several(settings.backend)
    with observer.checking(wanted.size) as checked:
        planned = campaigns.plan(wanted, carriers, checked)
    for line in planned.warnings:
        observer.notify(line)
    command = observer.command or call
    order = wanted.order if len(carriers) == 1 else {**wanted.order, BACKEND: [each.name for each in planned.backends]}
    made_by = [
        Provenance(
            command=command,
            version=_engine.version(),
            backend=backend,
            study=None if study is None else study.origin.place,
            reading=None if study is None else study.reading,
            only=labels_of(only),
            changes=changes or {},
            name=wanted.name,
            description=wanted.description,
            axes=order,
        )
        for backend in planned.backends
    ]
    cluster = None if settings.cluster is None else Cluster(settings.cluster, observer.notify)
    with ExitStack() as until_ended:
        out, kept_until = settings.out, ExitStack()
        if out is None and len(planned) > MOST_IN_MEMORY:
            until_ended.push(kept_until)
            out = Path(kept_until.enter_context(TemporaryDirectory(prefix="sojourn-"))) / "results"
        if cluster is not None:
            until_ended.enter_context(closing(cluster))
        store = until_ended.enter_context(closing(_store(out, made_by, observer)))
        elsewhere = None if cluster is None else cluster.execute
        outcome = campaigns.run(planned, carriers, store, jobs=settings.jobs, elsewhere=elsewhere, observer=observer)
        found = complete(outcome)
        # What is in a temporary directory goes with the result, not with the campaign.
        weakref.finalize(found, kept_until.pop_all().close)
    found.command, found.order, found.html, found.text = command, order, _html, _text
    return found


def _text(result: Result) -> str:
    # Loaded here, because only the Python prompt needs it.
    from sojourn.analysis import summary

    return summary.text(result)


def _html(result: Result) -> str:
    # Loaded here, because only notebooks need it.
    from sojourn import notebook

    return notebook.html(result)


def _store(out: str | Path | None, made_by: Iterable[Provenance], observer: Observer) -> RunStore:
    """What keeps results in a directory, or in memory if there is none."""
    if out is None:
        return Memory()
    store = Store(Path(out), create=True, notify=observer.notify)
    for each in made_by:
        store.note(each)
    return store


def compare(study: Study, result: Result, directory: Path | None = None) -> Reproduction:
    """Puts a study's published values beside results of its runs, and judges its claims by them; of several backends by each.

    A directory, if given, gets ``cells.csv`` and, if there are claims, ``claims.csv``.

    Raises:
        InputError: the query of a claim cannot be answered.
    """
    published, claims = library.published_values(study), library.claims(study)
    compared: list[Compared] = []
    judged: list[Judged] = []
    for backend, found in by_backend(result):
        compared += (replace(each, backend=backend) for each in cells.compare(published, found, list(study.axes)))
        judged += (replace(each, backend=backend) for each in verdicts.judge(study, claims, found))
    if directory is not None:
        cells.write(directory / "cells.csv", cells.frame(study, compared))
    reproduction = Reproduction(study, result, compared, judged)
    if claims and directory is not None:
        verdicts.write(directory / "claims.csv", reproduction.judged)
    return reproduction


def check_study(study: Study) -> list[Claim]:
    """Checks that each published value of a study has a run, each claim a query that can be asked, and each figure an entry.

    Returns the claims.

    Raises:
        InputError: one does not.
    """
    library.published_values(study)
    claims = library.claims(study)
    verdicts.bind(study, claims)
    if study.figures:
        # Loaded here, because it takes long, and what only runs something does not need it.
        from sojourn import figures

        available = figures.available()
        for figure in study.figures:
            if figure.figure not in available:
                unknown = names.unknown("figure", figure.figure, available)
                raise InputError(f"study {study.name}: figures: {figure.number}: {unknown}")
    return claims


def judge(study: Study, directory: str | Path) -> list[Judged]:
    """Judges a study's claims by its runs in a directory, as many seeds as are there, and writes ``claims.csv``.

    The runs are those of the reading that was reproduced last.

    Raises:
        InputError: the directory is no store or has no run of the study, or the query of a claim cannot be answered.
        StoreFailed: its files cannot be read or written.
    """
    claims = check_study(study)
    if not claims:
        raise InputError(f"study {study.name}: no claims")
    with open(directory) as store:
        judged = list(compare(study, kept_of_study(as_made(study, store), store)).judged)
    verdicts.write(Path(directory) / "claims.csv", judged)
    return judged


def readings(store: Store, study: Study) -> list[str]:
    """The readings of a study that commands reproduced in a store, the latest last."""
    made = [entry.reading or AS_STATED for entry in store.provenance if entry.reproduces(study.origin.place, study.name)]
    return list(reversed(dict.fromkeys(reversed(made))))


def as_made(study: Study, store: Store) -> Study:
    """A study under the reading that was reproduced last in a store; as stated if none was.

    Raises:
        InputError: the study no longer has it.
    """
    made = readings(store, study)
    return study.under(made[-1]) if made else study


def by_reading(study: Study, store: Store) -> Mapping[str, Reproduction]:
    """The comparison and the verdicts of a store's runs of a study, by the name of each reading that was reproduced there.

    Raises:
        InputError: there is no run, or a command's cells, settings or reading are no longer the study's.
        StoreFailed: the store's files cannot be read or written.
    """
    made = [study.under(reading) for reading in readings(store, study)]
    made.sort(key=lambda read: [AS_STATED, *study.readings].index(read.reading))
    return {read.reading: compare(read, kept_of_study(read, store)) for read in made}


def kept_of_study(study: Study, store: Store) -> Result:
    """The results of the runs that commands reproducing a study under its reading left in a store, as many seeds as are there.

    Of a cell that several of them made, with other settings, those of the latest. Where they are of several backends, the backend
    is the last of the axes; any build of it counts.

    Raises:
        InputError: there is none, or a command's cells or settings are no longer the study's.
        StoreFailed: the store's files cannot be read or written.
    """
    store.consolidate()
    seeds = store.sql("SELECT DISTINCT seed FROM runs")["seed"].to_list()
    made = [
        entry
        for entry in store.provenance
        if entry.reproduces(study.origin.place, study.name) and (entry.reading or AS_STATED) == study.reading
    ]
    known = dict.fromkeys(entry.backend.name for entry in made) or dict.fromkeys(each.name for each in store.identities)
    keys_of: dict[tuple[str, ...], list[str]] = {}
    for backend in known:
        of_backend = [entry for entry in made if entry.backend.name == backend]
        wanted = [study_campaign(study, 1, entry.only, entry.changes) for entry in of_backend] or [study_campaign(study, 1)]
        for each in wanted:
            for cell in each.cells():
                if keys := store.keys_of(requests(text(cell.specification), seeds), backend):
                    keys_of[backend, *cell.axes.values()] = keys
    if not keys_of:
        make = f"sojourn reproduce {shlex.quote(study.origin.called)}"
        raise InputError(f"{store.directory}: no runs of study {study.name}; make them with {make}")
    found = store.result(list(study.axes), lambda: chain.from_iterable(keys_of.values()))
    return found if len({backend for backend, *_ in keys_of}) == 1 else beside(found)


def complete(outcome: CampaignOutcome) -> Result:
    """The result of a campaign of which every run must have succeeded.

    Raises:
        RunFailed: the first failure.
    """
    if outcome.failures:
        failed = first_failure(outcome.failures)
        failed.result = outcome.result if outcome.finished else None
        raise failed
    if not outcome.finished:
        raise InputError("nothing to run")
    return outcome.result


def first_failure(failures: Sequence[Outcome]) -> RunFailed:
    """The first failed run's error, saying which run it was."""
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return RunFailed(f"{failures[0].failure}{more}")


def labels_of(only: Mapping[str, str | Iterable[str]] | None) -> dict[str, list[str]]:
    """A selection of cells with a list of labels for each axis; of all cells nothing."""
    return {axis: [labels] if isinstance(labels, str) else list(labels) for axis, labels in (only or {}).items()}
