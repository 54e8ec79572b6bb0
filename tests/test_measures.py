import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sojourn
from conftest import scenario_data
from sojourn.analysis import summary
from sojourn.analysis.result import Result
from sojourn.backends.result import check_finite
from sojourn.errors import RunFailed
from sojourn.metrics import METRICS, Metric, formulas
from sojourn.scenario import Scenario
from sojourn.statistics import compare, estimate, half_widths, quantiles, share, warm_up

shares = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=50)


def test_throughput() -> None:
    """Throughput is payload over the measuring window."""
    assert formulas.throughput_mbps([1_250_000, 0], 10).tolist() == [1.0, 0.0]


def test_quantiles_interpolate() -> None:
    """Quantiles interpolate linearly between values."""
    values = [4.0, 1.0, 3.0, 2.0]
    assert [formulas.quantile(values, share) for share in (0.25, 0.5, 0.75)] == [1.75, 2.5, 3.25]


@given(shares, st.floats(0, 1))
def test_quantile_is_numpy(values: list[float], share: float) -> None:
    """A quantile has the bits of numpy's."""
    assert formulas.quantile(values, share) == float(np.quantile(np.array(values), share))


def test_sample_deviation() -> None:
    """The standard deviation is that of a sample (n - 1), and needs two values."""
    assert formulas.standard_deviation([1.0, 2.0, 3.0]) == pytest.approx(1.0)
    assert formulas.standard_deviation([1.0]) is None


def test_jain_of_known_shares() -> None:
    """Jain's index is 1 for equal shares and 1/n if one flow has all."""
    assert formulas.jain([1, 1, 1, 1]) == 1
    assert formulas.jain([1, 0, 0, 0]) == 0.25
    assert formulas.jain([0, 0]) is None


@given(shares, st.floats(0.01, 100))
def test_jain_bounds_and_scaling(values: list[float], factor: float) -> None:
    """Jain's index is between 1/n and 1 and does not change with the unit."""
    index = formulas.jain(values)
    assert index is not None
    assert 1 / len(values) - 1e-9 <= index <= 1 + 1e-9
    assert formulas.jain([factor * value for value in values]) == pytest.approx(index)


@given(st.lists(st.floats(0.001, 1e6), min_size=2, max_size=50))
def test_jain_from_variation(values: list[float]) -> None:
    """Jain's index is 1 / (1 + v^2), where v is the coefficient of variation."""
    variance = sum((value - formulas.mean(values)) ** 2 for value in values) / len(values)
    assert formulas.jain(values) == pytest.approx(1 / (1 + variance / formulas.mean(values) ** 2))


@pytest.mark.parametrize("values", [[math.nan], [1.0, math.inf], [None, -math.inf, math.inf]])
def test_kept_values_are_finite(values: list[float | None]) -> None:
    """A backend or a metric that gives infinity or no number fails its run, by name; null, zero and large values are kept."""
    check_finite({"rtt": [None, 0.0, 1e300, -1e300], "jain": []})
    with pytest.raises(RunFailed, match="broken invariant: rtt: not a finite number"):
        check_finite({"jain": [1.0], "rtt": values})


def test_percentage() -> None:
    """A percentage of zero is none."""
    assert formulas.percentage(1, 8) == 12.5
    assert formulas.percentage(0, 0) is None


def test_student_interval() -> None:
    """The interval of a mean is Student's, and one value has none."""
    found = estimate([1.0, 2.0, 3.0])
    half = 4.302652729749462 / math.sqrt(3)  # the table's t for 2 degrees of freedom at 97.5 %, times s / sqrt(n)
    assert found == pytest.approx((2.0, 2.0 - half, 2.0 + half))
    assert estimate([5.0]) == (5.0, None, None)
    with pytest.raises(ValueError, match="no values"):
        estimate([])


CONFIDENCES = (0.5, 0.9, 0.95, 0.99, 0.999)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_student_quantiles(confidence: float) -> None:
    """Quantiles of Student's t are SciPy's, from one to a million degrees of freedom; those of one and two have closed forms.

    SciPy's own have an error of 5e-11 in its version 1.15.
    """
    from scipy import special

    degrees = np.array([*range(1, 200), 250, 999, 1000, 4999, 5000, 5001, 12_345, 1e5, 1e6])
    counts = degrees + 1
    found = half_widths(np.sqrt(counts), counts, confidence)
    assert found == pytest.approx(special.stdtrit(degrees, (1 + confidence) / 2), rel=1e-9)
    both = math.tan(math.pi * confidence / 2), confidence * math.sqrt(2 / (1 - confidence**2))
    assert found[:2].tolist() == pytest.approx(both, rel=1e-11)
    assert np.isnan(half_widths(np.array([1.0, math.nan]), np.array([1.0, math.nan]))).all()


@pytest.mark.parametrize(
    ("confidence", "published"),
    [(0.95, {1: 12.706, 5: 2.571, 10: 2.228, 30: 2.042, 100: 1.984}), (0.99, {1: 63.657, 5: 4.032, 30: 2.750, 100: 2.626})],
)
def test_published_student_quantiles(confidence: float, published: dict[int, float]) -> None:
    """Quantiles of Student's t are those of the table in NIST's Engineering Statistics Handbook, section 1.3.6.7.2."""
    for degrees, value in published.items():
        counts = np.array([degrees + 1.0])
        assert half_widths(np.sqrt(counts), counts, confidence) == pytest.approx([value], abs=5.1e-4)


@given(st.integers(1, 40), st.data())
def test_ends_of_a_share(of: int, data: st.DataObject) -> None:
    """At either end of Clopper and Pearson's interval, what was seen or more, or less, has a probability of 2.5 %."""
    times = data.draw(st.integers(0, of))
    found = share(times, of)

    def probability(end: float, outcomes: Sequence[int]) -> float:
        p = Fraction(end)
        return float(sum(math.comb(of, each) * p**each * (1 - p) ** (of - each) for each in outcomes))

    assert times == 0 or probability(found.low or 0, range(times, of + 1)) == pytest.approx(0.025, rel=1e-10)
    assert times == of or probability(found.high or 0, range(times + 1)) == pytest.approx(0.025, rel=1e-10)


@pytest.mark.parametrize("of", [1, 2, 10, 240, 5000, 100_000, 1_000_000])
def test_shares_of_many(of: int) -> None:
    """Clopper and Pearson's interval is SciPy's, for shares of up to a million."""
    from scipy import stats

    for times in sorted({*range(min(of, 5)), of // 10, of // 3, of // 2, of - of // 10, of - 1, of}):
        for confidence in CONFIDENCES:
            interval = stats.binomtest(times, of).proportion_ci(confidence)
            ends = (interval.low, interval.high)
            assert share(times, of, confidence)[1:] == pytest.approx(ends, rel=1e-9), (times, confidence)


def test_intervals_end_at_bounds() -> None:
    """The interval of 0.9 and 1.0, 0.95 ± 12.7 * 0.05, ends at the bounds of an index, and contains its mean as often."""
    found = estimate([0.9, 1.0])
    assert found.within(0, 1)[:2] == pytest.approx((0.95, 0.95 - 12.7062 * 0.05))
    assert found.within(0, 1).high == 1
    assert found.within(None, None) == found
    assert estimate([0.2, 0.9]).within(0, 1)[1:] == (0.0, 1.0)
    # A mean outside, by rounding, stays in its interval, and the longer side is half of it.
    beyond = estimate([1.0 + 1e-15, 1.0 + 2e-15]).within(0, 1)
    assert beyond.low is not None
    assert beyond.high is not None
    assert beyond.low <= beyond.mean <= beyond.high
    assert found.within(0, 1).half == pytest.approx(12.7062 * 0.05)
    assert estimate([1.0]).within(0, 1) == (1.0, None, None)
    # Whatever is estimated lies within its bounds, so that both intervals contain it equally often.
    chance = random.Random(1)
    for _ in range(500):
        whole = estimate([chance.betavariate(8, 1) for _ in range(5)])
        inside = whole.within(0, 1)
        contains = [each.low <= 8 / 9 <= each.high for each in (whole, inside) if each.low is not None and each.high is not None]
        assert len(contains) == 2
        assert contains[0] == contains[1]


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_bounds_of_metrics(metric: Metric) -> None:
    """Bounds are of what a metric can be: at least 0, percentages to 100, indices and scores to their greatest value."""
    least, greatest = metric.bounds
    assert least is not None
    assert least >= 0
    if metric.unit == "%" or metric.name.startswith("jain") or metric.name in ("utilisation", "mos", "mos_least"):
        assert greatest is not None


def test_paired_comparison() -> None:
    """Differences 1, 2, 3: Student's interval, and the exact p of three ranks of one sign, 2 of 2^3 outcomes."""
    found = compare([10.0, 20.0, 30.0], [11.0, 22.0, 33.0])
    half = 4.302652729749462 / math.sqrt(3)
    assert (found.pairs, found.first, found.second) == (3, 20.0, 22.0)
    assert found.difference == pytest.approx((2.0, 2.0 - half, 2.0 + half))
    assert found.p == pytest.approx(2 / 2**3)


def test_comparison_edge_cases() -> None:
    """Equal values give p = 1, one pair gives no p, and lists of different lengths are an error."""
    assert compare([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p == 1.0
    assert compare([1.0], [2.0]) == (1, 1.0, 2.0, (1.0, None, None), None)
    with pytest.raises(ValueError, match="2 values cannot be paired with 1"):
        compare([1.0, 2.0], [1.0])


def test_wilcoxon_example() -> None:
    """Darwin's maize, the example in scipy's manual of the Wilcoxon test: T = 24 and p = 0.0413."""
    differences = [6.0, 8.0, 14.0, 16.0, 23.0, 24.0, 28.0, 29.0, 41.0, -48.0, 49.0, 56.0, 60.0, -67.0, 75.0]
    assert compare([0.0] * 15, differences).p == pytest.approx(0.0413, abs=5e-5)


@pytest.mark.parametrize("pairs", [2, 3, 6, 13, 14, 50, 51, 240])
@pytest.mark.parametrize("kind", ["all different", "one zero", "ties", "zeros", "one sign"])
def test_wilcoxon_is_scipys(kind: str, pairs: int) -> None:
    """The p of paired values is SciPy's: exact for few, with ties and zeros too, and approximate for many."""
    from scipy import stats

    chance = random.Random(pairs)
    differences = [chance.gauss(0.3, 1) for _ in range(pairs)]
    if kind == "one zero":
        differences[0] = 0.0
    elif kind == "ties":
        differences = [float(chance.choice([-2, -1, 1, 2, 3])) for _ in range(pairs)]
    elif kind == "zeros":
        differences = [1.0, *(float(chance.choice([-1, 0, 0, 1])) for _ in range(pairs - 1))]
    elif kind == "one sign":
        differences = [abs(each) for each in differences]
    assert compare([0.0] * pairs, differences).p == pytest.approx(stats.wilcoxon(differences).pvalue, rel=1e-10)


@pytest.mark.parametrize(("pairs", "critical"), [(6, 0), (10, 8), (20, 52), (30, 137), (50, 434)])
def test_published_wilcoxon_values(pairs: int, critical: int) -> None:
    """The largest sum of ranks whose p is at most 5 %.

    Source: McCornack, "Extended tables of the Wilcoxon matched pair signed rank statistic", JASA 60(311), 1965.
    """

    def p(smaller_sum: int) -> float | None:
        left, signs = smaller_sum, []
        for rank in range(pairs, 0, -1):
            signs.append(-rank if rank <= left else rank)
            left -= rank if rank <= left else 0
        return compare([0.0] * pairs, [float(each) for each in signs]).p

    assert (p(critical) or 0) <= 0.05 < (p(critical + 1) or 0)


def test_statistics_quantiles() -> None:
    """The quantiles of `statistics` interpolate linearly, too."""
    assert quantiles([4.0, 1.0, 3.0, 2.0], [0.25, 0.5, 0.75]) == [1.75, 2.5, 3.25]


@given(st.lists(st.floats(-1e3, 1e3), min_size=10, max_size=120))
def test_warm_up_is_mser5(values: list[float]) -> None:
    """The warm-up minimises the standard error of the rest (MSER-5; White, 1997), computed here as defined."""
    means = [sum(values[start : start + 5]) / 5 for start in range(0, len(values) - 4, 5)]

    def error(left_out: int) -> float:
        rest = means[left_out:]
        return sum((value - sum(rest) / len(rest)) ** 2 for value in rest) / len(rest) ** 2

    found = warm_up(values)
    least = min(error(left_out) for left_out in range(max(1, len(means) - 5)))
    if found is not None:
        assert found % 5 == 0
        assert found // 5 <= len(means) // 2
        assert error(found // 5) == pytest.approx(least, abs=1e-6)


def test_warm_up_examples() -> None:
    """A transient is cut off exactly; a trend or too few values have no warm-up."""
    wave = [1.0 if index % 2 else -1.0 for index in range(200)]
    assert warm_up(wave) == 0
    assert warm_up([50.0] * 30 + wave) == 30
    assert warm_up([50.3] * 30 + [1.7] * 200) == 30
    assert warm_up([0.1] * 200) == 0
    assert warm_up([50.0] * 30 + wave + [3.0] * 15) == 30, "values that are equal at the end by chance"
    assert warm_up([float(index) for index in range(200)]) is None
    assert warm_up([1.0] * 9) is None


def test_throughput_above_the_rate_is_explained(scenario: Callable[..., Scenario]) -> None:
    """Data that wait behind a gap as the window opens make more throughput than the link's rate; a note says so, with the share.

    In the opposite direction and in a window without such a gap nothing is said.
    """
    data = scenario_data()
    network = data["network"]
    network["dumbbell"]["bottleneck"] |= {"delay": "50 ms", "drop": {"listed": [1500]}}

    def run(warm_up: float, duration: float, flows: list[dict[str, str]]) -> Result:
        probe = {"flow_series": "10 ms"}
        times = {"warm_up": f"{warm_up:g} s", "duration": f"{duration:g} s"}
        return sojourn.run(scenario(network=network, flows=flows, probe=probe, **times))

    alone = [{"from": "a", "to": "b", "tcp": "newreno"}]
    series = run(0, 5, alone).series.filter(which="0")
    received, delivered = (series.filter(measure=measure) for measure in ("bytes_received", "bytes_delivered"))
    behind_gap = received.with_columns(pl.col("value") - delivered["value"]).sort("value")[-1]
    opens = round(behind_gap["time"].item(), 2)
    found = run(opens, opens + 0.3, alone)
    share = 100 * found.runs["total_mbps"].item() / 10
    assert share > 100
    assert found.excess is not None
    assert found.excess.startswith(f"Throughput over the bottleneck is up to {share:.3g} % of its 10 Mbit/s: ")
    assert found.excess in summary.text(found).replace("\n", " ")
    assert run(0, 5, alone).excess is None
    both = run(0, 5, [*alone, {"from": "b", "to": "a", "tcp": "newreno"}])
    assert both.runs["total_mbps"].item() > 10
    assert both.excess is None
