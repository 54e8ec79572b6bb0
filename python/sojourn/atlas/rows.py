"""What the atlas says: a row for each landmark, pair and verdict, and the queue of each pair over time."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from statistics import fmean
from typing import Any

import polars as pl

from sojourn.analysis.result import Result
from sojourn.atlas.pairs import AXES, BESIDE, Pair
from sojourn.verdicts import Answer, Judged, definitions, judge

#: The state of a verdict that cannot be asked of a pair at a landmark.
NOT_ASKED = "not asked"

#: The metrics of a run whose means a row has.
METRICS = ("utilisation", "total_mbps", "sojourn_p50_s", "sojourn_p99_s", "drop_pct", "jain")

#: Columns that tell rows apart.
PLACE = ("landmark", *AXES, "verdict")

ROWS: Mapping[str, Any] = {
    **dict.fromkeys((*PLACE, "state"), pl.String()),
    "value": pl.Float64(),
    **dict.fromkeys(("held", "seeds"), pl.Int64()),
    **dict.fromkeys((*METRICS, "own_mbps", "cubic_mbps"), pl.Float64()),
}

#: Parts of a run, of each of which a pair's curve has the mean queue.
PARTS = 60

CURVES: Mapping[str, Any] = {
    **dict.fromkeys(("landmark", *AXES), pl.String()),
    "duration_s": pl.Float64(),
    #: The time in which the link sends what is queued, in milliseconds.
    "queue_ms": pl.List(pl.Float64()),
}

#: A map of a pair's range has a row for each place that may be tried: the probability that any verdict holds there, and the names
#: of those that are likelier than not to, separated by ", ", or nothing where the pair gets along. ``key`` is the digest of what
#: the map was made of.
RANGES: Mapping[str, Any] = {
    **dict.fromkeys(("landmark", *AXES, "plane", "x_title", "y_title"), pl.String()),
    **dict.fromkeys(("x", "y", "any"), pl.Float64()),
    "holds": pl.String(),
    "runs": pl.Int64(),
    "key": pl.String(),
}


class Agreement(StrEnum):
    """How a kernel's verdict stands to the simulator's."""

    SAME = "same"
    DIFFERS = "differs"
    OPEN = "undecided"


def rows(landmark: str, result: Result, pairs: Iterable[Pair]) -> pl.DataFrame:
    """All verdicts on some pairs of a landmark's result, those that cannot be asked among them."""
    judged = {(tuple(each.cell.values()), each.definition.id): each for each in judge(result)}
    means = _means(result)
    found = []
    for pair in pairs:
        place = tuple(pair.axes.values())
        for definition in definitions():
            said = _said(judged.get((place, definition.id)))
            found.append((landmark, *place, definition.id, *said, *means[place]))
    return pl.DataFrame(found, schema=ROWS, orient="row")


def _said(judged: Judged | None) -> tuple[str, float | None, int | None, int | None]:
    if judged is None:
        return NOT_ASKED, None, None, None
    return str(judged.answer), fmean(judged.values) if judged.values else None, judged.held, judged.seeds


def _means(result: Result) -> dict[tuple[str, ...], tuple[float | None, ...]]:
    """The means of each cell's metrics, and of what a flow of the pair and one of CUBIC gets."""
    runs = result.columns("runs", ["key", *AXES, "window_s", *METRICS])
    rates = (
        result.columns("flows", ["key", "algorithm", "bytes_delivered"])
        .group_by("key")
        .agg(
            pl.col("bytes_delivered").filter(pl.col("algorithm") != BESIDE).mean().alias("own"),
            pl.col("bytes_delivered").filter(pl.col("algorithm") == BESIDE).mean().alias("cubic"),
        )
    )
    mbps = [pl.col(name) * 8e-6 / pl.col("window_s") for name in ("own", "cubic")]
    table = runs.join(rates, on="key").with_columns(*mbps).group_by(*AXES).agg(pl.col(*METRICS, "own", "cubic").mean())
    return {row[: len(AXES)]: row[len(AXES) :] for row in table.iter_rows()}


def curves(landmark: str, result: Result, pairs: Iterable[Pair]) -> pl.DataFrame:
    """The queue at the bottleneck over time of each pair's first run."""
    first = (
        result.columns("runs", ["key", *AXES, "seed", "simulated_s", "bottleneck_mbps"]).sort("seed").unique(AXES, keep="first")
    )
    link = pl.col("which").first().over("key")
    queued = (
        result.scan("series")
        .filter((pl.col("kind") == "queue") & (pl.col("measure") == "bytes"))
        .select("key", "which", "time", "value")
        .collect()
        .join(first, on="key")
        .filter(pl.col("which") == link)
        .with_columns(part=(pl.col("time") / pl.col("simulated_s") * PARTS).floor().clip(0, PARTS - 1))
        .group_by(*AXES, "simulated_s", "part")
        .agg((pl.col("value") * 8e-3 / pl.col("bottleneck_mbps")).mean().round(3).alias("queue_ms"))
        .sort("part")
        .group_by(*AXES, "simulated_s", maintain_order=True)
        .agg("queue_ms")
    )
    known = {row[: len(AXES)]: row[len(AXES) :] for row in queued.iter_rows()}
    found = [(landmark, *pair.axes.values(), *known[tuple(pair.axes.values())]) for pair in pairs]
    return pl.DataFrame(found, schema=CURVES, orient="row")


def at_border(found: pl.DataFrame) -> pl.DataFrame:
    """The cells in which a verdict is undecided, or whose value is within a tenth of its threshold: landmark and axes."""
    thresholds = pl.DataFrame(
        [(each.id, each.threshold) for each in definitions()],
        schema={"verdict": pl.String(), "threshold": pl.Float64()},
        orient="row",
    )
    near = (pl.col("threshold") > 0) & ((pl.col("value") / pl.col("threshold") - 1).abs() <= NEAR)
    return (
        found.join(thresholds, on="verdict")
        .filter((pl.col("state") == str(Answer.OPEN)) | near)
        .select("landmark", *AXES)
        .unique(maintain_order=True)
    )


#: How near to a threshold a value is at its border, as a part of the threshold.
NEAR = 0.1


def agreement(here: str, there: str | None) -> str | None:
    """How a kernel's state of a verdict stands to the simulator's; none where either was not asked."""
    decided = (str(Answer.HOLDS), str(Answer.FAILS))
    if there is None or NOT_ASKED in (here, there):
        return None
    if here not in decided or there not in decided:
        return str(Agreement.OPEN)
    return str(Agreement.SAME if here == there else Agreement.DIFFERS)
