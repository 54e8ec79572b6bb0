"""Lists of what there is: algorithms, video rules, profiles, studies, suites, metrics, figures, and what agents see and set."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sojourn.errors import InputError
from sojourn.table import Column, Row, Table, label, number, text

if TYPE_CHECKING:
    from sojourn.figures import Figure

#: What can be listed.
KINDS = ("tcp", "queues", "video", "studies", "suites", "profiles", "metrics", "figures", "features", "actions", "rewards")


def listed(what: str, words: Sequence[str] = ()) -> Table:
    """A table of all that there is of one of ``KINDS`` and has all words in what is told of it, in whatever case.

    Raises:
        InputError: nothing has them.
    """
    tables = {
        **{"studies": _studies, "suites": _suites, "profiles": _profiles, "metrics": _metrics, "figures": _figures},
        **{"features": _features, "actions": _actions, "rewards": _rewards},
    }
    (table,) = _with_words([tables[what]() if what in tables else _algorithms(what)], words, what)
    return table


def _with_words(tables: Sequence[Table], words: Sequence[str], what: str) -> list[Table]:
    """The tables with only those rows that have all words; those that keep none are left out."""
    wanted = [word.casefold() for word in words]
    kept = [replace(table, rows=[row for row in table.rows if _has(table, row, wanted)]) for table in tables]
    if not any(len(table.rows) for table in kept):
        raise InputError(f"no {what} with {' and '.join(words)}; sojourn list {what} shows all")
    return [table for table in kept if len(table.rows)]


def _has(table: Table, row: Row, words: Sequence[str]) -> bool:
    told = " ".join(str(row[name]) for name in table.names).casefold()
    return all(word in told for word in words)


def _studies() -> Table:
    from sojourn.study import library

    rows = [{"name": name, **library.contents(name)} for name in library.available()]
    return Table("studies", "Studies", [label("name", keep=True), text("title", keep=True), text("source")], rows)


def _suites() -> Table:
    from sojourn.suite import library

    rows = []
    for name in library.available():
        suite = library.load(name)
        rows.append(
            {"name": name, "of": str(suite.kind), "questions": len(suite.questions), "title": suite.title, "source": suite.source}
        )
    columns = [label("name", keep=True), label("of", keep=True), number("questions"), text("title", keep=True), text("source")]
    return Table("suites", "Suites", columns, rows)


def _profiles() -> Table:
    from sojourn import catalogue

    rows = [{"name": profile.name, "title": profile.title} for profile in catalogue.load().profiles]
    return Table("profiles", "Stack profiles", [label("name", keep=True), text("title", keep=True)], rows)


def _metrics() -> Table:
    from sojourn.metrics import METRICS

    rows = [
        {"name": metric.name, "title": metric.title, "unit": metric.unit, "of": metric.told_of, "definition": metric.definition}
        for metric in METRICS.values()
    ]
    columns = [label("name", keep=True), text("title", keep=True), label("unit", keep=True), label("of", keep=True)]
    return Table("metrics", "Metrics", columns, rows, beside=["definition"])


def _told(figure: "Figure") -> Row:
    return {"name": figure.name, "kind": figure.family, "shows": figure.help, "of": figure.told_of}


def _table_of_figures(rows: list[Row]) -> Table:
    columns = [label("name", keep=True), label("kind", rank=1), text("shows", keep=True), label("of", keep=True)]
    return Table("figures", "Figures", columns, rows, most_rows=None)


def _figures() -> Table:
    from sojourn import figures

    return _table_of_figures([_told(figure) for figure in figures.available().values()])


def figures_by_kind(words: Sequence[str] = ()) -> list[Table]:
    """What people read: figures of their own, and each metric once, whatever the kinds of figures that it has.

    Raises:
        InputError: no figure has all words.
    """
    from sojourn.figures.registry import Family, MetricFigure, available

    own: list[Row] = []
    of_metrics: dict[str, Row] = {}
    for figure in available().values():
        if not isinstance(figure, MetricFigure) or (figure.family is Family.LINES and not figure.metric.of_run):
            own.append(_told(figure))
            continue
        metric = figure.metric.name
        if figure.family is Family.BARS:
            of_metrics[metric] = {**_told(figure), "by group": "no"}
        elif figure.family is Family.BY_GROUP:
            told = of_metrics.get(metric)
            of_metrics[metric] = {**(told or _told(figure)), "by group": "yes" if told else "only"}
    title = (
        "Figures of metrics: NAME draws bars, heatmap-NAME, line-NAME, box-NAME and cdf-NAME the others, NAME-by-group and "
        "line-NAME-by-group groups"
    )
    by_metric = [label("name", keep=True), text("shows", keep=True), label("of", keep=True), label("by group")]
    tables = [
        _table_of_figures(own),
        Table("figures_of_metrics", title, by_metric, list(of_metrics.values()), most_rows=None),
    ]
    return _with_words(tables, words, "figures")


def _features() -> Table:
    """What agents may see (``docs/learning.md``)."""
    from sojourn.scenario import agents

    rows = [
        {
            **{name: each[name] for name in ("name", "of", "unit", "least", "most", "scale")},
            **{"definition": each["meaning"], "tcp_info": each["tcp_info"]},
        }
        for each in agents.registry()["features"]
    ]
    columns = [
        *_named_of_agents(),
        label("unit", keep=True),
        number("least", show=_short, rank=1),
        number("most", show=_short, rank=1),
        number("scale", show=_short, rank=1),
        text("definition", keep=True),
        text("tcp_info", "shown by tcp_info", rank=2),
    ]
    return Table("features", "Features that agents see", columns, rows)


def _actions() -> Table:
    return _of_agents("actions", "Actions of agents", "meaning", "what it sets")


def _rewards() -> Table:
    return _of_agents("rewards", "Rewards of agents", "formula", "formula")


def _of_agents(what: str, title: str, told: str, heading: str) -> Table:
    """Actions or rewards, which have parameters, and what is told of each."""
    from sojourn.scenario import agents

    rows = [
        {
            **{name: each[name] for name in ("name", "of", told)},
            **{"parameters": [f"{one['name']} = {agents.default_of(one)}" for one in each["parameters"]]},
            **{"source": each["source"]},
        }
        for each in agents.registry()[what]
    ]
    columns = [*_named_of_agents(), text(told, heading, keep=True), text("parameters", rank=1), text("source", rank=2)]
    return Table(what, title, columns, rows)


def _named_of_agents() -> list[Column]:
    """What something of agents is called, and whether it is of a flow or of a queue."""
    return [label("name", keep=True), label("of", keep=True)]


def _short(value: float) -> str:
    return f"{value:g}"


def _algorithms(what: str) -> Table:
    from sojourn import catalogue

    known = catalogue.load()
    title, entries = {
        "tcp": ("Congestion controls", known.congestion_controls),
        "queues": ("Queue disciplines", known.queues),
        "video": ("Rules that choose bit rates of video", known.video_rules),
    }[what]
    rows = [
        {
            **{"name": entry.name, "also": list(entry.aliases), "title": entry.title},
            **{"class": entry.class_, "year": entry.year, "source": entry.source},
        }
        for entry in entries
    ]
    columns = [
        label("name", keep=True),
        text("also", rank=1),
        text("title", keep=True),
        label("class"),
        number("year", missing=""),
        text("source", rank=2),
    ]
    return Table(what, title, columns, rows)
