"""The page of a report card: for each question a figure, the verdict, and the scenario that shows it."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from markupsafe import Markup

from sojourn.colours import PALETTE
from sojourn.figures import drawing, look
from sojourn.figures.saving import svg
from sojourn.metrics import METRICS
from sojourn.report.page import templates
from sojourn.store import Store, write_whole
from sojourn.suite import words
from sojourn.suite.card import Card, Interval, Row
from sojourn.suite.design import CONTENDER, Kind
from sojourn.suite.judging import Verdict

#: How wide a figure is, and how high each of its rows, in points.
WIDTH, HEIGHT = 420, 14

#: The figure of delay and goodput.
GOODPUT = "delay-goodput"

#: The name of a verdict in the style sheet.
STYLES = {Verdict.FAIL: "fails", Verdict.CONCERN: "fails", Verdict.OPEN: "undecided", Verdict.PASS: "holds"}


def write(card: Card, directory: Path, path: Path) -> Path:
    """Writes the page of a card; ``directory`` has the results of its questions.

    Raises:
        InputError: the file cannot be there.
    """
    made = page(card, directory)
    write_whole(path, lambda unfinished: unfinished.write_text(made, encoding="utf-8"))
    return path


def page(card: Card, directory: Path) -> str:
    """The HTML of a card."""
    template = templates().get_template("card.html.jinja")
    return template.render(
        card=card,
        title=words.title(card),
        tally=words.tally(card),
        meaning=words.MEANING,
        rows=[_shown(card, row, directory) for row in card.rows],
        styles=STYLES,
    )


def _shown(card: Card, row: Row, directory: Path) -> Mapping[str, Any]:
    """What the page says of a question."""
    found = row.deciding
    scenario = directory / row.id / f"{card.file}.toml"
    return {
        "row": row,
        "what": words.what(row),
        "measured": "" if found is None else words.number(row, found.candidate),
        "returned": words.shown_values(row),
        "comparators": "" if found is None else words.comparators(row, found),
        "where": "" if found is None else words.where(found),
        "figure": Markup(svg(_figure(card, row))) if row.findings else "",
        "ellipses": Markup(svg(_ellipses(card, row, directory))) if card.of == Kind.QUEUE.value and row.findings else "",
        "command": shlex.join(["sojourn", "run", str(scenario), "--out", "shown"]),
        "results": shlex.join(["sojourn", "report", str(directory / row.id)]),
        "scenario": scenario.read_text(encoding="utf-8") if scenario.is_file() else "",
    }


def _scale(row: Row) -> tuple[float, str]:
    """From a measure to the unit of its axis, and what the axis says."""
    if row.metric is None:
        return 100.0, "Seeds on which it holds (%)"
    metric = METRICS[row.metric]
    return (1.0, f"Harm in {metric.title}") if row.rule == "harm" else (metric.factor, metric.label)


def _ellipses(card: Card, row: Row, directory: Path) -> look.Chart:
    """Goodput against the delay of the queue, an ellipse for each contender and condition (RFC 7928, section 2.7)."""
    contenders = list(dict.fromkeys([card.candidate, *(name for each in row.findings for name in each.comparators)]))
    conditions = {axis: list(dict.fromkeys(each.condition[axis] for each in row.findings)) for axis in row.findings[0].condition}
    with Store(directory / row.id) as store:
        return drawing.draw(GOODPUT, store, {CONTENDER: contenders, **conditions}, width=WIDTH, titled=False)


def _figure(card: Card, row: Row) -> look.Chart:
    """Every contender's measure under every condition, with intervals."""
    factor, label = _scale(row)

    def placed(condition: Mapping[str, str], name: str, found: Interval | None) -> dict[str, Any]:
        mean, low, high = (None, None, None) if found is None else (found.mean, found.low, found.high)
        shown = ", ".join(condition.values())
        values = {key: None if value is None else value * factor for key, value in (("mean", mean), ("low", low), ("high", high))}
        return {"condition": shown, "colour": name, **values}

    points = []
    for each in row.findings:
        points.append(placed(each.condition, card.candidate, each.candidate))
        points += [placed(each.condition, name, value) for name, value in each.comparators.items() if name != card.candidate]
    schema = {"condition": pl.String, "colour": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    frame = pl.DataFrame(points, schema=schema)
    names = list(dict.fromkeys(frame["colour"]))
    candidate = alt.Color("colour:N", legend=None).scale(domain=names, range=[PALETTE[1], *[PALETTE[0]] * (len(names) - 1)])
    base = alt.Chart(look.data(frame)).encode(y=alt.Y("colour:N", title=None, sort=names), color=candidate)
    marks = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=label), x2="high:Q")
    dots = base.mark_point(filled=True, size=40, opacity=1).encode(x=alt.X("mean:Q", title=label))
    layered = alt.layer(marks, dots).properties(width=WIDTH, height=HEIGHT * len(names))
    conditions = list(dict.fromkeys(frame["condition"]))
    if conditions != [""]:
        row_of = alt.Row("condition:N", title=None, sort=conditions, header=alt.Header(labelAngle=0, labelAlign="left"))
        facets: look.Chart = layered.facet(row=row_of, spacing=4).configure(**look.CONFIG)
        return facets
    whole: look.Chart = layered.configure(**look.CONFIG)
    return whole
