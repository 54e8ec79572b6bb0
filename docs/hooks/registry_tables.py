"""Tables of docs/ that come from the registries of metrics and figures, between ``<!-- table: NAME -->`` and ``<!-- end -->``.

The site writes them when it is built. They are committed as well, for readers of the files:
``python docs/hooks/registry_tables.py`` writes them there, and a test fails until it has been run.
"""

import re
from collections.abc import Callable
from pathlib import Path

from prose import table
from sojourn import figures
from sojourn.figures import Family
from sojourn.metrics import METRICS, Metric, Scope

DOCS = Path(__file__).parents[1]

#: The files that have such tables.
PAGES = ("measures.md", "figures.md")

_TABLE = re.compile(r"(?P<begin><!-- table: (?P<name>[^>]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)

#: What a metric is of, by its scope.
_OF = {
    Scope.RUN: "flows",
    Scope.GROUP: "a group of flows",
    Scope.FLOW: "a flow",
    Scope.QUEUE: "bottleneck",
}


def written(text: str) -> str:
    """A page with its tables as the registries are now."""
    return _TABLE.sub(lambda found: f"{found['begin']}{TABLES[found['name']]()}\n{found['end']}", text)


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


TABLES: dict[str, Callable[[], str]] = {
    "metrics": _metrics,
    "floors": _floors,
    **{f"figures, {family.lower()}": _figures(family) for family in Family},
}


if __name__ == "__main__":
    for page in PAGES:
        path = DOCS / page
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
