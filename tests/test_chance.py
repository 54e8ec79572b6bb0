"""Noise told from difference: where a published value lies among what our own seeds give."""

import random
from math import sqrt

import pytest

import sojourn
from doubles import RatePerAlgorithm
from sojourn.statistics import prediction
from sojourn.study.cells import Agreement, self_agreement

ONLY = {"scenario": "DC", "load": "MC", "tcp": "mixed", "queue": "pie"}


@pytest.mark.parametrize("known", [2, 3, 10])
def test_prediction_covers_further_value(known: int) -> None:
    """Of independent normal values, one more lies in the interval of those before it in 95 % of all cases."""
    chance, cases = random.Random(known), 4000
    inside = 0
    for _ in range(cases):
        *values, further = (chance.gauss(7, 2) for _ in range(known + 1))
        low, high = prediction(values) or (0.0, 0.0)
        inside += low <= further <= high
    assert inside / cases == pytest.approx(0.95, abs=4 * sqrt(0.05 * 0.95 / cases))


def test_prediction_needs_two_values() -> None:
    """A single value tells nothing of a further one."""
    assert prediction([1.0]) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([100.0], None),
        ([100.0, 114.0], 1.0),  # 14 is within 15 % of either
        ([100.0, 117.0], 0.5),  # 17 is within 15 % of 117 only
        ([100.0, 100.0, 130.0], 2 / 3),  # 130 is not within 15 % of 100; 100 is of 115
        ([1.0, 5.0], 1.0),  # within the floor of 5 packets
    ],
)
def test_self_agreement(values: list[float], expected: float | None) -> None:
    """A seed agrees with the others by the rule for published values, with the mean of the others in the place of these."""
    assert self_agreement("queue_mean_pkts", values, 1.0) == expected


def test_difference_beyond_chance() -> None:
    """A value that does not agree is beyond chance if it is outside the interval of one more seed, and this is counted."""
    found = sojourn.reproduce("piotrowska", 3, only=ONLY, backend=RatePerAlgorithm())
    cells = {(cell.published.algorithm, cell.published.metric): cell for cell in found.comparison}
    # New Reno's flows have 1, 2 and 3 Mbit/s, so one more has 2 ± 4.30 * sqrt(4/3), from 0 on; published are 9.85.
    newreno = cells["newreno", "avg_mbps"]
    assert newreno.one_seed == pytest.approx((0, 2 + 4.302652729749462 * sqrt(4 / 3)))
    assert (newreno.agrees, newreno.beyond_chance) == (False, True)
    # CUBIC's have 3, 6 and 9; published are 13.
    cubic = cells["cubic", "avg_mbps"]
    assert (cubic.agrees, cubic.beyond_chance) == (False, False)
    assert cubic.self_agreement == pytest.approx(1 / 3)  # 6 is the mean of 3 and 9
    counted = Agreement.of(found.comparison)
    assert counted.beyond_chance == sum(bool(cell.beyond_chance) for cell in found.comparison)
    assert 0 < counted.beyond_chance < counted.total - counted.agreeing


def test_one_seed_tells_no_chance() -> None:
    """With one seed, or seeds that change nothing, nothing is said of chance."""
    found = sojourn.reproduce("piotrowska", only=ONLY, backend=RatePerAlgorithm())
    assert {(cell.beyond_chance, cell.self_agreement) for cell in found.comparison} == {(None, None)}
    assert Agreement.of(found.comparison).ceiling is None
