"""Tables of metrics, columns, figures and hooks from their registries: ``registry("hooks")`` in a page (write-a-number.md)."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

from commands_table import commands
from made.results import ROOT
from prose import table
from sojourn import catalogue, figures, verdicts
from sojourn.analysis import frames
from sojourn.backends.columns import COLUMNS, Column
from sojourn.figures import Family
from sojourn.metrics import METRICS, Metric, Scope
from sojourn.metrics.metric import MILLISECONDS
from sojourn.scenario import agents

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


#: What the metrics among the columns of a frame are taken over.
_OVER = {
    "runs": "over all flows; without those of a group of flows",
    "groups": "over the flows of the group; without those of the bottleneck",
}


def _columns(frame: str) -> str:
    def told(column: Column) -> tuple[str, str]:
        is_metric = frame in _OVER and column.name in METRICS
        return ("", _OVER[frame]) if is_metric else (column.unit, column.meaning.replace("|", "\\|"))

    def rows() -> Iterator[tuple[str, str, str]]:
        for (unit, meaning), columns in groupby(frames.found(frame), told):
            names = ", ".join(f"`{column.name}`" for column in columns)
            yield "the metrics below" if meaning == _OVER.get(frame) else names, unit, meaning

    return table(("column", "unit", "definition"), rows())


def _verdicts() -> str:
    rows = ([f"`{each.id}`", f"{each.tells} {each.bound}", f"{each.reason} ({each.source})"] for each in verdicts.definitions())
    return table(("verdict", "holds if", "why"), rows)


def _measures() -> str:
    rows = (
        [f"`{column.name}`", kind, column.unit, column.meaning]
        for kind in ("queue", "flow")
        for column in COLUMNS[f"{kind}_series"]
        if column.name not in ("time", "link", "flow")
    )
    return table(("measure", "of", "unit", "definition"), rows)


def _floors() -> str:
    return table(("metric", "floor"), ([f"`{each.name}`", _floor(each)] for each in METRICS.values()))


def _floor(metric: Metric) -> str:
    if metric.fair_share_floor:
        return f"{100 * metric.fair_share_floor:g} % of the fair share"
    if not metric.floor:
        return "none"
    if metric.display is MILLISECONDS:
        return f"{metric.floor * metric.factor:g} ms"
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


def _features() -> str:
    def fields(shown: str) -> str:
        return ", ".join(f"`{field}`" if field.startswith("tcpi") else field for field in shown.split(", "))

    rows = (
        [
            f"`{each['name']}`",
            each["of"],
            each["unit"],
            f"{each['least']:g} to {each['most']:g}",
            f"{each['scale']:g}",
            each["meaning"],
            fields(each["tcp_info"]),
        ]
        for each in _entries("features")
    )
    return table(("feature", "of", "unit", "bounds", "scale", "definition", "shown by tcp_info"), rows)


def _actions() -> str:
    rows = ([*_named(each, "meaning"), each["source"]] for each in _entries("actions"))
    return table(("action", "of", "what it sets", "parameters", "source"), rows)


def _rewards() -> str:
    rows = ([*_named(each, "formula"), each["source"]] for each in _entries("rewards"))
    return table(("reward", "of", "formula", "parameters", "source"), rows)


def _state_of_agents() -> str:
    rows = (
        [f"`{each['name']}`", of, each["unit"], each["doc"]]
        for of, listed in agents.registry()["state"].items()
        for each in listed
    )
    return table(("value", "of", "unit", "definition"), rows)


def _entries(kind: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = agents.registry()[kind]
    return listed


def _named(each: dict[str, Any], what: str) -> list[str]:
    parameters = (
        f"`{parameter['name']}` = {_escaped(agents.default_of(parameter))}: {parameter['doc']}"
        for parameter in each["parameters"]
    )
    return [f"`{each['name']}`", each["of"], _escaped(each[what]), "; ".join(parameters)]


def _escaped(words: str) -> str:
    return words.replace("|", "\\|").replace("*", "\\*")


def _terms() -> str:
    return table(
        ("term", "unit", "definition"), ([f"`{each['name']}`", each["unit"], each["meaning"]] for each in _entries("terms"))
    )


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "metrics": _metrics,
    "floors": _floors,
    **{f"columns of {frame}": partial(_columns, frame) for frame in frames.EVERY},
    "measures": _measures,
    "verdicts": _verdicts,
    "hooks": _hooks,
    "shown": _shown,
    "order": _order,
    "features": _features,
    "actions": _actions,
    "rewards": _rewards,
    "terms": _terms,
    "state of agents": _state_of_agents,
    **{f"figures, {family.lower()}": _figures(family) for family in Family},
}
