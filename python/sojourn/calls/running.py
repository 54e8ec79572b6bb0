"""Functions that make runs, or get those that were made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import polars as pl

from sojourn import api, backends
from sojourn.analysis import result
from sojourn.backends.backend import Backend
from sojourn.calls import progress
from sojourn.calls.results import Result, Store
from sojourn.campaign import Observer
from sojourn.errors import InputError, RunFailed
from sojourn.scenario import Scenario
from sojourn.sweeps.matrix import Matrix

P = ParamSpec("P")
T = TypeVar("T")

#: In a clone ``examples`` is a link to the top-level folder; an installed package holds the files themselves.
EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class Reproduction(api.Reproduction):
    """A study's results, its published values beside them, and what they say of its claims."""

    result: Result

    def report(self, path: str | Path) -> Path:
        """Writes the results, the published values and the claims as one HTML file, and returns where it is.

        Raises:
            InputError: the file cannot be there.
        """
        from sojourn import report  # what draws loads slowly

        return report.write_result(self.result, path, self.study)


def _looked_at(options: Any) -> None:
    """In a notebook progress is shown, unless the caller looks on otherwise."""
    if options.get("observer") is None:
        options["observer"] = progress.observer()


def _shown(make: Callable[P, result.Result]) -> Callable[P, Result]:
    """The function with results that have methods."""

    @wraps(make)
    def made(*arguments: P.args, **options: P.kwargs) -> Result:
        _looked_at(options)
        try:
            return Result(make(*arguments, **options))
        except RunFailed as error:
            error.result = None if error.result is None else Result(error.result)
            raise

    return made


def _shown_study(make: Callable[P, api.Reproduction]) -> Callable[P, Reproduction]:
    @wraps(make)
    def made(*arguments: P.args, **options: P.kwargs) -> Reproduction:
        _looked_at(options)
        found = make(*arguments, **options)
        return Reproduction(found.study, Result(found.result), found.comparison, found.judged)

    return made


def _watched(make: Callable[P, T]) -> Callable[P, T]:
    """The function with its progress shown in a notebook."""

    @wraps(make)
    def made(*arguments: P.args, **options: P.kwargs) -> T:
        _looked_at(options)
        return make(*arguments, **options)

    return made


run = _shown(api.run)
reproduce = _shown_study(api.reproduce)
evaluate, search, find_range = _watched(api.evaluate), _watched(api.search), _watched(api.find_range)


def open(directory: str | Path) -> Store:  # noqa: A001, as sojourn.open it shadows nothing
    """Opens the results in a directory: frames, SQL over them, figures, comparisons, reports.

    Raises:
        InputError: there is no store there, or one of another schema.
        StoreFailed: its files cannot be read or written.
    """
    return Store(Path(directory))


def demo(out: str | Path | None = None) -> Result:
    """Runs the scenario of ``sojourn demo``: a call and two downloads share a line, with DropTail and with CoDel.

    Raises:
        InputError: the directory ``out`` will not do.
    """
    return run(EXAMPLES / "demo.toml", out=out)


def export(
    scenario: Scenario | Matrix | str | Path | Mapping[str, Any],
    form: str,
    out: str | Path | None = None,
    *,
    link: str | None = None,
    seed: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    backend: str | Backend = backends.DEFAULT,
) -> pl.DataFrame | Path:
    """Makes one run again and writes it for other tools.

    Args:
        scenario: a scenario, or one cell of a sweep: that which ``only`` leaves.
        form: ``"pcapng"``, the packets of a link for Wireshark; ``"tcp-info"``, the states of connections as Linux's ``tcp_info``
            has them, in CSV; or ``"flent"``, series for Flent.
        out: the file; of tcp-info a new or empty directory, or nothing for a frame instead.
        link: with pcapng the link, such as ``"left->right"``; the first with a queue unless given.
        seed: that of the run; the file's unless given.
        only: values of axes that choose one cell.
        changes: keys set in the scenario.
        backend: what carries out the run.

    Returns:
        Where it was written; of tcp-info without ``out`` the frame, a row a connection and moment.

    Raises:
        InputError: the scenario is several, it has nothing to export, or the file cannot be there.
    """
    from sojourn import exports, names

    names.check("format", form, ("pcapng", "tcp-info", "flent"), InputError)
    if link is not None and form != "pcapng":
        raise InputError(f'link "{link}": is for pcapng')
    made = api.single_run(scenario, seed, only, changes, backend)
    if out is None:
        if form != "tcp-info":
            raise InputError(f"{form}: give out, the file to write")
        return exports.tcp_info(made, backend)
    told, path = f"sojourn.export(..., {form!r})", Path(out)
    match form:
        case "pcapng":
            exports.write_pcapng(made, path, link, told, backend)
        case "tcp-info":
            exports.write_tcp_info(made, path, backend)
        case _:
            exports.write_flent(made, path, made.label, told, backend)
    return path


def find_atlas(
    landmarks: Iterable[str] = (),
    tcps: Iterable[str] = (),
    queues: Iterable[str] = (),
    besides: Iterable[str] = (),
    *,
    whole: bool = False,
    seeds: int | None = None,
    out: str | Path = "results/atlas",
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> pl.DataFrame:
    """Asks which congestion controls and queue disciplines get along, pair by pair, as ``sojourn atlas`` does.

    Args:
        landmarks: names of landmarks, such as ``"home"``; all of them unless given.
        tcps: congestion controls; the twelve of the atlas unless given.
        queues: queue disciplines; the twelve of the atlas unless given.
        besides: ``"alone"`` or ``"cubic"``; both unless given.
        whole: whether to take all algorithms of the catalogue.
        seeds: seeds of each cell.
        out: the directory that keeps the results; runs that it has are not made again.
        jobs: how many runs at once; as many as there are cores unless given.
        backend: what carries out the runs.
        cluster: the address of a Dask scheduler whose workers make the runs.
        observer: what looks on meanwhile.

    Returns:
        A row a landmark, pair and verdict that was asked (docs/atlas.md).

    Raises:
        InputError: there is no such landmark or algorithm, or the directory will not do.
        RunFailed: a run failed.
    """
    from sojourn.atlas import NOT_ASKED

    planned = api.plan_atlas(landmarks, tcps, queues, besides, whole=whole, seeds=seeds, backend=backend)
    looking = observer or progress.observer()
    found = api.survey(planned, out=out, jobs=jobs, backend=backend, cluster=cluster, observer=looking)
    return pl.concat([said for _, said in found]).filter(pl.col("state") != NOT_ASKED)
