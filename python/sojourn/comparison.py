"""Two cells of a campaign compared over their common seeds."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from sojourn import names, repetition
from sojourn.errors import InputError
from sojourn.metrics import METRICS, Metric
from sojourn.statistics import Comparison, Estimate, compare

#: What the columns of the second cell end in, beside those of the first.
OTHER = " of the second"


@dataclass(frozen=True)
class ComparedMetric:
    """One metric of two cells; nothing to compare if it could not be measured in both with any one seed."""

    metric: Metric
    comparison: Comparison | None


#: What tells runs of several backends apart, as an axis does.
BACKEND = "backend"


def axes_of(runs: pl.DataFrame) -> list[str]:
    """The axes that a frame of runs has, which are the columns between its key and its seed; of several backends that too."""
    axes = runs.columns[1 : runs.columns.index("seed")]
    return [*axes, BACKEND] if BACKEND in runs.columns and runs[BACKEND].n_unique() > 1 else axes


def condition(text: str, axes: Iterable[str]) -> dict[str, str]:
    """Reads ``tcp=cubic,queue=codel``; a comma ends a value only where another axis follows.

    Raises:
        InputError: no value, or no such axis.
    """
    known = list(axes)
    following = "|".join(re.escape(axis) for axis in sorted(known, key=len, reverse=True))
    values: dict[str, str] = {}
    for part in re.split(rf",\s*(?=(?:{following})\s*=)", text):
        axis, equals, value = part.partition("=")
        if not equals:
            raise InputError(f'{text}: write AXIS=VALUE, separated by commas, such as "{known[0]}=..."')
        if axis.strip() not in known:
            raise InputError(f"{text}: {names.unknown('axis', axis.strip(), known)}")
        values[axis.strip()] = value.strip()
    return values


def cell(runs: pl.DataFrame, values: Mapping[str, str]) -> pl.DataFrame:
    """The runs of the one cell that has the given values of some axes.

    Raises:
        InputError: there is none, or more than one.
    """
    text = ",".join(f"{axis}={value}" for axis, value in values.items())
    chosen = runs
    for axis, value in values.items():
        there = chosen[axis].drop_nulls().unique(maintain_order=True).to_list()
        if value not in there:
            raise InputError(f"{text}: {names.unknown(f'value of axis {axis}', value, map(str, there))}")
        chosen = chosen.filter(pl.col(axis) == value)
    for axis in axes_of(runs):
        there = chosen[axis].unique(maintain_order=True).to_list()
        if len(there) > 1:
            raise InputError(f"{text}: several cells match; choose a value of {axis} ({', '.join(map(str, there))})")
    return chosen


def compare_cells(
    runs: pl.DataFrame, first: Mapping[str, str], second: Mapping[str, str], metrics: Iterable[str] | None = None
) -> list[ComparedMetric]:
    """Compares two cells of a frame of runs, metric by metric, pairing the runs that have the same seed.

    Args:
        runs: runs of a campaign, as its results have them.
        first: values of axes that tell the first cell from all others.
        second: the same of the second.
        metrics: names of metrics; all of them unless given.

    Raises:
        InputError: there is no such cell or metric, or the cells have no seed in common.
    """
    known = [name for name in METRICS if name in runs.columns]
    chosen = known if metrics is None else list(metrics)
    for name in chosen:
        if name not in known:
            raise InputError(names.unknown("metric", name, known))
    one, other = cell(runs, first), cell(runs, second)
    repeated = any(repetition.is_repeated(each) for each in (one, other))
    pairs = one.join(other, on="seed", suffix=OTHER).sort("seed")
    if not pairs.height:
        raise InputError("the two cells have no common seed")
    return [
        ComparedMetric(METRICS[name], _compared(pairs.select(name, f"{name}{OTHER}").drop_nulls(), repeated)) for name in chosen
    ]


def _compared(pairs: pl.DataFrame, repeated: bool) -> Comparison | None:
    """The pairs compared; only their means if the seeds of either cell change nothing."""
    if not pairs.height:
        return None
    first, second = (column.to_list() for column in pairs.get_columns())
    found = compare(first, second)
    return found._replace(difference=Estimate(found.difference.mean, None, None), p=None) if repeated else found
