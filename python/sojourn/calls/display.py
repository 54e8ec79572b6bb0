"""Frames as notebooks and people see them: several by their names, and metrics by their titles in the units of tables."""

from collections.abc import Iterator, Mapping
from html import escape

import polars as pl

from sojourn.metrics import METRICS


class Tables(Mapping[str, pl.DataFrame]):
    """Several frames by their names; a notebook shows one below the other, and a prompt prints them so."""

    def __init__(self, frames: Mapping[str, pl.DataFrame], heading: str = "") -> None:
        self._frames, self.heading = frames, heading

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        return "\n".join([self.heading, *(f"{name}\n{frame}" for name, frame in self.items())]).strip()

    def _repr_html_(self) -> str:
        shown = (f"<p><b>{escape(name)}</b></p>{frame._repr_html_()}" for name, frame in self.items())
        heading = "".join(f"<p>{escape(line)}</p>" for line in self.heading.splitlines())
        return f"{heading}{''.join(shown)}"


def named(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose metrics are called as tables and figures call them, and are in their units.

    ``sojourn_p99_s`` becomes ``P99 sojourn time (ms)``; ends of intervals follow theirs. Columns that are no metrics stay.
    """
    columns = []
    for name in frame.columns:
        end = next((end for end in ("_ci_low", "_ci_high") if name.endswith(end)), "")
        metric = METRICS.get(name.removesuffix(end))
        if metric is None or not frame[name].dtype.is_numeric():
            columns.append(pl.col(name))
        else:
            said = {"": "", "_ci_low": ": low", "_ci_high": ": high"}[end]
            value = pl.col(name) if metric.factor == 1 else pl.col(name) * metric.factor
            columns.append(value.alias(f"{metric.label}{said}"))
    return frame.select(columns)
