"""What directories keep of campaigns and studies that were run before."""

import shlex
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from sojourn import campaign as campaigns
from sojourn.analysis.result import Result
from sojourn.analysis.several_backends import beside
from sojourn.api.studies import Reproduction, check_study, compare, study_campaign
from sojourn.backends.identity import Identity
from sojourn.campaign import Plan
from sojourn.errors import InputError
from sojourn.runs import requests
from sojourn.specification import text
from sojourn.store import Store
from sojourn.study import verdicts
from sojourn.study.design import AS_STATED, Study
from sojourn.study.verdicts import Judged


def open(directory: str | Path) -> Store:  # noqa: A001, as sojourn.open it shadows nothing
    """Opens the results in a directory: frames, and SQL over them.

    Raises:
        InputError: there is no store there, or one of another schema.
        StoreFailed: its files cannot be read or written.
    """
    return Store(Path(directory))


def kept(planned: Plan, directory: str | Path) -> tuple[int, Mapping[Identity, int]]:
    """How many of a campaign's runs have results in a directory, which need not be there, and how many are stale.

    A stale result is of the same run and backend, but of another build of it; the number of runs of each build is returned.
    """
    if not Path(directory).exists():
        return 0, {}
    with open(directory) as store:
        return store.count(planned.run_keys()), campaigns.stale(planned, store)


def judge(study: Study, directory: str | Path) -> list[Judged]:
    """Judges a study's claims by its runs in a directory, as many seeds as are there, and writes ``claims.csv``.

    The runs are those of the reading that was reproduced last.
    """
    claims = check_study(study)
    if not claims:
        raise InputError(f"study {study.name}: no claims")
    with open(directory) as store:
        judged = list(compare(study, kept_of_study(as_made(study, store), store)).judged)
    verdicts.write(Path(directory) / "claims.csv", judged)
    return judged


def readings(store: Store, study: Study) -> list[str]:
    """The readings of a study that commands reproduced in a store, the latest last."""
    made = [entry.reading or AS_STATED for entry in store.provenance if entry.reproduces(study.origin.place, study.name)]
    return list(reversed(dict.fromkeys(reversed(made))))


def as_made(study: Study, store: Store) -> Study:
    """A study under the reading that was reproduced last in a store; as stated if none was."""
    made = readings(store, study)
    return study.under(made[-1]) if made else study


def by_reading(study: Study, store: Store) -> Mapping[str, Reproduction]:
    """The comparison and the verdicts of a store's runs of a study, by the name of each reading that was reproduced there."""
    made = [study.under(reading) for reading in readings(store, study)]
    made.sort(key=lambda read: [AS_STATED, *study.readings].index(read.reading))
    return {read.reading: compare(read, kept_of_study(read, store)) for read in made}


def kept_of_study(study: Study, store: Store) -> Result:
    """The results of the runs that commands reproducing a study under its reading left in a store, as many seeds as are there.

    Of a cell that several of them made, with other settings, those of the latest. Where they are of several backends, the backend
    is the last of the axes; any build of it counts.
    """
    store.consolidate()
    seeds = store.sql("SELECT DISTINCT seed FROM runs")["seed"].to_list()
    made = [
        entry
        for entry in store.provenance
        if entry.reproduces(study.origin.place, study.name) and (entry.reading or AS_STATED) == study.reading
    ]
    known = dict.fromkeys(entry.backend.name for entry in made) or dict.fromkeys(each.name for each in store.identities)
    keys_of: dict[tuple[str, ...], list[str]] = {}
    for backend in known:
        of_backend = [entry for entry in made if entry.backend.name == backend]
        wanted = [study_campaign(study, 1, entry.only, entry.changes) for entry in of_backend] or [study_campaign(study, 1)]
        for each in wanted:
            for cell in each.cells():
                if keys := store.keys_of(requests(text(cell.specification), seeds), backend):
                    keys_of[backend, *cell.axes.values()] = keys
    if not keys_of:
        make = f"sojourn reproduce {shlex.quote(study.origin.called)}"
        raise InputError(f"{store.directory}: no runs of study {study.name}; make them with {make}")
    found = store.result(list(study.axes), lambda: chain.from_iterable(keys_of.values()))
    return found if len({backend for backend, *_ in keys_of}) == 1 else beside(found)
