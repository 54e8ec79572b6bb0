"""A study as a page: its README, its claims and, if it has been run, its results."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent

from prose import plain, table
from sojourn.metrics import METRICS
from sojourn.study import library
from sojourn.study.claims import Claim
from sojourn.study.design import Study
from sojourn.study.tally import Tally
from sojourn.study.verdicts import Verdict

#: Rows of a file of results, by column.
Rows = Sequence[Mapping[str, str]]

#: What says whether a value agrees.
AGREES = {"true": "✓ yes", "false": "✗ no"}

#: What stands before a verdict, so that it is seen at a glance and not by colour alone.
SIGNS = {"holds": "✓", "fails": "✗", "undecided": "?"}


def page(name: str, results: Path) -> str:
    """The page as Markdown. ``results`` is where ``sojourn reproduce all`` leaves results; there may be none."""
    study, readme = library.load(name), (library.FOLDER / name / "README.md").read_text(encoding="utf-8")
    return "\n\n".join([readme.rstrip(), *_parts(study, results / name)]) + "\n"


def _parts(study: Study, results: Path) -> Iterator[str]:
    claims = library.claims(study)
    if study.published is not None:
        yield "## Published tables beside ours"
        yield from _tables(study, _rows(results / "cells.csv"))
    if claims:
        yield "## Claims and verdicts"
        yield from _claims(claims, _rows(results / "claims.csv"))
    yield "## Reproduce it"
    yield f"    sojourn reproduce {study.name} --seeds 10\n    sojourn report results/{study.name}"


def _tables(study: Study, cells: Rows) -> Iterator[str]:
    titles = {str(published.number): published.title for published in study.tables}
    if not cells:
        yield "The site was built without results of this study. Its tables:"
        yield table(("table:", "title"), ([number, plain(title)] for number, title in titles.items()))
        return
    yield (
        "The number of values of each table that agree with the published ones by the "
        "[rule](../../docs/measures.md#agreement-with-a-published-value)."
    )
    agree = {number: [cell["agrees"] == "true" for cell in cells if cell["table"] == number] for number in titles}
    rows = [[number, plain(titles[number]), *_share(judged)] for number, judged in agree.items() if judged]
    everything = [one for judged in agree.values() for one in judged]
    yield table(("table:", "title", "agree:", "values:", "%:"), [*rows, ["all", "", *_share(everything)]])
    for number, title in titles.items():
        of_table = [cell for cell in cells if cell["table"] == number]
        if of_table:
            yield f'??? abstract "Table {number}. {title}"\n\n{indent(_values(study, of_table), "    ")}'


def _values(study: Study, cells: Rows) -> str:
    """The values of a table, published and ours; of the axes those in which they differ."""
    axes = [axis for axis in study.axes if len({cell[axis] for cell in cells}) > 1]
    rows = (
        [*(plain(cell[axis]) for axis in axes), f"`{cell['metric']}`", cell["published"], _ours(cell), AGREES[cell["agrees"]]]
        for cell in cells
    )
    return table([*axes, "metric", "published:", "ours:", "agrees"], rows)


def _ours(cell: Mapping[str, str]) -> str:
    """The mean over seeds, with its 95 % interval if there is one."""
    text = METRICS[cell["metric"]].format
    if not cell["measured"]:
        return "none"
    interval = f" ({text(float(cell['ci_low']))} to {text(float(cell['ci_high']))})" if cell["ci_low"] else ""
    return text(float(cell["measured"])) + interval


def _share(judged: Sequence[bool]) -> list[str]:
    return [str(sum(judged)), str(len(judged)), f"{100 * sum(judged) / len(judged):.0f}"]


def _claims(claims: Sequence[Claim], judged: Rows) -> Iterator[str]:
    if not judged:
        yield "The site was built without results of this study. Its claims:"
        yield table(
            ("claim", "what the paper says", "where"), ([each.id, plain(each.claim), plain(each.source)] for each in claims)
        )
        return
    verdicts = {row["id"]: row for row in judged}
    tally = Tally.counted((Verdict(row["verdict"]), int(row["held"]), int(row["seeds"])) for row in judged)
    yield f"{tally.line} ([what a verdict means](../../docs/measures.md#verdict-on-a-claim))."
    yield table(
        ("claim", "what the paper says", "where", "verdict", "on how many seeds, and the values"),
        (
            [
                each.id,
                plain(each.claim),
                plain(each.source),
                f"{SIGNS[verdicts[each.id]['verdict']]} {verdicts[each.id]['verdict']}",
                plain(verdicts[each.id]["evidence"]),
            ]
            for each in claims
            if each.id in verdicts
        ),
    )


def _rows(path: Path) -> Rows:
    """The rows of a file; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
