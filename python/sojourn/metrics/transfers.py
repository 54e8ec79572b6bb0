"""The metrics of transfers: completion time and slowdown, of all and by class of sizes."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from sojourn.metrics import formulas
from sojourn.metrics.metric import MILLISECONDS, Metric, Scope

if TYPE_CHECKING:
    from sojourn.metrics.formulas import Array
    from sojourn.metrics.observation import Observation

#: The greatest sizes of small and of medium transfers, B. The engine thins out the transfers of each of these classes alone
#: (crates/engine/src/probe/transfers.rs).
SMALL, MEDIUM = 100_000, 10_000_000

SOURCE = "Alizadeh et al., pFabric, SIGCOMM 2013, section 5.2 (classes of sizes)"


class SizeClass(NamedTuple):
    """Transfers of more than ``above`` and at most ``most`` bytes."""

    name: str
    above: float
    most: float
    told: str


CLASSES = (
    SizeClass("", 0, float("inf"), "transfers"),
    SizeClass("small", 0, SMALL, "transfers of at most 100 kB"),
    SizeClass("medium", SMALL, MEDIUM, "transfers of more than 100 kB and at most 10 MB"),
    SizeClass("large", MEDIUM, float("inf"), "transfers of more than 10 MB"),
)

Statistic = Callable[["Array", "Array"], float]


def _quantile(share: float) -> Statistic:
    return lambda values, weights: formulas.weighted_quantile(values, weights, share)


_STATISTICS: dict[str, tuple[str, str, Statistic]] = {
    "mean": ("mean", "mean", formulas.weighted_mean),
    "p50": ("median", "p50", _quantile(0.5)),
    "p95": ("p95", "p95", _quantile(0.95)),
    "p99": ("p99", "p99", _quantile(0.99)),
}


def _of(
    values: "Callable[[Observation], Array]", size_class: SizeClass, statistic: Statistic
) -> "Callable[[Observation], float | None]":
    def compute(seen: "Observation") -> float | None:
        sizes = seen.transfer_bytes
        if not len(sizes):  # Most runs have none, and are short.
            return None
        chosen = (sizes > size_class.above) & (sizes <= size_class.most)
        return statistic(values(seen)[chosen], seen.transfer_weights[chosen]) if chosen.any() else None

    return compute


def metrics() -> Iterator[Metric]:
    """All of them."""
    for size_class in CLASSES:
        between = f"_{size_class.name}" if size_class.name else ""
        among = f" of {size_class.name} transfers" if size_class.name else ""
        figure = between.replace("_", "-")
        for name, (words, symbol, statistic) in _STATISTICS.items():
            is_main = not size_class.name and name in ("mean", "p95")
            yield Metric(
                name=f"fct{between}_{name}_s",
                title=f"{words} completion time{among}",
                scope=Scope.RUN,
                unit="s",
                decimals=5,
                figure=f"completion-time{figure}-{name}",
                definition=f"{symbol} of `completion_time` over the {size_class.told} completed in the window; null without any",
                source=SOURCE if size_class.name else "",
                compute=_of(lambda seen: seen.completion_times, size_class, statistic),
                display=MILLISECONDS,
                main=is_main,
            )
            yield Metric(
                name=f"slowdown{between}_{name}",
                title=f"{words} slowdown{among}",
                scope=Scope.RUN,
                unit="",
                decimals=2,
                figure=f"slowdown{figure}-{name}",
                definition=f"{symbol} of `slowdown` over the {size_class.told} completed in the window; null without any",
                source=SOURCE if size_class.name else "",
                compute=_of(lambda seen: seen.slowdowns, size_class, statistic),
                main=not size_class.name and name == "p95",
                ends=(1, None),
            )
    yield Metric(
        name="transfers_completed",
        title="transfers completed",
        scope=Scope.RUN,
        unit="",
        decimals=0,
        definition="Σ `transfers_completed` over flows; null without transfers",
        compute=lambda seen: formulas.total_of_known(seen.transfers_completed),
        floor=20.0,
    )
    yield Metric(
        name="transfers_unfinished",
        title="transfers unfinished at the end",
        scope=Scope.RUN,
        unit="",
        decimals=0,
        definition="Σ `transfers_unfinished` over flows; null without transfers",
        compute=lambda seen: formulas.total_of_known(seen.transfers_unfinished),
        floor=5.0,
    )
    yield Metric(
        name="transfers_open",
        title="mean number of open transfers",
        scope=Scope.RUN,
        unit="",
        decimals=2,
        definition="Σ `transfers_open` over flows; null without transfers",
        compute=lambda seen: formulas.total_of_known(seen.transfers_open),
        floor=0.5,
    )


#: Those among the main ones. Tables leave them out where no cell has transfers.
MAIN = tuple(metric.name for metric in metrics() if metric.main)
