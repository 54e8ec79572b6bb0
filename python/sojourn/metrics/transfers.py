"""The metrics of transfers: completion time and slowdown, of all and by class of sizes; and the times of pages and requests."""

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from sojourn.metrics import formulas
from sojourn.metrics.kinds import KINDS
from sojourn.metrics.metric import MILLISECONDS, TIME_FLOOR, Better, Display, Metric

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
    kind: str = "transfer"


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


def _of(column: str, size_class: SizeClass, statistic: Statistic) -> "Callable[[Observation], float | None]":
    def compute(seen: "Observation") -> float | None:
        transfers = seen.transfers
        sizes = transfers["bytes"]
        if not len(sizes):  # Most runs have none, and are short.
            return None
        is_kind = transfers["kind"] == KINDS.index(size_class.kind)
        chosen = is_kind & (sizes > size_class.above) & (sizes <= size_class.most)
        return statistic(transfers[column][chosen], transfers["stands_for"][chosen]) if chosen.any() else None

    return compute


class _Quantity(NamedTuple):
    """Something that each transfer has a value of."""

    name: str
    unit: str
    #: In words; figures have it with a hyphen.
    title: str
    #: The column of ``transfers``.
    column: str
    decimals: int
    display: Display | None
    #: The statistics of all transfers that are main metrics.
    main: frozenset[str]
    ends: tuple[float | None, float | None]
    floor: float


_QUANTITIES = (
    _Quantity(
        "fct", "s", "completion time", "completion_time", 5, MILLISECONDS, frozenset({"mean", "p95"}), (None, None), TIME_FLOOR
    ),
    _Quantity("slowdown", "", "slowdown", "slowdown", 2, None, frozenset({"p95"}), (1, None), 0.0),
)


#: What sessions complete besides transfers: what they are called, their kind, the title of their times, and its main statistics.
_OF_SESSIONS = (
    ("pages", "page", "page load time", _QUANTITIES[0].main),
    ("requests", "request", "response time", frozenset[str]()),
    ("messages of `periodic`", "report", "message time", frozenset[str]()),
)


def metrics() -> Iterator[Metric]:
    """All of them."""
    for size_class in CLASSES:
        for statistic, quantity in itertools.product(_STATISTICS, _QUANTITIES):
            yield _of_class(size_class, statistic, quantity)
    for told, kind, title, main in _OF_SESSIONS:
        quantity = _QUANTITIES[0]._replace(name=title.replace(" ", "_"), title=title, main=main)
        for statistic in _STATISTICS:
            yield _of_class(SizeClass("", 0, float("inf"), told, kind), statistic, quantity)
    yield from map(_of_queries, _STATISTICS)
    yield _counted("transfers_completed", "transfers completed", 0, 20.0)
    yield _counted("transfers_unfinished", "transfers unfinished at the end", 0, 5.0)
    yield _counted("transfers_open", "mean number of open transfers", 2, 0.5)


def _of_class(size_class: SizeClass, name: str, quantity: _Quantity) -> Metric:
    words, symbol, statistic = _STATISTICS[name]
    among = f" of {size_class.name} transfers" if size_class.name else ""
    return Metric(
        name="_".join(filter(None, (quantity.name, size_class.name, name, quantity.unit))),
        title=f"{words} {quantity.title}{among}",
        unit=quantity.unit,
        decimals=quantity.decimals,
        figure="-".join(filter(None, (quantity.title.replace(" ", "-"), size_class.name, name))),
        definition=f"{symbol} of `{quantity.column}` over the {size_class.told} completed in the window; null without any",
        source=SOURCE if size_class.name else "",
        better=Better.LESS,
        needs="transfers",
        compute=_of(quantity.column, size_class, statistic),
        display=quantity.display,
        main=not size_class.name and name in quantity.main,
        ends=quantity.ends,
        floor=quantity.floor,
    )


def _last_answers(seen: "Observation") -> "Array":
    """How long each query took: until the last of its answers, which all began at the same moment."""
    import numpy as np

    answers = seen.transfers["query"] >= 0
    _, places = np.unique(seen.transfers["query"][answers], return_inverse=True)
    longest = np.zeros(places.max(initial=-1) + 1)
    np.maximum.at(longest, places, seen.transfers["completion_time"][answers])
    return longest


def _of_queries(name: str) -> Metric:
    words, symbol, statistic = _STATISTICS[name]

    def compute(seen: "Observation") -> float | None:
        times = _last_answers(seen)
        return statistic(times, times**0) if len(times) else None

    return Metric(
        name=f"query_time_{name}_s",
        title=f"{words} query time",
        unit="s",
        decimals=5,
        figure=f"query-time-{name}",
        definition=f"{symbol} over queries of the longest `completion_time` of their answers; a query is put to all flows of a "
        "group of two or more at the same moment, and each answers it once; null without any",
        source="Alizadeh et al., DCTCP, SIGCOMM 2010, section 4.2.1 (the query's completion is that of its last answer)",
        better=Better.LESS,
        needs="transfers",
        compute=compute,
        display=MILLISECONDS,
        floor=TIME_FLOOR,
    )


def _counted(column: str, title: str, decimals: int, floor: float) -> Metric:
    """A column of ``flows`` that counts transfers."""
    return Metric(
        name=column,
        title=title,
        decimals=decimals,
        definition=f"Σ `{column}` over flows; null without transfers",
        needs=column,
        compute=lambda seen: formulas.of_known(formulas.total, seen.flows[column]),
        floor=floor,
    )


#: Those among the main ones. Tables leave them out where no cell has transfers.
MAIN = tuple(metric.name for metric in metrics() if metric.main)
