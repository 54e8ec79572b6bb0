"""Where two algorithms part: the rows of a sequence of events that show it."""

from dataclasses import dataclass

import polars as pl

#: The events that divide a sequence into stretches.
DIVIDING = ("loss", "mark", "timeout", "restart")

#: A difference of windows up to this many segments, or up to this part of the window, is none: Linux counts whole segments.
LEAST, PART = 1.0, 0.01


@dataclass(frozen=True)
class Parting:
    """How two algorithms differ in a sequence."""

    #: The first event after which they differ; none if they never do.
    first: int | None
    #: The part of events after which they do.
    share: float
    #: The mean and the greatest difference of the windows over Linux's, as a part of it.
    mean: float
    most: float
    #: All rows, with the columns ``difference`` of the windows, as a part of Linux's, and ``parts``, whether they differ.
    all: pl.DataFrame
    #: The rows that show it: of each stretch the first, the first after which they differ, and that of the greatest difference.
    rows: pl.DataFrame

    @property
    def events(self) -> int:
        """How many events there are."""
        return self.all.height


def parting(events: pl.DataFrame) -> Parting:
    """Where, and by how much, our window and Linux's part."""
    gap = pl.col("ours_cwnd") - pl.col("linux_cwnd")
    rows = events.with_columns(
        difference=gap / pl.col("linux_cwnd"),
        parts=(gap.abs() > LEAST) & (gap.abs() > PART * pl.col("linux_cwnd")),
        stretch=pl.col("kind").is_in(DIVIDING).cum_sum(),
    )
    apart = rows.filter("parts")
    size = pl.col("difference").abs()
    of_stretch = apart.group_by("stretch", maintain_order=True)
    first = of_stretch.agg(pl.col("event").first())["event"]
    most = of_stretch.agg(pl.col("event").get(size.arg_max()))["event"]
    shown = {*rows.filter(pl.col("kind").is_in(DIVIDING))["event"], *first, *most}
    return Parting(
        first=apart["event"][0] if apart.height else None,
        share=apart.height / max(1, rows.height),
        mean=_number(rows.select(size.mean()).item()),
        most=_number(rows.select(size.max()).item()),
        all=rows.drop("stretch"),
        rows=rows.filter(pl.col("event").is_in(sorted(shown))).drop("stretch"),
    )


def _number(value: float | None) -> float:
    return 0.0 if value is None else float(value)
