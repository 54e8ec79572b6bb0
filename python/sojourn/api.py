"""What the command line and notebooks call alike."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import scenario as scenarios
from sojourn.backends import Backend
from sojourn.backends.simulator import Simulator
from sojourn.campaign import Cells, Conducted, Outcome, Plan, conduct, plan
from sojourn.errors import InputError, SojournError
from sojourn.results import Result
from sojourn.runs import Cell
from sojourn.scenario import Scenario
from sojourn.store import Keeper, Memory, Store
from sojourn.study import cells, library
from sojourn.study.cells import Compared
from sojourn.study.design import Study


def load(path: str | Path) -> Scenario:
    """Reads and checks a scenario file.

    Raises:
        InputError: the file cannot be read or is no scenario; one line that names file and key or line.
    """
    return scenarios.load(path)


def run(
    scenario: Scenario | str | Path,
    seeds: int = 1,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: Backend | None = None,
) -> Result:
    """Runs a scenario with one or more seeds, counted up from its own.

    Args:
        scenario: a scenario or the path of a scenario file.
        seeds: how many repetitions.
        out: a directory for the results, new, empty or a store that is to go on; none are written unless given.
        jobs: how many runs at once; as many as there are cores unless given.
        backend: what carries out the runs; the simulator unless given.

    Raises:
        InputError: the scenario or the directory will not do.
        RunFailed: a run failed; the other runs' results are in ``out``.
    """
    backend = backend or Simulator()
    planned = scenario_plan(scenario, seeds, backend)
    with closing(keeper(out)) as kept:
        return complete(conduct(planned, backend, kept, jobs))


def open(directory: str | Path) -> Store:  # noqa: A001, as sojourn.open it shadows nothing
    """Opens the results in a directory: frames, and SQL over them.

    Raises:
        InputError: there is no store there, or one of another schema.
        StoreFailed: its files cannot be read or written.
    """
    return Store(Path(directory))


def scenario_plan(scenario: Scenario | str | Path, seeds: int, backend: Backend) -> Plan:
    """The runs of one scenario, checked; their only axis is its name."""
    checked = scenario if isinstance(scenario, Scenario) else load(scenario)
    cells = Cells(checked.name, ["scenario"], lambda: [Cell({"scenario": checked.name}, checked)], _positive("seeds", seeds))
    return plan(cells, backend, f'scenario "{checked.name}"' if isinstance(scenario, Scenario) else str(scenario))


@dataclass(frozen=True)
class Reproduction:
    """A study's results, and its published figures beside them."""

    study: Study
    result: Result
    comparison: Sequence[Compared]

    @property
    def cells(self) -> pl.DataFrame:
        """The comparison as a frame: study, table, axes, metric, published, measured, ci_low, ci_high, agrees."""
        return cells.frame(self.study, self.comparison)


def reproduce(
    study: str,
    seeds: int = 1,
    *,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: Backend | None = None,
) -> Reproduction:
    """Runs a study, or the part of it that ``only`` selects, such as ``{"queue": ["pie", "codel"], "load": "HC"}``.

    ``changes`` sets keys of its scenarios, to see what an assumption is worth: ``{"stack.minimum_rto": "200 ms"}``. The other
    arguments are those of ``run``; ``out`` also gets ``cells.csv``.

    Raises:
        InputError: there is no such study, axis or value, or the directory will not do.
        RunFailed: a run failed; the other runs' results are in ``out``.
    """
    loaded = library.load(study)
    backend = backend or Simulator()
    planned = study_plan(loaded, only or {}, changes or {}, seeds, backend)
    with closing(keeper(out)) as kept:
        result = complete(conduct(planned, backend, kept, jobs))
    return compare(loaded, result, None if out is None else Path(out))


def study_plan(
    study: Study, only: Mapping[str, str | Iterable[str]], changes: Mapping[str, Any], seeds: int, backend: Backend
) -> Plan:
    """The runs of a study, or of the part that ``only`` selects, with ``changes`` to their scenarios, checked."""
    chosen = {axis: [values] if isinstance(values, str) else list(values) for axis, values in only.items()}
    selected = study.selection(chosen)
    cells = Cells(study.name, list(study.axes), lambda: study.cells(selected, changes), _positive("seeds", seeds))
    return plan(cells, backend, f"study {study.name}")


def compare(study: Study, result: Result, directory: Path | None = None) -> Reproduction:
    """Puts a study's published figures beside results of its runs, and into ``cells.csv`` of a directory if given."""
    reproduction = Reproduction(study, result, cells.compare(library.figures(study), result, list(study.axes)))
    if directory is not None:
        cells.write(directory / "cells.csv", reproduction.cells)
    return reproduction


def complete(conducted: Conducted) -> Result:
    """The result of a campaign of which every run must have succeeded.

    Raises:
        SojournError: the first failure.
    """
    if conducted.failures:
        raise first_failure(conducted.failures)
    if not conducted.finished:
        raise InputError("there was nothing to run")
    return conducted.result


def first_failure(failures: Sequence[Outcome]) -> SojournError:
    """The first failed run's error, saying which run it was."""
    outcome = failures[0]
    if not isinstance(outcome.result, SojournError):
        raise TypeError("the run did not fail")
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return type(outcome.result)(f"run {outcome.run.label}: {outcome.result}{more}")


def keeper(out: str | Path | None) -> Keeper:
    """What keeps results in a directory, or in memory if there is none."""
    return Memory() if out is None else Store(Path(out), create=True)


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise InputError(f"{name} must be 1 or more, not {value}")
    return value
