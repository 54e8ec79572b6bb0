"""Comparing results: two cells or groups of flows, two parts of a sweep, or two campaigns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn import names
from sojourn.analysis import comparison, findings, repetition, side_by_side
from sojourn.analysis.comparison import ComparedGroups, ComparedMetric, Results
from sojourn.analysis.findings import Finding
from sojourn.analysis.side_by_side import SideBySide, Value
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.names import GROUP
from sojourn.runs import called
from sojourn.statistics import Estimate

#: A cell, or several, by values of axes: ``{"tcp": "cubic", "group": "call"}``, or ``"tcp=cubic,group=call"``.
Side = str | Mapping[str, str]


@dataclass(frozen=True)
class TwoCells:
    """Two cells compared: their runs, and groups of their flows."""

    cells: Sequence[ComparedMetric]
    groups: Sequence[ComparedGroups]
    #: Whether the seeds of the first cell change nothing, and those of the second.
    repeated: tuple[bool, bool]
    #: The runs of each, what the two are called beside each other, and the metrics that were asked for.
    runs: tuple[pl.LazyFrame, pl.LazyFrame]
    called: tuple[str, str]
    metrics: Sequence[str] | None

    def findings(self) -> list[Finding]:
        """What the second cell is instead of the first, in sentences; nothing of groups of flows alone."""
        return findings.between(*self.runs, (), self.called, self.metrics) if self.cells else []


@dataclass(frozen=True)
class ManyCells:
    """Many cells of one side beside the same cells of another."""

    found: SideBySide
    #: The runs of each side.
    runs: tuple[pl.LazyFrame, pl.LazyFrame]
    metrics: Sequence[str] | None

    def findings(self, called: tuple[str, str]) -> list[Finding]:
        """What the second side is instead of the first, in sentences that call the sides so."""
        return findings.between(*self.runs, self.found.axes, called, self.metrics)


def compare_within(
    results: Results,
    first: Side,
    second: Side,
    metrics: Sequence[str] = (),
    groups: Sequence[str] | None = None,
) -> TwoCells | ManyCells:
    """Compares two cells of some results, or of all cells those with the one with those with the other.

    Args:
        results: a store, or the result of a campaign.
        first: values of axes that one cell has, or several. A value of ``group`` in both compares these groups of flows alone.
        second: values of the same axes.
        metrics: the metrics that are compared; the main ones unless given.
        groups: the groups of flows that are compared; runs and all groups unless given.

    Raises:
        InputError: there is no such axis, value, metric or group, or the cells have no seed in common.
    """
    runs = results.scan("runs")
    cells_there = comparison.cells_of(runs)
    axes = comparison.axes_of(cells_there)
    one, other = (_condition(side, axes) for side in (first, second))
    names.check("metric", metrics, METRICS, InputError)
    groups_alone = groups is not None or GROUP in one or GROUP in other
    if not groups_alone and one.keys() == other.keys() and any(comparison.several(cells_there, each) for each in (one, other)):
        a, b = (comparison.part(runs, each) for each in (one, other))
        return _many(a, b, [axis for axis in axes if axis not in one], metrics or None)
    of_runs = [name for name in metrics if METRICS[name].of_run]
    of_groups = [name for name in metrics if groups_alone or METRICS[name].of_group]
    of_one, of_other = (
        comparison.cell(runs, {axis: value for axis, value in told.items() if axis != GROUP}) for told in (one, other)
    )
    repeated = repetition.is_repeated(of_one), repetition.is_repeated(of_other)
    cells: list[ComparedMetric] = []
    several: list[ComparedGroups] = []
    if not groups_alone and (of_runs or not metrics):
        cells = comparison.compare_cells(runs, one, other, of_runs or None)
    if groups_alone or of_groups or not metrics:
        several = comparison.compare_groups(
            results.scan("groups"),
            one,
            other,
            of_groups or None,
            groups,
            repeated=any(repeated),
            fair_share_mbps=comparison.fair_share(of_one),
        )
        # The only group of both cells would repeat what is shown of the cells.
        if cells and len(several) == 1 and len(of_runs) == len(metrics):
            several = []
    if not cells and not several:
        raise InputError(f"A and B have no group of flows in common; compare two with {GROUP}=NAME in each")
    return TwoCells(cells, several, repeated, (of_one, of_other), _apart(one, other), of_runs or None)


def compare_results(first: Results, second: Results, metrics: Sequence[str] | None = None) -> ManyCells:
    """Compares all cells that two campaigns have in common.

    Raises:
        InputError: there is no such metric, or no cell in common that both have run with the same seed.
    """
    runs = [results.scan("runs") for results in (first, second)]
    of_each = [comparison.axes_of(comparison.cells_of(each)) for each in runs]
    axes = list(dict.fromkeys(axis for of_one in of_each for axis in of_one))
    # An axis that one of them lacks is none of its cells'.
    a, b = (
        each.with_columns(pl.lit(None, pl.String()).alias(axis) for axis in axes if axis not in each.collect_schema())
        for each in runs
    )
    return _many(a, b, axes, metrics)


def _many(first: pl.LazyFrame, second: pl.LazyFrame, axes: Sequence[str], metrics: Sequence[str] | None) -> ManyCells:
    return ManyCells(side_by_side.compare(first, second, axes, metrics), (first, second), metrics)


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, str]:
    """What two cells are called beside each other: by the axes in which they differ."""
    differing = [axis for axis in one if other.get(axis) != one[axis]]
    if one.keys() != other.keys() or not differing:
        return "A", "B"
    first, second = (called({axis: cell[axis] for axis in differing}) for cell in (one, other))
    return first, second


def _condition(side: Side, axes: Sequence[str]) -> Mapping[str, str]:
    if isinstance(side, str):
        return comparison.condition(side, axes)
    for axis in side:
        names.check("axis", axis, [*axes, GROUP], InputError)
    return side


def compared_frame(compared: TwoCells | ManyCells) -> pl.DataFrame:
    """A comparison as a frame: a row a metric, of each group or of each cell.

    It has ``group`` (null for the runs) or the axes of the cells, ``metric``, ``title``, ``unit``, ``seeds``, the means ``a`` and
    ``b``, their ``difference`` with the ends of its 95 % interval, and what is ``allowed`` of a difference. Of two cells it has
    ``verdict`` (whether the difference is shown), ``better`` (whether B is), ``seeds_needed`` (how many would decide), ``p`` and
    ``harm``; of several whether each ``agrees``.
    """
    if isinstance(compared, ManyCells):
        found = compared.found
        rows = [
            {
                **dict(zip(found.axes, value.cell, strict=True)),
                **_of_metric(
                    value.metric.name, value.seeds, value.first.mean, value.second and value.second.mean, value.difference
                ),
                **{"allowed": value.allowed, "agrees": value.agrees},
            }
            for value in found.values
        ]
        return pl.DataFrame(rows, schema={**dict.fromkeys(found.axes, pl.String()), **_COLUMNS, **_OF_CELLS})
    entries = [(None, each) for each in compared.cells]
    every = [*entries, *((group.name, each) for group in compared.groups for each in group.metrics)]
    return pl.DataFrame([_of_two(group, each) for group, each in every], schema={GROUP: pl.String(), **_COLUMNS, **_OF_TWO})


def _of_cell(value: Value) -> dict[str, object]:
    second = None if value.second is None else value.second.mean
    told = _of_metric(value.metric.name, value.seeds, value.first.mean, second, value.difference)
    return {**told, "allowed": value.allowed, "agrees": value.agrees}


def _of_two(group: str | None, entry: ComparedMetric) -> dict[str, object]:
    compared, name = entry.comparison, entry.metric.name
    if compared is None:
        return {GROUP: group, **_of_metric(name, 0, None, None, None), **dict.fromkeys(_OF_TWO)}
    told = _of_metric(name, compared.pairs, compared.first, compared.second, compared.difference)
    verdict = None if entry.verdict is None else str(entry.verdict)
    judged = {"allowed": entry.allowed, "verdict": verdict, "better": entry.better, "seeds_needed": entry.seeds_needed}
    return {GROUP: group, **told, **judged, "p": compared.p, "harm": entry.harm}


def _of_metric(
    name: str, seeds: int, first: float | None, second: float | None, difference: Estimate | None
) -> dict[str, object]:
    mean, low, high = difference or (None, None, None)
    return {
        **{"metric": name, "title": METRICS[name].title, "unit": METRICS[name].unit, "seeds": seeds, "a": first, "b": second},
        **{"difference": mean, "difference_ci_low": low, "difference_ci_high": high},
    }


_NUMBERS = ("a", "b", "difference", "difference_ci_low", "difference_ci_high")
_COLUMNS: dict[str, pl.DataType] = {
    **dict.fromkeys(("metric", "title", "unit"), pl.String()),
    **{"seeds": pl.Int64()},
    **dict.fromkeys(_NUMBERS, pl.Float64()),
}
_OF_TWO: dict[str, pl.DataType] = {
    **{"allowed": pl.Float64(), "verdict": pl.String(), "better": pl.Boolean(), "seeds_needed": pl.Int64()},
    **dict.fromkeys(("p", "harm"), pl.Float64()),
}
_OF_CELLS: dict[str, pl.DataType] = {"allowed": pl.Float64(), "agrees": pl.Boolean()}
