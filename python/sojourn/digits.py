"""How many digits a mean has: as many as its uncertainty leaves."""

#: Half an interval below this part of what it belongs to is as good as none: nobody reads a seventh digit.
NOTHING = 1e-5


def of_interval(mean: float, *others: float, half: float) -> list[str] | None:
    """A mean and numbers beside it, the last of them half of its interval, to the place of that half.

    It has two significant digits if the first is 1 and one otherwise: rounding changes it by a fifth of itself at most, the mean
    by a quarter of it.

    Returns:
        None if the interval has no width beside any of them.
    """
    if half <= NOTHING * max(map(abs, (mean, *others))):
        return None
    significand, _, exponent = f"{half:e}".partition("e")
    places = significand.startswith("1") - int(exponent)
    return [_rounded(each, places) for each in (mean, *others, half)]


def _rounded(value: float, places: int) -> str:
    """A number to so many places after the point, before it if they are negative; 0 is without a sign."""
    return f"{round(value, places) + 0.0:.{max(places, 0)}f}"
