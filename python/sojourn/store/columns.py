"""Which names an axis may have beside the columns that a frame has anyway."""

from collections.abc import Iterable, Sequence

from sojourn.errors import InputError
from sojourn.results import GROUP, NAMES, columns


def check_axes(axes: Sequence[str], known: Iterable[str] = ()) -> None:
    """Sees to it that axes can be columns, beside those of earlier campaigns; SQL does not tell upper from lower case.

    Raises:
        InputError: one cannot.
    """
    taken = {name.casefold() for name in ("key", "seed", *(column for frame in NAMES for column in columns(frame)))}
    spellings = {axis.casefold(): axis for axis in known}
    for axis in axes:
        if axis.casefold() == GROUP:
            raise InputError(f'axis "{axis}": --only {GROUP}=... selects groups of flows by this name; rename the axis')
        if axis.casefold() in taken:
            raise InputError(f'axis "{axis}": the results have a column of that name; rename the axis')
        other = spellings.setdefault(axis.casefold(), axis)
        if other != axis:
            raise InputError(f'axis "{axis}": the results have an axis "{other}", and SQL ignores case; rename the axis')
