"""Which names an axis may have beside the columns that a frame has anyway."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache

from sojourn import names
from sojourn.analysis.estimates import SEEDS, ends
from sojourn.analysis.frames import EVERY, columns
from sojourn.errors import InputError
from sojourn.metrics import METRICS
from sojourn.names import GROUP


def check_axes(axes: Sequence[str], known: Iterable[str] = ()) -> None:
    """Checks that axes can be columns, beside those of earlier campaigns; SQL does not tell upper from lower case."""
    spellings = {axis.casefold(): axis for axis in known}
    for axis in axes:
        fault = names.fault(axis) or _unusable(axis)
        if fault is not None:
            raise InputError(f"axis {json.dumps(axis, ensure_ascii=False)}: the name {fault}; rename the axis")
        if axis.casefold() == GROUP:
            raise InputError(f'axis "{axis}": --only {GROUP}=... selects groups of flows by this name; rename the axis')
        if axis.casefold() in _taken():
            raise InputError(f'axis "{axis}": the results have a column of that name; rename the axis')
        other = spellings.setdefault(axis.casefold(), axis)
        if other != axis:
            raise InputError(f'axis "{axis}": the results have an axis "{other}", and SQL ignores case; rename the axis')


@cache
def _taken() -> frozenset[str]:
    own = (column for frame in EVERY for column in columns(frame))
    of_tables = (SEEDS, *(end for name in METRICS for end in ends(name)))
    # The last is DuckDB's own of a Parquet file.
    return frozenset((*(name.casefold() for name in ("key", "seed", *own)), *of_tables, "file_row_number"))


def _unusable(axis: str) -> str | None:
    if "=" in axis:
        return 'has "=", which ends it in AXIS=VALUE'
    if axis == "*" or re.fullmatch(r"\^.*\$", axis):
        return "is a pattern of column names in polars"
    return None
