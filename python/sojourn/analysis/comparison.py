"""Two cells of a campaign, or groups of flows in them, compared over their common seeds."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from sojourn import names
from sojourn.analysis import difference, repetition
from sojourn.analysis.agreement import RELATIVE, tolerance
from sojourn.analysis.difference import Verdict
from sojourn.errors import InputError
from sojourn.metrics import METRICS, Metric, formulas, of_group
from sojourn.metrics.metric import Better
from sojourn.names import BACKEND, GROUP
from sojourn.runs import called
from sojourn.statistics import Comparison, Estimate, compare

#: What the columns of the second cell, or of the second side, end in, beside those of the first.
OTHER = " of the second"


class Results(Protocol):
    """A store, or the result of a campaign."""

    def scan(self, name: str) -> pl.LazyFrame:
        """One of the frames ``runs``, ``groups``, ``flows``, ``queues`` and ``series``."""
        ...


@dataclass(frozen=True)
class ComparedMetric:
    """One metric of two cells; nothing to compare if it could not be measured in both with any one seed."""

    metric: Metric
    comparison: Comparison | None
    #: How far the second may be from the first, to count as equal.
    allowed: float = 0.0

    @property
    def verdict(self) -> Verdict | None:
        """Whether the two differ; none where there is nothing to compare."""
        return None if self.comparison is None else difference.judge(self.comparison.difference, self.allowed)

    @property
    def seeds_needed(self) -> int | None:
        """How many seeds would decide it, if it is not decided and some number would."""
        if self.comparison is None or self.verdict is not Verdict.OPEN:
            return None
        return difference.seeds_needed(self.comparison.difference, self.comparison.pairs, self.allowed)

    @property
    def better(self) -> bool | None:
        """Whether the second is better; none where that has no meaning or nothing differs."""
        if self.comparison is None or self.metric.better is None or self.comparison.difference.mean == 0:
            return None
        return (self.comparison.difference.mean > 0) is (self.metric.better is Better.MORE)

    @property
    def size(self) -> float:
        """The difference as a multiple of what counts as equal for the larger of the two, so that directions are alike."""
        if self.comparison is None:
            return 0.0
        first, second, off = self.comparison.first, self.comparison.second, abs(self.comparison.difference.mean)
        larger = max(self.allowed, RELATIVE * max(abs(first), abs(second)))
        return off / larger if larger else 0.0

    @property
    def harm(self) -> float | None:
        """The harm that the second cell does, if the first is the solo performance; none where better has no meaning."""
        if self.comparison is None or self.metric.better is None:
            return None
        return formulas.harm(self.comparison.first, self.comparison.second, self.metric.better is Better.MORE)


@dataclass(frozen=True)
class ComparedGroups:
    """The metrics of a group of flows in the first cell, and of the same or another group in the second."""

    first: str
    second: str
    metrics: Sequence[ComparedMetric]

    @property
    def name(self) -> str:
        """What tables call the two."""
        return self.first if self.first == self.second else f"{self.first} | {self.second}"


#: Rows of ``runs`` or ``groups``: a frame, or files that are read when that is asked for.
Rows = pl.DataFrame | pl.LazyFrame

#: The first row of a combination of values.
_FIRST = "=first"


def axes_of(runs: pl.DataFrame) -> list[str]:
    """The axes that a frame of runs or groups has, between its key and its seed; of several backends that too."""
    axes = runs.columns[1 : runs.columns.index("seed")]
    if BACKEND in axes or BACKEND not in runs.columns:
        return axes
    return [*axes, BACKEND] if runs[BACKEND].n_unique() > 1 else axes


def condition(text: str, axes: Iterable[str]) -> dict[str, str]:
    """Reads ``tcp=cubic,queue=codel``, also with ``group=NAME``; a comma ends a value only where another axis follows."""
    known = [*axes, GROUP]
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


def distinct(rows: pl.LazyFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The combinations of values that some columns have, in the order in which they first occur."""
    numbered = rows.select(columns).with_row_index(_FIRST)
    return numbered.group_by(columns).agg(pl.col(_FIRST).min()).sort(_FIRST).drop(_FIRST).collect(engine="streaming")


def cells_of(runs: Rows) -> pl.DataFrame:
    """A row for each cell of runs or groups, as they have them, but without keys and seeds."""
    columns = runs.lazy().collect_schema().names()
    axes = columns[1 : columns.index("seed")]
    labels = [*axes, BACKEND] if BACKEND in columns and BACKEND not in axes else axes
    found = distinct(runs.lazy(), labels)
    # In the places where runs have them.
    return found.insert_column(0, pl.Series("key", [""] * found.height)).insert_column(
        columns.index("seed"), pl.Series("seed", [0] * found.height)
    )


def part(runs: Rows, values: Mapping[str, str]) -> pl.LazyFrame:
    """The runs of the cells that have the given values of some axes."""
    return runs.lazy().filter(pl.col(axis) == value for axis, value in values.items())


def several(cells: pl.DataFrame, values: Mapping[str, str]) -> bool:
    """Whether more than one of some cells has the given values of some axes."""
    return _with_values_of(cells, values).height > 1


def _with_values_of(cells: pl.DataFrame, values: Mapping[str, str]) -> pl.DataFrame:
    chosen = cells
    for axis, value in values.items():
        there = chosen[axis].drop_nulls().unique(maintain_order=True).to_list()
        if value not in there:
            raise InputError(f"{called(values)}: {names.unknown(f'value of axis {axis}', value, map(str, there))}")
        chosen = chosen.filter(pl.col(axis) == value)
    return chosen


def cell(runs: Rows, values: Mapping[str, str]) -> pl.LazyFrame:
    """The runs of the one cell that has the given values of some axes."""
    cells = cells_of(runs)
    chosen, axes = _with_values_of(cells, values), axes_of(cells)
    for axis in axes:
        there = chosen[axis].unique(maintain_order=True).to_list()
        if len(there) > 1:
            several_there = f"several cells match; choose a value of {axis} ({', '.join(map(str, there))})"
            raise InputError(f"{called(values)}: {several_there}")
    (labels,) = chosen.select(axes).iter_rows()
    return runs.lazy().filter(pl.col(axis).eq_missing(pl.lit(label)) for axis, label in zip(axes, labels, strict=True))


def compare_cells(
    runs: Rows, first: Mapping[str, str], second: Mapping[str, str], metrics: Iterable[str] | None = None
) -> list[ComparedMetric]:
    """Compares two cells of a campaign's runs, metric by metric, pairing the runs that have the same seed.

    ``first`` and ``second`` are values of axes that tell each cell from all others. Unless given, metrics are all with a value.
    """
    there = runs.lazy().collect_schema()
    known = [name for name in METRICS if name in there]
    wanted = _with_values(runs, known) if metrics is None else metrics
    one, other = cell(runs, first), cell(runs, second)
    repeated = repetition.is_repeated(one) or repetition.is_repeated(other)
    return _compared_metrics(one, other, _chosen(wanted, known, "a run"), repeated, fair_share(one))


def fair_share(runs: pl.LazyFrame) -> float:
    """What each flow of the first of some runs would have of the bottleneck, in Mbit/s; 0 if that cannot be told."""
    names = ("bottleneck_mbps", "flow_count")
    if not set(names).issubset(runs.collect_schema()):
        return 0.0
    for rate, flows in runs.select(names).head(1).collect().iter_rows():
        return rate / flows if rate is not None and flows else 0.0
    return 0.0


def compare_groups(
    groups: Rows,
    first: Mapping[str, str],
    second: Mapping[str, str],
    metrics: Iterable[str] | None = None,
    only: Iterable[str] | None = None,
    *,
    repeated: bool = False,
    fair_share_mbps: float = 0.0,
) -> list[ComparedGroups]:
    """Compares groups of flows of two cells, or of one, as ``compare_cells`` does runs.

    A value of ``group`` in ``first`` and ``second`` compares these groups alone; else those in ``only``, or all that both cells
    have. Unless given, metrics are those with a value of which tables have groups. ``repeated`` says that the seeds of either
    cell change nothing, so that there is no interval. ``fair_share_mbps`` is what each flow of a run of the first would have.
    """
    there = groups.lazy().collect_schema()
    known = [metric.name for metric in of_group() if metric.name in there]
    shown = [name for name in known if METRICS[name].main_of_group]
    chosen = _chosen(_with_values(groups, shown) if metrics is None else metrics, known, "a group of flows")
    one, other = (cell(groups, {axis: value for axis, value in told.items() if axis != GROUP}) for told in (first, second))
    pairs = _pairs(_groups(one), _groups(other), (first.get(GROUP), second.get(GROUP)), only)
    found = []
    for a, b in pairs:
        sides = one.filter(flow_group=a), other.filter(flow_group=b)
        found.append(ComparedGroups(a, b, _compared_metrics(*sides, chosen, repeated, fair_share_mbps)))
    return found


def _with_values(rows: Rows, metrics: Sequence[str]) -> list[str]:
    """The metrics that some row has: scenarios without calls have no one-way delay."""
    has = rows.lazy().select(pl.col(metrics).is_not_null().any()).collect(engine="streaming")
    return [name for name in metrics if has[name].item()]


def _groups(rows: pl.LazyFrame) -> list[str]:
    return distinct(rows, ["flow_group"])["flow_group"].to_list()


def _pairs(
    one: Sequence[str], other: Sequence[str], named: tuple[str | None, str | None], only: Iterable[str] | None
) -> list[tuple[str, str]]:
    """Which groups of the first cell are compared with which of the second."""
    match named:
        case None, None:
            wanted = [(name, name) for name in (one if only is None else only) if only is not None or name in other]
        case str(first), str(second):
            wanted = [(first, second)]
        case _:
            raise InputError(f"A or B names no group; give {GROUP}=NAME in both, or --only {GROUP}=NAME")
    for pair in wanted:
        for name, known in zip(pair, (one, other), strict=True):
            if name not in known:
                raise InputError(names.unknown(GROUP, name, known))
    return wanted


def _chosen(metrics: Iterable[str], known: Sequence[str], what: str) -> list[str]:
    """The names of metrics that are wanted, which must be known of what is compared."""
    chosen = list(metrics)
    for name in chosen:
        if name not in METRICS:
            raise InputError(names.unknown("metric", name, known))
        if name not in known:
            raise InputError(f'metric "{name}" is not one of {what} (known: {", ".join(known)})')
    return chosen


def _compared_metrics(
    first: pl.LazyFrame, second: pl.LazyFrame, metrics: Sequence[str], repeated: bool, fair: float
) -> list[ComparedMetric]:
    """Metrics of two cells, paired by seed, one metric after the other; only means if the seeds of either change nothing."""
    found: list[ComparedMetric] = []
    for name in metrics:
        one, other = (runs.select("seed", name).collect(engine="streaming") for runs in (first, second))
        pairs = one.join(other, on="seed", suffix=OTHER).sort("seed")
        if not pairs.height:
            raise InputError("the two cells have no common seed")
        compared = _compared(pairs.select(name, f"{name}{OTHER}").drop_nulls(), repeated)
        allowed = 0.0 if compared is None else tolerance(name, compared.first, fair)
        found.append(ComparedMetric(METRICS[name], compared, allowed))
    return found


def _compared(pairs: pl.DataFrame, repeated: bool) -> Comparison | None:
    """The pairs compared; only their means if the seeds of either cell change nothing."""
    if not pairs.height:
        return None
    first, second = (column.to_list() for column in pairs.get_columns())
    found = compare(first, second)
    return found._replace(difference=Estimate(found.difference.mean, None, None), p=None) if repeated else found
