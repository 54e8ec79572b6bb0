import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn import measures
from sojourn.statistics import estimate

shares = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=50)


def test_throughput_is_payload_over_the_window() -> None:
    assert measures.throughput_mbps([1_250_000, 0], 10).tolist() == [1.0, 0.0]


def test_quantiles_interpolate_linearly() -> None:
    values = [4.0, 1.0, 3.0, 2.0]
    assert [measures.quantile(values, share) for share in (0.25, 0.5, 0.75)] == [1.75, 2.5, 3.25]


def test_the_deviation_is_the_samples() -> None:
    assert measures.standard_deviation([1.0, 2.0, 3.0]) == pytest.approx(1.0)
    assert measures.standard_deviation([1.0]) is None


def test_jain_of_known_shares() -> None:
    assert measures.jain([1, 1, 1, 1]) == 1
    assert measures.jain([1, 0, 0, 0]) == 0.25
    assert measures.jain([0, 0]) is None


@given(shares, st.floats(0.01, 100))
def test_jain_is_bounded_and_has_no_unit(values: list[float], factor: float) -> None:
    index = measures.jain(values)
    assert index is not None
    assert 1 / len(values) - 1e-9 <= index <= 1 + 1e-9
    assert measures.jain([factor * value for value in values]) == pytest.approx(index)


@given(st.lists(st.floats(0.001, 1e6), min_size=2, max_size=50))
def test_jain_is_told_by_the_coefficient_of_variation(values: list[float]) -> None:
    variance = sum((value - measures.mean(values)) ** 2 for value in values) / len(values)
    assert measures.jain(values) == pytest.approx(1 / (1 + variance / measures.mean(values) ** 2))


def test_percentage_of_nothing_is_none() -> None:
    assert measures.percentage(1, 8) == 12.5
    assert measures.percentage(0, 0) is None


def test_the_interval_is_students() -> None:
    found = estimate([1.0, 2.0, 3.0])
    half = 4.302652729911275 / math.sqrt(3)  # the table's t for 2 degrees of freedom at 97.5 %, times s / sqrt(n)
    assert found == pytest.approx((2.0, 2.0 - half, 2.0 + half))
    assert estimate([5.0]) == (5.0, None, None)
    with pytest.raises(ValueError, match="no values"):
        estimate([])
