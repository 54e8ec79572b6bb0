"""Quantities of a specification as ``ip``, ``tc`` and the guest take them."""

from sojourn.units import PICOSECONDS

NANOSECONDS = 10**9
_PICOSECONDS_IN_NANOSECOND = PICOSECONDS // NANOSECONDS


def nanoseconds(time: int) -> int:
    """A time of the specification in the kernel's unit, to the nearest."""
    return (time + _PICOSECONDS_IN_NANOSECOND // 2) // _PICOSECONDS_IN_NANOSECOND


def microseconds(time: int) -> int:
    """A time in the unit of most disciplines' settings; what is not 0 is at least 1."""
    return max(round(nanoseconds(time) / 1000), 1 if time else 0)


def milliseconds(time: int) -> int:
    """A time in ms; what is not 0 is at least 1."""
    return max(round(nanoseconds(time) / 1_000_000), 1 if time else 0)
