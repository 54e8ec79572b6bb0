"""The tables that show a result: of one cell its flows by group and its queues, of several the main metrics of each."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

import polars as pl

from sojourn.analysis import difference, findings
from sojourn.analysis.estimates import SEEDS, ends, one_group, over_seeds
from sojourn.analysis.findings import Finding
from sojourn.analysis.result import Result
from sojourn.metrics import METRICS, Bounds, Metric, of_group
from sojourn.metrics.formulas import jain
from sojourn.statistics import Estimate
from sojourn.table import Column, Frame, Table, label, measured, number, render, width
from sojourn.table import text as text_column

#: The metrics of a cell that are the last to be left out where there is little room, the very last one first.
FIRST = (
    "total_mbps",
    "rtt_mean_s",
    "delay_p99_s",
    "loss_pct",
    "jitter_s",
    "sojourn_mean_s",
    "sojourn_p99_s",
    "share_pct",
    "drop_pct",
    "utilisation",
)


#: What stands beside a mean.
INTERVAL = "± half of the 95 % interval, or both its ends where a bound cuts it off"

#: What a star says.
BEST = (
    "* the best of its column, and what is not told from it (within 15 % or the metric's floor, or with an overlapping interval)."
)

#: Where intervals end of what is no metric: counts, lengths and times.
NOT_NEGATIVE: Mapping[str, Bounds] = dict.fromkeys(
    ("timeouts", "rtt_mean", "completed", "mean_packets", "sd_packets", "sojourn_mean", "sojourn_p99", "took"), (0, None)
)

#: Samples below which not one lies beyond their 99th percentile.
LEAST_FOR_P99 = 100

#: What tables have a 99th percentile of: its frame and column, that of the number of samples behind it, what has it, and of what.
P99 = (
    ("groups", "fct_p99_s", "transfers_completed", "flow_group", "transfers a run"),
    ("flows", "delay_p99", "delay_samples", "flow_group", "packets of a flow"),
    ("queues", "sojourn_p99", "departures", "link", "packets a run"),
)


def tables(found: Result) -> list[Table]:
    """The findings of a result, and its tables."""
    return [sentences(findings.of(found)), *(of_cells(found) if _has_several(found) else of_cell(found))]


def sentences(told: Sequence[Finding]) -> Table:
    """Findings as a table, of which people see the sentences."""
    columns = [text_column("text", "Findings", keep=True)]
    beside = ["kind", "axis", "first", "second", "values"]
    return Table("findings", "", columns, findings.rows(told), beside=beside, sentences=True)


def _has_several(found: Result) -> bool:
    """Whether a result has several cells."""
    return bool(found.axes) and found.columns("runs", found.axes).unique().height > 1


def text(found: Result) -> str:
    """The tables of a result, as wide as the terminal."""
    return render(tables(found), width(), "see all in its frames runs, groups, flows and queues").rstrip("\n")


def of_cell(found: Result, only: Sequence[str] | None = None) -> list[Table]:
    """The flows of one cell by group, its groups if it has several, and its queues, over the measuring window.

    With several seeds these are means and intervals. Of the groups in ``only`` there are no queues.
    """
    flows, of_groups = _flows(found), groups(found, only=only)
    ran = programs(found) if only is None else None
    made = [_of_cell("flows", FLOWS, flows.filter(_chosen(only)))] if flows.height or ran is None else []
    if of_groups is not None:
        made.append(replace(of_groups, notes=[]))
    if (of_transfers := transfers(found, only)) is not None:
        made.append(of_transfers)
    if only is None and (queues := _queues(found)).height:
        made.append(_of_cell("queues", QUEUES, queues))
    if ran is not None:
        made.append(ran)
    # All are of the same seeds.
    return [*made[:-1], replace(made[-1], notes=[*_note(flows, found), *_few_samples(found, only)])]


def programs(found: Result, order: Sequence[Sequence[str]] | None = None) -> Table | None:
    """How programs ended, and the last line of each with the first seed; of one cell when, of several for how long they ran.

    None if there are none. ``order`` has the cells as values of the axes.
    """
    rows = found.frame("programs")
    if not rows.height:
        return None
    axes = list(found.axes) if _has_several(found) else []
    by = [*axes, "program", "name", "host"]
    last = pl.when(pl.col("output") == "").then(pl.col("errors")).otherwise(pl.col("output"))
    ended_by = (
        pl.when(pl.col("stopped"))
        .then(pl.lit("stopped"))
        .otherwise(pl.coalesce(pl.col("status").cast(pl.String), pl.col("signal")))
    )
    ended = (
        rows.sort("program", "seed")
        .group_by(by, maintain_order=True)
        .agg(
            pl.col("start").mean(),
            pl.col("end").mean(),
            ended_by.unique(maintain_order=True).drop_nulls().str.join(", ").alias("status"),
            last.str.strip_chars().str.split("\n").list.last().str.strip_chars().first().alias("last_line"),
        )
    )
    times = [number("start", "start s", _seconds), number("end", "end s", _seconds)]
    if axes:
        ran = found.counted("programs").with_columns(took=pl.col("end") - pl.col("start"))
        took = over_seeds(ran, by, ["took"], NOT_NEGATIVE)
        ended = _in_order(found, took.join(ended, on=by, how="left", nulls_equal=True, maintain_order="left"), axes, order)
        times = [number(SEEDS, keep=True), measured("took", "took s", _seconds)]
    columns = [
        *(label(axis, keep=True) for axis in axes),
        label("name", keep=True),
        label("host", keep=True),
        *times,
        text_column("status", keep=True),
        text_column("last_line", "last line"),
    ]
    return Table("programs", "Programs", columns, Frame(ended))


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _chosen(only: Sequence[str] | None) -> pl.Expr | bool:
    """The rows of some groups of flows; all of them unless given."""
    return True if only is None else pl.col("flow_group").is_in(list(only))


def of_cells(found: Result, order: Sequence[Sequence[str]] | None = None, only: Sequence[str] | None = None) -> list[Table]:
    """The main metrics of each cell, and of each of its groups if a cell has several; of the groups in ``only`` alone.

    How programs ended comes after that.
    """
    of_groups, ran = groups(found, order, only), programs(found, order) if only is None else None
    made = [*([cells(found, order)] if only is None else []), *(each for each in (of_groups, ran) if each is not None)]
    return [*made[:-1], *(replace(last, notes=[*last.notes, *_few_samples(found, only)]) for last in made[-1:])]


def groups(found: Result, order: Sequence[Sequence[str]] | None = None, only: Sequence[str] | None = None) -> Table | None:
    """The main metrics of each group of flows, or of those in ``only``, of each cell; none if no cell has several groups.

    ``order`` has the cells as values of the axes; they come in the order of the file, where it is known, unless it is given.
    """
    shown, axes = [metric for metric in of_group() if metric.main_of_group], list(found.axes)
    values = [metric.name for metric in shown]
    wanted = found.counted("groups").filter(_chosen(only))
    if only is None and one_group(wanted):
        return None
    rows = _in_order(found, over_seeds(wanted, [*axes, "flow_group"], values), axes, order)
    told = [label(axis, keep=True) for axis in axes] if rows.select(axes).unique().height > 1 else []
    columns = [*told, label("flow_group", "group", keep=True), *_measured(shown)]
    return _with_values("groups", columns, rows, _note(rows, found))


def _in_order(found: Result, rows: pl.DataFrame, axes: Sequence[str], order: Sequence[Sequence[str]] | None) -> pl.DataFrame:
    if order is None:
        known = {
            axis: {label: place for place, label in enumerate(labels)} for axis, labels in found.order.items() if axis in axes
        }
        places = [pl.col(axis).replace_strict(labels, default=None, return_dtype=pl.Int64) for axis, labels in known.items()]
        return rows.sort(places, nulls_last=True, maintain_order=True) if places else rows
    cells = pl.DataFrame(order, schema=dict.fromkeys(axes, pl.String()), orient="row")
    return cells.join(rows, on=axes, how="inner", maintain_order="left_right")


def cells(found: Result, order: Sequence[Sequence[str]] | None = None) -> Table:
    """The main metrics of each cell over the measuring window; with several seeds, means and intervals.

    ``order`` has the cells as values of the axes; they come in the order of the file, where it is known, unless it is given.
    """
    shown, axes = [metric for metric in METRICS.values() if metric.main], list(found.axes)
    values = [metric.name for metric in shown]
    rows = _in_order(found, over_seeds(found.counted("runs"), axes, values), axes, order)
    best = {metric: difference.best(metric, _estimates(rows, metric.name)) for metric in shown}
    columns = [*(label(axis, keep=True) for axis in axes), *_measured(shown, best)]
    notes = [BEST] if any(best.values()) else []
    return _with_values("cells", columns, rows, [*notes, *_note(rows, found)])


def _estimates(rows: pl.DataFrame, name: str) -> list[Estimate]:
    """The means of a value and their intervals."""
    return [Estimate(*row) for row in rows.select(name, *ends(name)).drop_nulls(name).iter_rows()]


def _with_values(name: str, columns: Sequence[Column], rows: pl.DataFrame, notes: Sequence[str], *beside: str) -> Table:
    """A table of the columns in which some row has a value; of the others JSON and CSV have the names, whatever there is."""
    empty = [column for column in columns if all(rows[each].null_count() == rows.height for each in column.names)]
    shown = [column for column in columns if column not in empty]
    left_out = [each for column in empty for each in column.names]
    return Table(name, name.capitalize(), shown, Frame(rows), notes, beside=[*left_out, *beside])


def _measured(shown: Sequence[Metric], best: Mapping[Metric, Container[float]] | None = None) -> list[Column]:
    """The number of seeds, and the estimate of each metric, of which the best are marked."""
    last = {name: rank for rank, name in enumerate(FIRST)}
    marks = {} if best is None else best
    estimates = [
        measured(
            each.name,
            each.label,
            each.number,
            each.factor,
            rank=last.get(each.name, len(FIRST)),
            marked=marks.get(each, ()),
        )
        for each in shown
    ]
    return [number(SEEDS, keep=True), *estimates]


def _mean(name: str, heading: str, decimals: int, factor: float = 1, *, rank: int = 0) -> Column:
    return measured(name, heading, lambda value: f"{value * factor:.{decimals}f}", factor, rank=rank)


def _counted(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"


FLOWS = [
    label("flow_group", "group", keep=True),
    label("algorithm", keep=True),
    number("flows", show=lambda count: f"{count:g}", rank=4),
    _mean("avg_mbps", "mean Mbit/s", 3),
    _mean("jain", "Jain (long-lived)", 3, rank=3),
    measured("retransmissions", "retransmissions", _counted, rank=2),
    measured("timeouts", "timeouts", _counted, rank=5),
    _mean("rtt_mean", "mean RTT ms", 2, 1e3, rank=1),
    measured("completed", "completed", _counted, rank=6),
]

QUEUES = [
    label("link", keep=True),
    label("discipline", keep=True),
    _mean("mean_packets", "mean packets", 1, rank=4),
    _mean("sd_packets", "deviation", 1, rank=5),
    _mean("sojourn_mean", "sojourn mean ms", 2, 1e3),
    _mean("sojourn_p99", "p99 ms", 2, 1e3, rank=1),
    _mean("drop_pct", "drops %", 3, rank=2),
    _mean("utilisation", "utilisation %", 2, 100, rank=3),
]


TRANSFERS = [
    label("flow_group", "group", keep=True),
    measured("transfers_completed", "completed", _counted),
    measured("transfers_unfinished", "unfinished", _counted, rank=4),
    _mean("fct_mean_s", "completion mean ms", 1, 1e3),
    _mean("fct_p95_s", "p95 ms", 1, 1e3, rank=1),
    _mean("fct_p99_s", "p99 ms", 1, 1e3, rank=2),
    _mean("slowdown_mean", "slowdown mean", 2, rank=3),
    _mean("slowdown_p99", "p99 slowdown", 2, rank=5),
    _mean("page_load_time_mean_s", "page load mean ms", 1, 1e3),
    _mean("page_load_time_p95_s", "page p95 ms", 1, 1e3, rank=1),
    _mean("response_time_mean_s", "response mean ms", 1, 1e3, rank=3),
    _mean("response_time_p95_s", "response p95 ms", 1, 1e3, rank=2),
]


def transfers(found: Result, only: Sequence[str] | None = None) -> Table | None:
    """The transfers of one cell by group; none if it has none."""
    values = [name for column in TRANSFERS for name in column.names if name in METRICS]
    wanted = found.counted("groups").filter(pl.col("transfers_completed").is_not_null(), _chosen(only))
    rows = over_seeds(wanted, ["flow_group"], values)
    return _of_cell("transfers", TRANSFERS, rows) if rows.height else None


def _few_samples(found: Result, only: Sequence[str] | None) -> list[str]:
    """A line on each kind of 99th percentile that rests on too few samples: it is then little else than the greatest of them."""
    told = []
    for frame, percentile, count, of, what in P99:
        if only is not None and of != "flow_group":
            continue
        few = found.counted(frame).filter(pl.col(percentile).is_not_null(), pl.col(count) < LEAST_FOR_P99, _chosen(only))
        counts = pl.col(count).min().alias("least"), pl.col(count).max().alias("most")
        rows = few.group_by(of).agg(*counts).sort(of).collect(engine="streaming").iter_rows()
        each = [f"{name} on {least:g}" + (f" to {most:g}" if most > least else "") for name, least, most in rows]
        told += [f"p99 rests on few {what}: {', '.join(each)}."] if each else []
    return told


def _of_cell(name: str, columns: Sequence[Column], rows: pl.DataFrame) -> Table:
    return _with_values(name, columns, rows, (), SEEDS)


def _note(rows: pl.DataFrame, found: Result) -> list[str]:
    seeds = rows[SEEDS].unique().sort().to_list()
    note = [each for each in (found.note, *found.limited, found.excess, found.unsettled) if each is not None]
    if not seeds or seeds[-1] == 1:
        return note
    return [f"Means over {' to '.join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))} seeds {INTERVAL}.", *note]


def _flows(found: Result) -> pl.DataFrame:
    rate = pl.col("bytes_delivered") * 8 / 1e6 / pl.col("window_s")
    by_run = (
        found.counted("flows")
        .join(found.scan("runs").select("key", "window_s"), on="key", how="left", maintain_order="left")
        .group_by("key", "flow_group", "algorithm", maintain_order=True)
        .agg(
            pl.len().alias("flows"),
            rate.mean().alias("avg_mbps"),
            rate.filter(pl.col("long_lived")).alias("jain"),
            pl.col("retransmissions", "timeouts").sum(),
            (pl.col("rtt_mean").dot("rtt_samples") / pl.col("rtt_samples").sum()).fill_nan(None),
            pl.col("completed").count(),
        )
        .with_columns(pl.col("jain").map_elements(_fairness, return_dtype=pl.Float64))
    )
    values = ["avg_mbps", "jain", "retransmissions", "timeouts", "rtt_mean", "completed"]
    return over_seeds(by_run, ["flow_group", "algorithm", "flows"], values, NOT_NEGATIVE)


def _fairness(throughputs: pl.Series) -> float | None:
    return jain(throughputs.to_numpy()) if throughputs.len() else None


def _queues(found: Result) -> pl.DataFrame:
    drops = (pl.col("drops") * 100 / (pl.col("drops") + pl.col("departures"))).fill_nan(None).alias("drop_pct")
    values = ["mean_packets", "sd_packets", "sojourn_mean", "sojourn_p99", "drop_pct", "utilisation"]
    return over_seeds(found.counted("queues").with_columns(drops), ["link", "discipline"], values, NOT_NEGATIVE)
