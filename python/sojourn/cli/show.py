"""Results on the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl
from rich.markup import escape

from sojourn import randomness, repetition
from sojourn.backends.identity import Identity
from sojourn.campaign import Campaign, Imprecise, Plan
from sojourn.cli.console import console, table
from sojourn.comparison import ComparedMetric, axes_of
from sojourn.metrics import METRICS, Metric
from sojourn.metrics.formulas import jain as jains_index
from sojourn.results import Result
from sojourn.statistics import estimate
from sojourn.study.cells import Compared, agreement
from sojourn.study.design import Study
from sojourn.study.verdicts import LEAST_SEEDS, Judged, Verdict
from sojourn.sweep.estimate import Speed
from sojourn.sweep.stopping import StoppingRule


def result(found: Result) -> None:
    """The flows by group and the queues of a scenario over the measuring window; with several seeds, the means over them."""
    flows = table(
        *("Flows", "group", "algorithm", ">flows", ">mean Mbit/s", ">Jain"),
        *(">retransmissions", ">timeouts", ">mean RTT ms", ">completed"),
    )
    for group, algorithm, count, rate, jain, retransmissions, timeouts, rtt, completed in _groups(found).iter_rows():
        fairness = "-" if jain is None else f"{jain:.3f}"
        effort = f"{retransmissions:.0f}", f"{timeouts:.0f}"
        flows.add_row(group, algorithm, f"{count:g}", f"{rate:.3f}", fairness, *effort, _milliseconds(rtt), f"{completed:g}")
    console().print(flows)
    queues = table(
        *("Queues", "link", "discipline", ">mean packets", ">deviation"),
        *(">sojourn mean ms", ">p99 ms", ">drops %", ">utilisation %"),
    )
    for link, discipline, packets, deviation, sojourn, p99, drops, busy in _queues(found).iter_rows():
        waits = _milliseconds(sojourn), _milliseconds(p99)
        ratio = "-" if drops is None else f"{drops:.3f}"
        queues.add_row(link, discipline, f"{packets:.1f}", f"{deviation:.1f}", *waits, ratio, f"{busy:.2f}")
    if queues.row_count:
        console().print(queues)
    if found.runs.height > 1:
        console().print(f"Means over {found.runs.height} seeds.")
        same_runs(found, axes_of(found.runs))


def same_runs(found: Result, axes: Sequence[str]) -> None:
    """Says which cells have the same run with every seed, if any have."""
    note = repetition.note(lambda columns: found.columns("runs", columns), axes)
    if note is not None:
        console().print(note)


def random(planned: Plan) -> str:
    """What is random in the cells of a campaign, on one line."""
    return randomness.line(cell.random for cell in planned.cells)


def _groups(found: Result) -> pl.DataFrame:
    windows = found.runs.select("key", "window_s")
    flows = found.flows.join(windows, on="key", how="left", maintain_order="left")
    rate = pl.col("bytes_delivered") * 8 / 1e6 / pl.col("window_s")
    by_run = flows.group_by("key", "group", "algorithm", maintain_order=True).agg(
        pl.len().alias("flows"),
        rate.mean().alias("mbps"),
        rate.alias("jain"),
        pl.col("retransmissions", "timeouts").sum(),
        (pl.col("rtt_mean").dot("rtt_samples") / pl.col("rtt_samples").sum()).fill_nan(None).alias("rtt"),
        pl.col("completed").count(),
    )
    fair = by_run.with_columns(pl.col("jain").map_elements(jains_index, return_dtype=pl.Float64))
    return fair.drop("key").group_by("group", "algorithm", maintain_order=True).mean()


def _queues(found: Result) -> pl.DataFrame:
    drops = (pl.col("drops") * 100 / pl.col("arrivals")).fill_nan(None).mean()
    return found.queues.group_by("link", "discipline", maintain_order=True).agg(
        pl.col("mean_packets", "sd_packets", "sojourn_mean", "sojourn_p99").mean(), drops, pl.col("utilisation").mean() * 100
    )


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


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
    after = f"{cell.cell.name}: after {cell.seeds} seeds ci({rule.metric}) is"
    if cell.repeated:
        return f"{after} unknown, because all gave the same run: {repetition.REMEDY}"
    half = "unknown" if cell.half is None else f"{cell.half:.3g}"
    return f"{after} {half}, not below {rule.bound:g}"


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


def cells(found: Result, planned: Plan) -> None:
    """The main metrics of each cell of a sweep over the measuring window; with several seeds, means and 95 % intervals."""
    shown = [metric for metric in METRICS.values() if metric.main]
    listed = table("Cells", *planned.axes, ">seeds", *(f">{metric.label}" for metric in shown))
    by_cell = found.columns("runs", [*planned.axes, *(metric.name for metric in shown)]).partition_by(planned.axes, as_dict=True)
    repeated = set(repetition.repeated(lambda columns: found.columns("runs", columns), planned.axes).rows())
    seeds = 0
    for cell in planned.cells[:MOST_ROWS]:
        labels = tuple(cell.axes.values())
        runs = by_cell[labels]
        counted = runs.head(1) if labels in repeated else runs
        measured = (_estimated(metric, counted[metric.name]) for metric in shown)
        listed.add_row(*map(escape, labels), str(runs.height), *measured)
        seeds = max(seeds, runs.height)
    console().print(listed)
    if len(planned.cells) > MOST_ROWS:
        console().print(f"The first {MOST_ROWS} of {len(planned.cells):,} cells; all are in the results.")
    if seeds > 1:
        console().print("Means over seeds ± half of the 95 % confidence interval.")
    if repeated:
        console().print(repetition.told(len(repeated), len(planned.cells)))


def _estimated(metric: Metric, values: pl.Series) -> str:
    known = values.drop_nulls().to_list()
    if not known:
        return "-"
    mean, _, high = estimate(known)
    return metric.number(mean) + (f" ± {metric.number(high - mean)}" if high is not None else "")


def compared(metrics: Sequence[ComparedMetric], first: str, second: str, repeated: Sequence[str] = ()) -> None:
    """Two cells compared: the mean of each, and the interval and p value of the difference; ``repeated`` have no real seeds."""
    listed = table("Means over common seeds", "metric", ">seeds", f">A: {escape(first)}", f">B: {escape(second)}", ">B - A", ">p")
    for entry in metrics:
        found, text = entry.comparison, entry.metric.format
        if found is None:
            listed.add_row(entry.metric.name, "0", *("-",) * 4)
            continue
        mean, low, high = found.difference
        interval = "" if low is None or high is None else f" [{text(low)}, {text(high)}]"
        p = "-" if found.p is None else f"{found.p:.3g}"
        row = (entry.metric.name, str(found.pairs), text(found.first), text(found.second), f"{text(mean)}{interval}", p)
        listed.add_row(*map(escape, row))
    console().print(listed)
    if repeated:
        told = f"All seeds of {' and of '.join(repeated)} gave the same run, so there is no interval: {repetition.REMEDY}."
        console().print(escape(told))
        return
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
    """How many claims hold, fail and are undecided, on one line."""
    count = _count(judged)
    seeds = sorted({each.seeds for each in judged})
    line = f"{len(judged)} claims"
    if seeds:
        line += f" on {' to '.join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))} {'seed' if seeds[-1] == 1 else 'seeds'}"
    line += f": {count[Verdict.HOLDS]} hold, {count[Verdict.FAILS]} fail, {count[Verdict.UNDECIDED]} are undecided"
    if seeds and seeds[0] < LEAST_SEEDS:
        mostly = sum(2 * each.held > each.seeds for each in judged)
        line += f" ({mostly} hold on most of their seeds; a verdict needs {LEAST_SEEDS} seeds)"
    if len(judged) < there_are:
        line += f"; {there_are - len(judged)} more cannot be judged from these runs"
    return line


def papers(found: Iterable[tuple[Study, Sequence[Judged], Sequence[Compared]]]) -> None:
    """How the claims of each paper fare, and how many of its published values agree."""
    listed = table("Papers", "study", ">claims hold", ">fail", ">undecided", ">values agree")
    for study, judged, comparison in found:
        tables = agreement(comparison).values()
        agree, values = sum(agreeing for _, agreeing, _ in tables), sum(total for _, _, total in tables)
        counted = (str(number) for number in _count(judged).values())
        listed.add_row(study.name, *counted, f"{agree} of {values}" if values else "none published")
    console().print(listed)


def _count(judged: Iterable[Judged]) -> dict[Verdict, int]:
    each_verdict = [each.verdict for each in judged]
    return {verdict: each_verdict.count(verdict) for verdict in Verdict}
