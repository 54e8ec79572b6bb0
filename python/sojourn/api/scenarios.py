"""Scenario files, and the campaigns and runs that they stand for."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sojourn import backends, names
from sojourn import campaign as campaigns
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign
from sojourn.errors import InputError
from sojourn.runs import Run
from sojourn.scenario import Scenario
from sojourn.sweeps import file
from sojourn.sweeps.matrix import Matrix


def load(path: str | Path | Mapping[str, Any]) -> Scenario:
    """Reads and checks a scenario file, or what such a file says as a dictionary.

    Raises:
        InputError: the file cannot be read, is no scenario, or is many; one line that names file and key or line.
    """
    matrix = expand(path)
    if matrix.sweep.axes:
        raise InputError(f"{matrix.origin}: sweep: the file has {matrix.size} scenarios; read it with sojourn.expand")
    (cell,) = matrix.cells()
    return cell.scenario


def expand(path: str | Path | Mapping[str, Any]) -> Matrix:
    """Reads a scenario file that may have a sweep; ``cells()`` of what it returns makes its cells one by one.

    A dictionary stands for the file that has these tables and keys.

    Raises:
        InputError: the file cannot be read, or its sweep makes no sense; one line that names file and key or line.
    """
    return file.from_data(path, "the scenario") if isinstance(path, Mapping) else file.load(path)


def sweep(base: Matrix | str | Path | Mapping[str, Any], axes: Mapping[str, Any]) -> Matrix:
    """A scenario with axes: what ``sojourn.run`` makes a matrix of runs of.

    Args:
        base: the path of a scenario file, or what such a file says as a dictionary; if it has a sweep, the axes are added to it.
        axes: the axes by their names, each as a file writes it: values of the key that is its name, ``{"duration": ["10 s",
            "20 s"]}``; a key and its values, ``{"queue": {"key": "bottleneck.both.queue", "values": ["codel", "cake"]}}``; or
            alternatives, each with keys of its own, ``{"line": {"as it is": {}, "CAKE": {"bottleneck.both.queue": "cake"}}}``.
            A list for an axis of the file replaces its values. A key of several words is called by its last.

    Raises:
        InputError: the file, an axis, its key or a value will not do; one line that says which.
    """
    return (base if isinstance(base, Matrix) else expand(base)).varied(axes)


def campaign(
    scenario: Scenario | Matrix | str | Path | Mapping[str, Any],
    seeds: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Campaign:
    """The campaign of a scenario, of a sweep, or of a scenario file or what stands for one; not checked yet."""
    if isinstance(scenario, Scenario):
        if only or changes:
            raise InputError("only a scenario file has axes to choose from and takes changes")
        return Campaign.of_scenario(scenario, 1 if seeds is None else seeds)
    matrix = scenario if isinstance(scenario, Matrix) else expand(scenario)
    return Campaign.of_matrix(matrix.only(labels_of(only)).with_changes(changes or {}), seeds)


def check_groups(wanted: Campaign, groups: Iterable[str]) -> None:
    """Checks that a cell of a campaign has each of some groups of flows."""
    known = dict.fromkeys(flow["group"] for cell in wanted.cells() for flow in cell.specification["flows"])
    names.check(names.GROUP, groups, known, InputError, f"{wanted.origin}: ")


def single_run(
    scenario: Scenario | Matrix | str | Path | Mapping[str, Any],
    seed: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    backend: str | Backend = backends.DEFAULT,
) -> Run:
    """The one run of a scenario, or of the cell of a sweep that ``only`` leaves; with the scenario's seed unless given."""
    wanted = campaign(scenario, 1, only, {**(changes or {}), **({} if seed is None else {"seed": seed})})
    if wanted.size > 1:
        axes = ", ".join(wanted.axes)
        raise InputError(f"{wanted.origin}: {wanted.size} cells; choose one with --only (axes: {axes})")
    return campaigns.plan(wanted, backends.named(backend)).cells[0].run()


def labels_of(only: Mapping[str, str | Iterable[str]] | None) -> dict[str, list[str]]:
    """A selection of cells with a list of labels for each axis; of all cells nothing."""
    return {axis: [labels] if isinstance(labels, str) else list(labels) for axis, labels in (only or {}).items()}
