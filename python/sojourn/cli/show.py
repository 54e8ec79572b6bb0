"""Results on the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl
from rich.markup import escape

from sojourn import estimates
from sojourn.backends.identity import Identity
from sojourn.campaign import Campaign, CampaignOutcome, Imprecise, Plan
from sojourn.cli.console import console, table
from sojourn.comparison import ComparedGroups, ComparedMetric
from sojourn.metrics import METRICS, Metric, of_group
from sojourn.metrics.formulas import jain as jains_index
from sojourn.names import GROUP
from sojourn.results import Result
from sojourn.statistics import Estimate
from sojourn.study.cells import Compared, agreement
from sojourn.study.design import Study
from sojourn.study.tally import Tally
from sojourn.study.verdicts import Judged, Verdict
from sojourn.sweep.estimate import Speed
from sojourn.sweep.stopping import StoppingRule


def result(found: Result, only: Sequence[str] | None = None) -> None:
    """The flows by group and the queues of a scenario over the measuring window; with several seeds, the means over them.

    Of some groups only their flows are shown.
    """
    flows = table(
        *("Flows", "group", "algorithm", ">flows", ">mean Mbit/s", ">Jain (long-lived)"),
        *(">retransmissions", ">timeouts", ">mean RTT ms", ">completed"),
    )
    for group, algorithm, count, rate, jain, retransmissions, timeouts, rtt, completed in _groups(found).iter_rows():
        if only is not None and group not in only:
            continue
        fairness = "-" if jain is None else f"{jain:.3f}"
        shares = f"{count:g}", f"{rate:.3f}", fairness
        effort = f"{retransmissions:.0f}", f"{timeouts:.0f}"
        flows.add_row(escape(group), algorithm, *shares, *effort, _milliseconds(rtt), f"{completed:g}")
    console().print(flows)
    groups(found, [], [()], only)
    queues = table(
        *("Queues", "link", "discipline", ">mean packets", ">deviation"),
        *(">sojourn mean ms", ">p99 ms", ">drops %", ">utilisation %"),
    )
    for link, discipline, packets, deviation, sojourn, p99, drops, busy in _queues(found).iter_rows():
        waits = _milliseconds(sojourn), _milliseconds(p99)
        ratio = "-" if drops is None else f"{drops:.3f}"
        queues.add_row(link, discipline, f"{packets:.1f}", f"{deviation:.1f}", *waits, ratio, f"{busy:.2f}")
    if queues.row_count and only is None:
        console().print(queues)
    seeds = found.columns("runs", ["key"]).height
    if seeds > 1:
        console().print(f"Means over {seeds} seeds.")


def _groups(found: Result) -> pl.DataFrame:
    windows = found.columns("runs", ["key", "window_s"])
    counts = "bytes_delivered", "retransmissions", "timeouts", "rtt_mean", "rtt_samples", "completed"
    flows = found.columns("flows", ["key", "flow_group", "algorithm", *counts])
    flows = flows.join(windows, on="key", how="left", maintain_order="left")
    rate = pl.col("bytes_delivered") * 8 / 1e6 / pl.col("window_s")
    by_run = flows.group_by("key", "flow_group", "algorithm", maintain_order=True).agg(
        pl.len().alias("flows"),
        rate.mean().alias("mbps"),
        rate.filter(pl.col("long_lived")).alias("jain"),
        pl.col("retransmissions", "timeouts").sum(),
        (pl.col("rtt_mean").dot("rtt_samples") / pl.col("rtt_samples").sum()).fill_nan(None).alias("rtt"),
        pl.col("completed").count(),
    )
    fair = by_run.with_columns(pl.col("jain").map_elements(_fairness, return_dtype=pl.Float64))
    return fair.drop("key").group_by("flow_group", "algorithm", maintain_order=True).mean()


def _fairness(throughputs: pl.Series) -> float | None:
    return jains_index(throughputs.to_numpy()) if throughputs.len() else None


def _queues(found: Result) -> pl.DataFrame:
    drops = (pl.col("drops") * 100 / pl.col("arrivals")).fill_nan(None).mean()
    means = pl.col("mean_packets", "sd_packets", "sojourn_mean", "sojourn_p99").mean()
    by_link = found.scan("queues").group_by("link", "discipline", maintain_order=True)
    return by_link.agg(means, drops, pl.col("utilisation").mean() * 100).collect()


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


def succeeded(outcome: CampaignOutcome, out: Path | None) -> str:
    """How many runs of a campaign with failures have results, and where they are."""
    failed = len(outcome.failures)
    said = f"{outcome.finished} of {counted(outcome.finished + failed, 'run')} succeeded, {failed} failed"
    return said if out is None else f"{said}; results are in {out}, and the same command makes only failed runs again"


#: Cells that are shown: a terminal is no place for thousands.
MOST_ROWS = 200


def counted(number: int, what: str) -> str:
    """A number of things: ``1 run``, ``1,000 runs``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def extent(planned: Plan) -> str:
    """How much there is to run, on one line."""
    until = planned.until
    several = len(planned.cells) > 1
    seeds = f"{counted(planned.repetitions, 'seed')}{' each' if several else ''}"
    times = ""
    if until is not None:
        each = " each" if several else ""
        seeds = f"{planned.repetitions} to {until.most_seeds} seeds{each} until ci({until.metric}) < {until.bound:g}"
        times = f", or up to {until.most_seeds / planned.repetitions:.3g} times as much"
    runs = f"{counted(len(planned), 'run')}, {planned.simulated_seconds:,.10g} simulated seconds"
    return f"{counted(len(planned.cells), 'cell')}, {seeds}: {runs}{times}"


def stale(made_by: Mapping[Identity, int], planned: Plan, directory: Path, made: str) -> str:
    """What of a store's results is of another build of the backend, on one line; ``made`` says when they are made again."""
    number = sum(made_by.values())
    were, are = ("was", "is") if number == 1 else ("were", "are")
    builds = " and ".join(map(str, made_by))
    what = f"{number:,} of {counted(len(planned), 'run')} in {directory} {were} made by {builds} and {are} stale"
    return f"{what}; {'it' if number == 1 else 'they'} {made} again by {planned.backend}"


def imprecise(cell: Imprecise, rule: StoppingRule) -> str:
    """A cell whose metric is not known well enough, on one line."""
    half = "unknown" if cell.half is None else f"{cell.half:.3g}"
    return f"{cell.cell.name}: after {rule.most_seeds} seeds ci({rule.metric}) is {half}, not below {rule.bound:g}"


def axes(campaign: Campaign) -> None:
    """The axes of a campaign: what each sets, and its values."""
    listed = table("Axes", "axis", "sets", ">values", "")
    for name, (key, labels) in campaign.described.items():
        listed.add_row(escape(name), key, str(len(labels)), escape(", ".join(labels)))
    if campaign.described:
        console().print(listed)


def duration(seconds: float) -> str:
    """A time in the two largest units that it needs."""
    units = {"d": 86400, "h": 3600, "min": 60, "s": 1}
    left, parts = max(1, round(seconds)), list[str]()
    for unit, size in units.items():
        number, left = divmod(left, size)
        if number or parts:
            parts.append(f"{number} {unit}")
    return " ".join(part for part in parts[:2] if not part.startswith("0 "))


def estimated(speed: Speed, runs: int, packets: float, number: int) -> str:
    """The estimated time of a number of runs with a number of workers, on one line."""
    millions, milliseconds = speed.packets_per_second / 1e6, speed.overhead * 1e3
    return (
        f"about {duration(speed.seconds(runs, packets) / number)} with {number} at a time: up to "
        f"{packets:.3g} packets of 1500 bytes at {millions:.3g} million per second (measured in the largest cell), plus "
        f"{milliseconds:.2g} ms per run"
    )


def groups(found: Result, axes: Sequence[str], cells: Iterable[Sequence[str]], only: Sequence[str] | None = None) -> None:
    """The main metrics of each group of flows of some cells; nothing if no cell has several groups, or of some groups only.

    Args:
        found: the results of the cells.
        axes: the axes that tell the cells apart.
        cells: the values of these axes, in the order in which they are shown.
        only: the groups that are shown; all unless given.
    """
    shown = [metric for metric in of_group() if metric.main_of_group]
    rows = found.columns("groups", ["key", *axes, "flow_group", *(metric.name for metric in shown)])
    if only is not None:
        rows = rows.filter(pl.col("flow_group").is_in(list(only)))
    elif rows["key"].n_unique() == rows.height:
        return
    listed = table("Groups", *axes, GROUP, ">seeds", *(f">{metric.label}" for metric in shown))
    by_group = rows.partition_by([*axes, "flow_group"], as_dict=True, maintain_order=True)
    by_cell: dict[tuple[object, ...], list[tuple[object, pl.DataFrame]]] = {}
    for (*labels, group), runs in by_group.items():
        by_cell.setdefault(tuple(labels), []).append((group, runs))
    for labels in cells:
        for group, runs in by_cell.get(tuple(labels), []):
            measured = (_estimated(metric, runs[metric.name]) for metric in shown)
            listed.add_row(*map(escape, labels), escape(str(group)), str(runs.height), *measured)
    console().print(listed)


def cells(found: Result, planned: Plan, only: Sequence[str] | None = None) -> None:
    """The main metrics of each cell of a sweep over the measuring window; with several seeds, means and 95 % intervals.

    A second table has those of each group of flows. It is alone if only some groups are shown.
    """
    labels = [tuple(cell.axes.values()) for cell in planned.cells[:MOST_ROWS]]
    if only is None:
        _cells(found, planned.axes, labels)
    groups(found, planned.axes, labels, only)
    if len(planned.cells) > MOST_ROWS:
        console().print(f"The first {MOST_ROWS} of {len(planned.cells):,} cells; all are in the results.")
    if found.columns("runs", ["seed"])["seed"].n_unique() > 1:
        console().print("Means over seeds ± half of the 95 % confidence interval.")


def _cells(found: Result, axes: Sequence[str], cells: Iterable[tuple[str, ...]]) -> None:
    shown = [metric for metric in METRICS.values() if metric.main]
    listed = table("Cells", *axes, ">seeds", *(f">{metric.label}" for metric in shown))
    by_cell = found.columns("runs", [*axes, *(metric.name for metric in shown)]).partition_by(axes, as_dict=True)
    for labels in cells:
        runs = by_cell[labels]
        measured = (_estimated(metric, runs[metric.name]) for metric in shown)
        listed.add_row(*map(escape, labels), str(runs.height), *measured)
    console().print(listed)


def _estimated(metric: Metric, found: Estimate | None) -> str:
    if found is None:
        return "-"
    mean, _, high = found
    return metric.number(mean) + (f" ± {metric.number(high - mean)}" if high is not None else "")


def compared(metrics: Sequence[ComparedMetric], first: str, second: str) -> None:
    """Two cells compared: the mean of each, and the interval and p value of the difference."""
    _compared("Means over common seeds", [], [([], entry) for entry in metrics], first, second)


def compared_groups(groups: Sequence[ComparedGroups], first: str, second: str) -> None:
    """Groups of flows of two cells compared, as ``compared`` does the cells."""
    rows = [([group.name], entry) for group in groups for entry in group.metrics]
    _compared("Means of groups over common seeds", [GROUP], rows, first, second)


def _compared(
    title: str, labels: Sequence[str], rows: Iterable[tuple[Sequence[str], ComparedMetric]], first: str, second: str
) -> None:
    listed = table(title, *labels, "metric", ">seeds", f">A: {escape(first)}", f">B: {escape(second)}", ">B - A", ">p")
    for of, entry in rows:
        found, text = entry.comparison, entry.metric.format
        if found is None:
            listed.add_row(*map(escape, of), entry.metric.name, "0", *("-",) * 4)
            continue
        mean, low, high = found.difference
        interval = "" if low is None or high is None else f" [{text(low)}, {text(high)}]"
        p = "-" if found.p is None else f"{found.p:.3g}"
        row = (*of, entry.metric.name, str(found.pairs), text(found.first), text(found.second), f"{text(mean)}{interval}", p)
        listed.add_row(*map(escape, row))
    console().print(listed)
    console().print("In brackets: 95 % confidence interval of the paired differences (Student). p: Wilcoxon's signed-rank test.")


VERDICT_STYLES = {Verdict.HOLDS: "green", Verdict.FAILS: "red", Verdict.UNDECIDED: "yellow"}


def claims(judged: Sequence[Judged]) -> None:
    """Each claim with its verdict, the seeds on which it holds, and the values that show it."""
    listed = table("Claims", "id", "claim", "verdict", ">held", ">95 % interval", "values over seeds")
    for each in judged:
        _, low, high = each.share
        verdict = f"[{VERDICT_STYLES[each.verdict]}]{each.verdict}[/]"
        interval = f"{low:.2f} to {high:.2f}"
        listed.add_row(
            each.claim.id, escape(each.claim.claim), verdict, f"{each.held}/{each.seeds}", interval, escape(each.shown)
        )
    console().print(listed)


def verdicts_in_all(judged: Sequence[Judged], there_are: int) -> str:
    """What the claims of a paper come to, on one line."""
    if not judged:
        return f"none of {counted(there_are, 'claim')} can be judged from these runs"
    line = Tally.of(judged).line
    if len(judged) < there_are:
        line += f"; {there_are - len(judged)} more cannot be judged from these runs"
    return line


def papers(found: Iterable[tuple[Study, Sequence[Judged], Sequence[Compared]]]) -> None:
    """How the claims of each paper fare, and how many of its published values agree."""
    listed = table("Papers", "study", ">claims hold", ">fail", ">undecided", ">values agree")
    for study, judged, comparison in found:
        tables = agreement(comparison).values()
        agree, values = sum(agreeing for _, agreeing, _ in tables), sum(total for _, _, total in tables)
        counted = (str(number) for number in Tally.of(judged).verdicts.values())
        listed.add_row(study.name, *counted, f"{agree} of {values}" if values else "none published")
    console().print(listed)
