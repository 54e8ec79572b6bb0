"""Numbers in words and tables: how many digits a mean has, which is as many as its uncertainty leaves, and so many things."""

from collections.abc import Callable

#: Half an interval below this part of what it belongs to is as good as none: nobody reads a seventh digit.
NOTHING = 1e-5

#: Sides of an interval that differ by no more than this part of the longer do so by rounding.
ROUNDING = 1e-6


def of_interval(mean: float, *others: float, half: float) -> list[str] | None:
    """A mean and numbers beside it, the last of them half of its interval, to the place of that half.

    It has two significant digits if the first is 1 and one otherwise: rounding changes it by a fifth of itself at most, the mean
    by a quarter of it.

    Returns:
        None if the interval has no width beside any of them.
    """
    if half <= NOTHING * max(map(abs, (mean, *others))):
        return None
    to = places(half)
    return [rounded(each, to) for each in (mean, *others, half)]


def places(half: float) -> int:
    """To how many places after the point a mean has digits whose interval is half so wide; before it if negative."""
    significand, _, exponent = f"{half:e}".partition("e")
    return significand.startswith("1") - int(exponent)


def with_interval(mean: float, low: float, high: float, show: Callable[[float], str]) -> tuple[str, str]:
    """A mean, and its interval beside it: ``± 0.2``, or ``[0.8, 1.0]`` where a bound cuts one side of it off.

    ``show`` writes numbers whose interval has no width.
    """
    below, above = mean - low, high - mean
    half = max(below, above)
    shown = of_interval(mean, low, high, half=half) or [show(each) for each in (mean, low, high, half)]
    is_cut = abs(above - below) > ROUNDING * half
    return shown[0], f"[{shown[1]}, {shown[2]}]" if is_cut else f"± {shown[3]}"


def rounded(value: float, places: int) -> str:
    """A number to so many places after the point, before it if they are negative; 0 is without a sign."""
    return f"{round(value, places) + 0.0:.{max(places, 0)}f}"


def counted(number: int, what: str) -> str:
    """A number of things: ``1 run``, ``1,000 runs``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
