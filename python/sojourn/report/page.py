"""The page: everything put into one HTML file."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sojourn import _engine, colours
from sojourn.analysis.result import Result
from sojourn.analysis.summary import INTERVAL
from sojourn.api import Reproduction
from sojourn.digits import counted
from sojourn.errors import check_out
from sojourn.metrics import METRICS, Metric
from sojourn.report import charts, facts, groups, heatmaps, overtime, overview, programs, prose, tables, vega
from sojourn.report.charts import Drawing
from sojourn.report.contents import Contents, of_result, read
from sojourn.statistics import Estimate
from sojourn.store import write_whole
from sojourn.store.sql import identifier
from sojourn.study.cells import Agreement, by_backend
from sojourn.study.design import Study
from sojourn.study.tally import Tally
from sojourn.study.verdicts import LEAST_SEEDS, Judged

#: Labels of an axis that are listed; of more the number is said.
MOST_LABELS = 100

#: Rows of a table, beyond which it is folded.
LONG = 40

#: The name of a report in its directory.
NAME = "report.html"


def write(directory: str | Path, out: str | Path | None = None) -> Path:
    """Writes the report of the results in a directory, and says where it is.

    Args:
        directory: a store of results.
        out: the file; ``report.html`` in the directory unless given.

    Raises:
        InputError: the directory is no store or no runs, or the file cannot be there.
        StoreFailed: the store's files cannot be read.
    """
    target = Path(directory) / NAME if out is None else Path(out)
    if out is not None or target.is_dir():
        check_out(target)
    return _written(read(Path(directory)), target)


def write_result(result: Result, out: str | Path, study: Study | None = None) -> Path:
    """Writes the report of the result of a campaign, of a study perhaps, and says where it is.

    Raises:
        InputError: there are no runs, or the file cannot be there.
    """
    check_out(Path(out))
    return _written(of_result(result, study), Path(out))


def _written(contents: Contents, target: Path) -> Path:
    made = page(contents)
    write_whole(target, lambda path: path.write_text(made, encoding="utf-8"))
    return target


def page(contents: Contents) -> str:
    """The HTML of a report."""
    by_group = groups.table(contents)
    drawn = {
        "published": charts.of_study(contents),
        "axis": charts.over_axis(contents),
        "group": charts.by_group(contents) if by_group else [],
        "campaign": charts.of_campaign(contents),
    }
    template = templates().get_template("page.html.jinja")
    return template.render(vega=vega.script(), drawn=drawn, data=_data(contents, drawn), by_group=by_group, **_values(contents))


@cache
def templates() -> Environment:
    """The templates of pages."""
    environment = Environment(loader=PackageLoader("sojourn.report"), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters["embedded"] = _embedded
    return environment


def _embedded(data: object) -> Markup:
    """JSON that no browser takes for the end of a script."""
    return Markup(json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"))


@dataclass(frozen=True)
class Outcome:
    """What a study comes to: the claims that were judged, and how many of the published values agree."""

    #: What made the runs, where there are several backends.
    backend: str | None
    judged: Sequence[Judged]
    agreement: Agreement

    @property
    def tally(self) -> Tally:
        """How the claims fare."""
        return Tally.of(self.judged)


def _outcomes(reproduction: Reproduction) -> list[Outcome]:
    compared, judged = by_backend(reproduction.comparison), by_backend(reproduction.judged)
    return [
        Outcome(backend, judged.get(backend, []), Agreement.of(compared.get(backend, []))) for backend in {**compared, **judged}
    ]


def _values(contents: Contents) -> Mapping[str, Any]:
    study, reproduction = contents.study, contents.reproduction
    shown = [] if study is None or reproduction is None else tables.tables(study, reproduction.comparison)
    judged = [] if reproduction is None else list(reproduction.judged)
    return {
        "contents": contents,
        "study": study,
        "version": _engine.version(),
        "reading": None if study is None else study.readings.get(study.reading),
        "readings": {name: _outcomes(read) for name, read in contents.readings.items()},
        "tables": shown,
        "signs": tables.signs(shown),
        "outcomes": [] if reproduction is None else _outcomes(reproduction),
        "published": sum(table.agreement.total for table in shown),
        "judged": judged,
        "tally": Tally.of(judged),
        "least_seeds": LEAST_SEEDS,
        "facts": facts.facts(contents),
        "extremes": overview.extremes(contents),
        "overview": overview.overview(contents),
        "long": LONG,
        "interval": INTERVAL,
        "heat_maps": heatmaps.heat_maps(contents),
        "programs": programs.programs(contents),
        "question": _question(contents),
        "some": _some(contents),
        "most_labels": MOST_LABELS,
        "sections": [] if study is None else prose.sections(study.origin.folder / "README.md"),
        "cells_and_runs": f"{counted(contents.all_cells.height, 'cell')}, {counted(contents.runs, 'run')}",
        "seeds": _seeds(contents.seeds),
    }


def _question(contents: Contents) -> str:
    """A command that asks for the means of all cells."""
    axes = ", ".join(map(identifier, contents.axes))
    means = ", ".join(f"avg({metric.name})" for metric in METRICS.values() if metric.main and metric.of_run)
    query = f"select {axes}, {means} from runs group by all order by all"
    return shlex.join(["sojourn", "query", str(contents.directory), query])


def _some(contents: Contents) -> str:
    """A command that draws some cells of many."""
    axis, labels = next(iter((contents.varying or contents.axes).items()))
    return shlex.join(["sojourn", "plot", str(contents.directory), "--figure", "throughput", "--only", f"{axis}={labels[0]}"])


def _ranges(seeds: Sequence[int]) -> str:
    """``1 to 10`` or, if there are gaps, ``1, 2, 5``."""
    if len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {_ranges(seeds)}"


def _data(contents: Contents, drawn: Mapping[str, Sequence[Drawing]]) -> Mapping[str, Any]:
    """What the page's own script needs."""
    cells = [
        {
            "axes": cell.axes,
            "seeds": _seeds(cell.seeds).capitalize(),
            "seed": cell.seeds[0],
            "told": [_told(cell.measured[metric.name], metric) for metric in contents.measured],
        }
        for cell in contents.cells
    ]
    return {
        "axes": contents.shown,
        "metrics": [{"title": metric.title, "unit": metric.shown_unit, "main": metric.main} for metric in contents.measured],
        "cells": cells,
        "samples": overtime.samples(contents),
        "palette": colours.PALETTE,
        "charts": {
            f"{part}-{number}": {"spec": drawing.spec, "fields": drawing.fields}
            for part, drawings in drawn.items()
            for number, drawing in enumerate(drawings)
        },
    }


def _told(found: Estimate | None, metric: Metric) -> list[str]:
    """Mean, and the ends of the interval if there is one, with the digits that it leaves."""
    if found is None:
        return []
    if found.low is None or found.high is None:
        return [metric.number(found.mean)]
    return metric.numbers(found.mean, found.low, found.high, half=found.half or 0.0)[:3]
