"""The points that a chart draws, as a table: what its axes, panels, legends and tooltips call them, with intervals."""

import io
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from sojourn.figures.look import Chart

#: Columns that say where or in what order something is drawn, and nothing about it.
_DRAWN = {"place", "light"}

#: The true place of a mark that stands beside others, and where it stands.
_TRUE, _BESIDE = "x", "at"

#: What an end of an interval is called after what it is of.
_ENDS = {"_low": "95 % interval from", "_high": "95 % interval to"}


def points(chart: Chart) -> pl.DataFrame:
    """A row a point, in columns that are called as the chart calls them."""
    spec = chart.to_dict(validate=False)
    titles = dict[str, str]()
    for field, title in _named(spec):
        titles.setdefault(field, title)
    frames = [pl.read_csv(io.StringIO(text), infer_schema_length=None) for text in spec["datasets"].values()]
    rows = pl.concat(frames, how="diagonal_relaxed")
    if _BESIDE in rows.columns:
        titles[_TRUE] = titles.pop(_BESIDE)
        rows = rows.drop(_BESIDE)
    rows = rows.select(_apart(_split(rows.drop(_DRAWN, strict=False), titles)))
    numbers = [name for name in rows.columns if rows[name].dtype.is_numeric()]
    return rows.filter(pl.any_horizontal(pl.col(numbers).is_not_null())) if numbers else rows


def _named(part: Any) -> Iterator[tuple[str, str]]:
    """Fields with their titles, in the order in which a chart has them."""
    if isinstance(part, Mapping):
        field, title = part.get("field"), part.get("title")
        if isinstance(field, str) and title:
            yield field, title if isinstance(title, str) else title[-1]
        for key, inner in part.items():
            if key not in ("datasets", "data"):
                yield from _named(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _named(inner)


def _apart(columns: Iterator[pl.Expr]) -> Iterator[pl.Expr]:
    """The columns, of which those that are called like one before them have a number: an axis may be called like a metric."""
    used = Counter[str]()
    for column in columns:
        name = column.meta.output_name()
        used[name] += 1
        yield column if used[name] == 1 else column.alias(f"{name} ({used[name]})")


def _split(rows: pl.DataFrame, titles: Mapping[str, str]) -> Iterator[pl.Expr]:
    """The columns as they are called; one that shows several axes is taken apart, and one that shows none is left out."""
    for name in rows.columns:
        title = titles.get(name, "")
        axes = title.split(", ")
        labels = rows[name].drop_nulls()
        ending = next((ending for ending in _ENDS if name.endswith(ending)), None)
        if ending is not None:
            yield pl.col(name).alias(f"{titles.get(name.removesuffix(ending), title)}: {_ENDS[ending]}")
        elif labels.dtype != pl.String:
            yield pl.col(name).alias(title or name)
        elif len(axes) > 1 and labels.str.count_matches(", ", literal=True).eq(len(axes) - 1).all():
            parts = pl.col(name).str.split(", ")
            yield from (parts.list.get(place).alias(axis) for place, axis in enumerate(axes))
        elif title or labels.replace("", None).drop_nulls().len():
            yield pl.col(name).alias(title or name)
