"""Whether something is valid, as a function."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import api, backends
from sojourn import campaign as campaigns
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, randomness
from sojourn.scenario import Scenario
from sojourn.specification import flow_count
from sojourn.sweeps.matrix import Matrix


def check(
    what: Scenario | Matrix | str | Path | Mapping[str, Any],
    *,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    backend: str | Backend | Sequence[str | Backend] = backends.DEFAULT,
) -> pl.DataFrame:
    """Checks a scenario, a sweep, a study, a suite, or a file with an algorithm of one's own; no simulation is run.

    Args:
        what: a scenario, a sweep, what a scenario file says as a dictionary, or the name or path of any of them.
        only: values of some axes that a sweep or study is narrowed to.
        changes: keys set in its scenarios.
        backend: what is to carry them out, or several.

    Returns:
        What is valid, one row. Of a scenario, a sweep and a study it has the number of ``cells``, what is ``random`` in them, and
        ``warnings``; of an algorithm a row for each kind that the file has, with the number of ``sequences`` of events tried.

    Raises:
        InputError: it is not valid; one line that names the file and the key or line.
    """
    if isinstance(what, str | Path):
        match api.kind_of(Path(what)):
            case api.FileKind.OWN:
                return _own(Path(what))
            case api.FileKind.SUITE:
                return _suite(str(what))
            case api.FileKind.STUDY:
                return _study(str(what), only, changes, backend)
            case api.FileKind.SCENARIO:
                pass
    campaign = api.campaign(what, None, only, changes)
    first, told = _planned(campaign, backend)
    numbers = {"nodes": len(first["nodes"]), "links": len(first["links"]), "flows": flow_count(first)}
    return _row({"scenario": campaign.name, **numbers, **told})


def _row(row: Mapping[str, object]) -> pl.DataFrame:
    return pl.DataFrame([row], schema_overrides={"warnings": pl.String()})


def _planned(campaign: Campaign, backend: str | Backend | Sequence[str | Backend]) -> tuple[Any, dict[str, object]]:
    """The specification of the first cell of a campaign, and what is said of all of them."""
    planned = campaigns.plan(campaign, backends.several(backend))
    said = randomness.line(cell.random for cell in planned.cells)
    warnings = "; ".join(planned.warnings) or None
    told = {"cells": len(planned.cells), "random": said.removeprefix("random: "), "warnings": warnings}
    return planned.cells[0].run().specification, told


def _study(
    name: str,
    only: Mapping[str, str | Iterable[str]] | None,
    changes: Mapping[str, Any] | None,
    backend: str | Backend | Sequence[str | Backend],
) -> pl.DataFrame:
    from sojourn.study import library

    study = library.load(name)
    claims = api.check_study(study)
    _, told = _planned(api.study_campaign(study, 1, only, changes), backend)
    return _row({"study": study.name, "values": len(library.published_values(study)), "claims": len(claims), **told})


def _suite(name: str) -> pl.DataFrame:
    from sojourn.suite import library

    suite = library.load(name)
    planned = api.plan_evaluation(suite.comparators[0], str(suite.kind), name)
    return pl.DataFrame([{"suite": planned.suite.name, "questions": len(planned.asked), "runs": planned.runs}])


def _own(path: Path) -> pl.DataFrame:
    from sojourn.plugins.properties import CHECKED, check
    from sojourn.plugins.reading import reading

    with reading(path) as source:
        found = check(source)
    rows = [
        {"file": str(path), "kind": each.kind, "sequences": each.sequences, "checked": CHECKED[each.kind], "note": each.note}
        for each in found
    ]
    return pl.DataFrame(rows, schema_overrides={"note": pl.String()})
