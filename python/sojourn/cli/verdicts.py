"""``sojourn verdicts``: whether congestion controls and queues get along, by runs."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.console import Form
from sojourn.cli.options import Command, form_options, option

if TYPE_CHECKING:
    from sojourn.table import Row, Table
    from sojourn.verdicts import Judged


@click.command("verdicts", cls=Command)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@option("--verdict", "wanted", metavar="NAME", multiple=True, help="Judge only by this verdict; repeatable.")
@form_options
def command(directory: Path, wanted: tuple[str, ...], form: Form) -> None:
    """Judge whether the algorithms get along in each cell of the results in DIR.

    Print the verdicts that hold on some seeds, such as starvation and standing-queue. With --json and --csv also the others.
    """
    from sojourn import names, verdicts
    from sojourn.cli.console import put, say
    from sojourn.errors import InputError
    from sojourn.report import contents

    known = {each.id: each for each in verdicts.definitions()}
    names.check("verdict", wanted, known, InputError)
    judged = verdicts.judge(contents.read(directory).result, [known[name] for name in wanted] or None)
    put(_table(judged, everything=form is not None), form)
    say(_in_all(judged), form)


def _table(judged: "Sequence[Judged]", *, everything: bool) -> "Table":
    from sojourn.table import Column, Content, Table, label, number, text

    axes = list(judged[0].cell) if judged else []
    columns = [
        *(label(axis, keep=True) for axis in axes),
        label("verdict", keep=True),
        label("answer", "most seeds", keep=True),
        Column("seeds", ("held", "seeds"), lambda row: f"{row['held']}/{row['seeds']}", Content.NUMBER, keep=True),
        number("value", "value", lambda value: f"{value:.3g}", rank=1),
        text("bound", "threshold", rank=2),
    ]
    beside = ["share", "share_ci_low", "share_ci_high", "least", "greatest", "threshold", "unit"]
    return Table("verdicts", "Verdicts", columns, list(_rows(judged, everything)), beside=beside)


def _rows(judged: "Iterable[Judged]", everything: bool) -> "Iterator[Row]":
    from sojourn import verdicts

    listed = [each for each in judged if everything or each.held]
    bounds = {each.id: each.bound for each in verdicts.definitions()}
    for row in verdicts.frame(listed).iter_rows(named=True):
        yield {**row, "bound": bounds[row["verdict"]]}


def _in_all(judged: "Sequence[Judged]") -> str:
    """In how many cells the algorithms get along, on one line."""
    from sojourn import digits
    from sojourn.verdicts import Answer

    cells: dict[tuple[str | None, ...], list[Judged]] = {}
    for each in judged:
        cells.setdefault(tuple(each.cell.values()), []).append(each)
    bad = sum(any(each.answer is Answer.HOLDS for each in found) for found in cells.values())
    good = sum(all(each.answer is Answer.FAILS for each in found) for found in cells.values())
    said = f"{digits.counted(len(cells), 'cell')}: {good} get along, {bad} do not"
    left = len(cells) - good - bad
    return f"{said}, {left} undecided (six seeds decide what all agree on)" if left else said
