"""Reproducing a study: its published values and claims, held to results of its runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import backends, names
from sojourn.analysis.result import Result
from sojourn.analysis.several_backends import by_backend
from sojourn.api.execution import Settings, call_of, carry_out
from sojourn.api.scenarios import labels_of
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, Observer
from sojourn.errors import InputError
from sojourn.study import cells, library, verdicts
from sojourn.study.cells import Compared
from sojourn.study.claims import Claim
from sojourn.study.design import Study
from sojourn.study.verdicts import Judged


@dataclass(frozen=True)
class Reproduction:
    """A study's results, its published values beside them, and what they say of its claims."""

    study: Study
    result: Result
    comparison: Sequence[Compared]
    #: Claims with a cell that has no run are left out.
    judged: Sequence[Judged]

    @property
    def cells(self) -> pl.DataFrame:
        """The comparison as a frame: study, table, axes, metric, published, measured, ci_low, ci_high, agrees.

        Of several backends it has the column ``backend`` besides.
        """
        return cells.frame(self.study, self.comparison)

    @property
    def claims(self) -> pl.DataFrame:
        """The verdicts as a frame: id, claim, source, verdict, held, seeds, evidence; of several backends also backend."""
        return verdicts.frame(self.judged)


def reproduce(
    study: str | Path | Study,
    seeds: int | None = None,
    *,
    reading: str | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend | Sequence[str | Backend] = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Reproduction:
    """Runs a study, or the part of it that ``only`` selects, such as ``{"queue": ["pie", "codel"], "load": "HC"}``.

    A study is given by its name, by the path of one's own, or as one that ``check_study`` has found sound. ``reading`` is one of
    its readings, such as ``"as-inferred"``; without it the study is run as loaded. ``changes`` sets keys of its scenarios, to see
    what an assumption is worth: ``{"stack.minimum_rto": "200 ms"}``. The other arguments are those of ``run``; ``out`` also gets
    ``cells.csv`` and, of a study with claims, ``claims.csv``.

    Raises:
        InputError: there is no such study, reading, axis or value, or the backend, the cluster or the directory will not do.
        RunFailed: a run failed; the other runs' results are in ``out``.
    """
    if not isinstance(study, Study):
        study = library.load(str(study))
        check_study(study)
    name = repr(study.origin.called)
    if reading is not None:
        study = study.under(reading)
    call = call_of("reproduce", name, backend, seeds=seeds, reading=reading, only=only, changes=changes, out=out)
    settings = Settings(out, jobs, backend, cluster, observer or Observer())
    result = carry_out(study_campaign(study, seeds, only, changes), settings, call, study, only, changes)
    return compare(study, result, None if out is None else Path(out))


def study_campaign(
    study: Study,
    seeds: int | None = None,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Campaign:
    """The campaign of a study; not checked yet."""
    return Campaign.of_matrix(study.part(labels_of(only), changes), seeds)


def compare(study: Study, result: Result, directory: Path | None = None) -> Reproduction:
    """Puts a study's published values beside results of its runs, and judges its claims by them; of several backends by each.

    A directory, if given, gets ``cells.csv`` and, if there are claims, ``claims.csv``.
    """
    published, claims = library.published_values(study), library.claims(study)
    compared: list[Compared] = []
    judged: list[Judged] = []
    for backend, found in by_backend(result):
        compared += (replace(each, backend=backend) for each in cells.compare(published, found, list(study.axes)))
        judged += (replace(each, backend=backend) for each in verdicts.judge(study, claims, found))
    if directory is not None:
        cells.write(directory / "cells.csv", cells.frame(study, compared))
    reproduction = Reproduction(study, result, compared, judged)
    if claims and directory is not None:
        verdicts.write(directory / "claims.csv", reproduction.judged)
    return reproduction


def check_study(study: Study) -> list[Claim]:
    """Checks that each published value of a study has a run, each claim a query that can be asked, and each figure an entry.

    Returns the claims.
    """
    library.published_values(study)
    claims = library.claims(study)
    verdicts.bind(study, claims)
    if study.figures:
        # Loaded here, because it takes long, and what only runs something does not need it.
        from sojourn import figures

        available = figures.available()
        for figure in study.figures:
            place = f"study {study.name}: figures: {figure.number}: "
            names.check("figure", figure.figure, available, InputError, place)
    return claims
