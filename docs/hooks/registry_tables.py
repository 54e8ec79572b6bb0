"""Tables from the registries of metrics and figures, and of hooks: ``registry("metrics")`` in a page (docs/write-a-number.md)."""

from collections.abc import Callable

from made.results import ROOT
from prose import table
from sojourn import catalogue, figures
from sojourn.figures import Family
from sojourn.metrics import METRICS, Metric, Scope

#: What a metric is of, by its scope.
_OF = {
    Scope.RUN: "flows",
    Scope.GROUP: "a group of flows",
    Scope.QUEUE: "bottleneck",
}


def _metrics() -> str:
    rows = (
        [f"`{each.name}`", each.unit, _OF[each.scope], each.definition + (f" ({each.source})" if each.source else "")]
        for each in METRICS.values()
    )
    return table(("metric", "unit", "of", "definition"), rows)


def _floors() -> str:
    return table(("metric", "floor"), ([f"`{each.name}`", _floor(each)] for each in METRICS.values()))


def _floor(metric: Metric) -> str:
    if metric.fair_share_floor:
        return f"{100 * metric.fair_share_floor:g} % of the fair share"
    if not metric.floor:
        return "none"
    return f"{metric.floor:g} {'points' if metric.unit == '%' else metric.unit}".rstrip()


def _figures(family: Family) -> Callable[[], str]:
    def made() -> str:
        shown = (figure for figure in figures.available().values() if figure.family is family)
        return table(("name", "what it shows"), ([f"`{figure.name}`", figure.help] for figure in shown))

    return made


def _hooks() -> str:
    return table(("Hook", "Called"), ([f"`{each.call}`", each.called] for each in catalogue.load().hooks))


def _shown() -> str:
    shown = catalogue.load().shown.items()
    return table(("Argument", "Has"), ([f"`{name}`", ", ".join(f"`{field}`" for field in fields)] for name, fields in shown))


def _order() -> str:
    lines = (ROOT / "crates/engine/src/tcp/governor.rs").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.removeprefix("//! ") for line in lines if line.startswith("//! |"))


TABLES: dict[str, Callable[[], str]] = {
    "metrics": _metrics,
    "floors": _floors,
    "hooks": _hooks,
    "shown": _shown,
    "order": _order,
    **{f"figures, {family.lower()}": _figures(family) for family in Family},
}
