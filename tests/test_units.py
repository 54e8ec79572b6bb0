import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn import units
from sojourn.units import DURATION, PACKETS, RATE, SIZE, BandwidthDelayProducts, QueueLimit, parse_queue_limit

DIMENSIONS = [DURATION, RATE, SIZE, PACKETS]


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (DURATION, "2 ms", 2_000_000_000),
        (DURATION, "0.1 ms", 100_000_000),  # not 99 999 999, as with binary fractions
        (DURATION, "1e-3 s", 10**9),
        (DURATION, "10 µs", 10**7),
        (DURATION, " 3s ", 3 * 10**12),
        (RATE, "100 Mbit/s", 10**8),
        (RATE, "1.5 Gbit/s", 1_500_000_000),
        (SIZE, "64 KiB", 65536),
        (SIZE, "1500 B", 1500),
        (PACKETS, "1 packet", 1),
    ],
)
def test_exact_quantities(dimension: units.Dimension, text: str, value: int) -> None:
    """Quantities are read exactly, without binary rounding."""
    assert dimension.parse(text) == value


@given(st.sampled_from(DIMENSIONS), st.integers(-units.LARGEST, units.LARGEST))
def test_format_and_parse(dimension: units.Dimension, value: int) -> None:
    """Any value that is written is read back the same."""
    assert dimension.parse(dimension.format(value)) == value


@given(st.sampled_from(DIMENSIONS), st.data(), st.decimals(min_value=-(10**6), max_value=10**6, places=3))
def test_decimal_arithmetic(dimension: units.Dimension, data: st.DataObject, number: Decimal) -> None:
    """A quantity is the decimal product of number and unit, or an error if that is not a whole number."""
    unit, factor = data.draw(st.sampled_from(sorted(dimension.units.items())))
    exact = number * factor
    if exact == exact.to_integral_value():
        assert dimension.parse(f"{number} {unit}") == exact
    else:
        with pytest.raises(ValueError, match="not a whole number"):
            dimension.parse(f"{number} {unit}")


@given(st.sampled_from(DIMENSIONS), st.text())
def test_arbitrary_text(dimension: units.Dimension, text: str) -> None:
    """Any text is a whole number or a ValueError, never another exception."""
    with contextlib.suppress(ValueError):  # and no other kind of exception
        assert isinstance(dimension.parse(text), int)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("100 Mbps", 'unknown unit "Mbps", did you mean "Mbit/s"'),
        ("100", "no unit"),
        (100, "no unit"),
        ("fast", "is not a rate"),
        ("0.5 bit/s", "not a whole number of bit/s"),
        ("1e30 Gbit/s", "too large"),
        ("nan bit/s", "is not a rate"),
        ("٣ Mbit/s", '^"٣ Mbit/s" is not a rate; write a number and a unit, such as "100 Mbit/s"$'),
        ("1e٣ bit/s", "is not a rate|unknown unit"),
    ],
)
def test_bad_rates(text: object, message: str) -> None:
    """The error of a wrong rate says what is wrong."""
    with pytest.raises(ValueError, match=message):
        RATE.parse(text)


def test_queue_limits() -> None:
    """Queue limits are read in packets or bytes."""
    assert parse_queue_limit("900 packets") == QueueLimit(900, "packets")
    assert parse_queue_limit("64 KiB") == QueueLimit(65536, "bytes")


def test_bandwidth_delay_products() -> None:
    """Limits in BDP are decimal numbers of bandwidth-delay products."""
    assert parse_queue_limit("8 BDP") == BandwidthDelayProducts(Decimal(8))
    assert parse_queue_limit("0.5 BDP") == BandwidthDelayProducts(Decimal("0.5"))


@pytest.mark.parametrize("text", ["0 packets", "-3 packets", "0 B", "5 ms", "1.5 packets", "0 BDP", "-1 BDP", "1 bdp", 900])
def test_bad_queue_limits(text: object) -> None:
    """Limits that are not positive, not whole or in another unit are errors."""
    with pytest.raises(ValueError, match=r"packets|bytes|unit|BDP"):
        parse_queue_limit(text)


@pytest.mark.parametrize(
    ("picoseconds", "shown"),
    [(0, "0 s"), (1_200_000_000, "1200 us"), (2_101_776_000, "2.102 ms"), (1_234_567, "1.235 us"), (3 * 10**12, "3 s")],
)
def test_durations_for_people(picoseconds: int, shown: str) -> None:
    """A duration that takes more than four digits is shown with four significant ones."""
    assert DURATION.approximate(picoseconds) == shown
