"""What was measured in the only cell: the bottleneck, the wait, losses, fairness, and what each group of flows got."""

from collections.abc import Sequence

from sojourn.analysis import estimates
from sojourn.analysis.findings import aspects, words
from sojourn.analysis.findings.effects import Measure
from sojourn.analysis.findings.finding import Finding, Kind, Stated
from sojourn.analysis.result import Result
from sojourn.metrics import METRICS
from sojourn.statistics import Estimate

#: What is told of whole runs.
OF_RUNS = ("utilisation", "sojourn_mean_s", "sojourn_p99_s", "drop_pct", "total_mbps", "rtt_mean_s", "jain", *aspects.ASPECTS[-1])


def of(found: Result) -> list[Finding]:
    """The findings on a result of one cell."""
    cell = estimates.of_cells(found.counted("runs"), [], OF_RUNS)[()]
    state = _State({Measure(METRICS[name]): mean for name, mean in cell.measured.items() if mean is not None}, cell.seeds)
    findings = [state.bottleneck() or state.throughput(), state.rest(), *_groups(found)]
    told = [each for each in findings if each is not None]
    return [*told, Finding(Kind.OPEN, words.without_interval())] if told and cell.seeds == 1 else told


class _State:
    """Means of some measures."""

    def __init__(self, means: dict[Measure, Estimate], seeds: int) -> None:
        self._means, self._seeds = means, seeds

    def _has(self, *names: str) -> bool:
        return all(Measure(METRICS[name]) in self._means for name in names)

    def _told(self, name: str) -> str:
        return words.mean(METRICS[name], self._means[Measure(METRICS[name])])

    def _finding(self, text: str, *names: str) -> Finding:
        measures = [Measure(METRICS[name]) for name in names]
        return Finding(Kind.STATE, text, stated=[Stated(each, self._means[each], self._seeds) for each in measures])

    def bottleneck(self) -> Finding | None:
        """How much of the bottleneck is used, and how long packets wait before it."""
        names = ("utilisation", "sojourn_mean_s", "sojourn_p99_s")
        if not self._has(*names):
            return None
        used, wait, p99 = map(self._told, names)
        return self._finding(
            f"The bottleneck is in use {used} of the time; packets wait {wait} before it on average, and {p99} at the 99th "
            "percentile.",
            *names,
        )

    def throughput(self) -> Finding | None:
        """What all flows get together, where there is no queue."""
        if not self._has("total_mbps"):
            return None
        if not self._has("rtt_mean_s"):
            return self._finding(f"All flows together get {self._told('total_mbps')}.", "total_mbps")
        told = f"All flows together get {self._told('total_mbps')}, at a mean round-trip time of {self._told('rtt_mean_s')}."
        return self._finding(told, "total_mbps", "rtt_mean_s")

    def rest(self) -> Finding | None:
        """Losses, fairness and completion times."""
        told = {
            "drop_pct": "{} of the packets are dropped",
            "jain": "Jain's index of the long-lived flows is {}",
            "page_load_time_mean_s": "pages load in {} on average",
            "fct_mean_s": "transfers complete in {} on average",
        }
        names = [name for name in told if self._has(name)]
        text = "; ".join(told[name].format(self._told(name)) for name in names)
        return self._finding(f"{text[0].upper()}{text[1:]}.", *names) if names else None


def _groups(found: Result) -> list[Finding]:
    """What each group of flows got, if there are several."""
    shares: list[str] = []
    told: list[str] = []
    stated: list[Stated] = []
    by_group = aspects.of_groups(found)
    names = list(dict.fromkeys(name for each in by_group.values() for name in each))
    if not names:
        return []
    for (group,), cell in estimates.of_cells(found.counted("groups"), ["flow_group"], names).items():
        wanted = by_group.get(str(group), ())
        means: Sequence[tuple[str, Estimate]] = [(name, mean) for name in wanted if (mean := cell.measured[name]) is not None]
        for name, mean in means:
            measure = Measure(METRICS[name], str(group))
            shown = words.mean(measure.metric, mean)
            if name == aspects.SHARE:
                shares.append(f"{group} has {shown}")
            else:
                told.append(f"{words.called(measure)} is {shown}")
            stated.append(Stated(measure, mean, cell.seeds))
    text = "; ".join([*([f"of all throughput, {', '.join(shares)}"] if shares else []), *told])
    return [Finding(Kind.STATE, f"{text[0].upper()}{text[1:]}.", stated=stated)] if text else []
