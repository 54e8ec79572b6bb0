"""How what is called becomes a campaign that is carried out, and its result."""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sojourn import _engine, backends
from sojourn import campaign as campaigns
from sojourn.analysis.result import Result
from sojourn.api.scenarios import labels_of
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, CampaignOutcome, Cluster, Observer
from sojourn.errors import InputError, RunFailed
from sojourn.names import BACKEND
from sojourn.store import InMemory, Provenance, RunStore, Store
from sojourn.study.design import Study

#: Runs whose results are held in memory where nothing else is asked for, a few kilobytes each; more are in a temporary directory.
MOST_IN_MEMORY = 5_000


@dataclass(frozen=True)
class Settings:
    """How a campaign is to be carried out."""

    out: str | Path | None
    jobs: int | None
    backend: str | Backend | Sequence[str | Backend]
    cluster: str | None
    observer: Observer


def call_of(name: str, what: str, backend: str | Backend | Sequence[str | Backend], **arguments: object) -> str:
    """A call as it is written, without what was not given."""
    every = {**arguments, "backend": _given_backend(backend)}
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in every.items() if value is not None}
    given = (f"{key}={value!r}" for key, value in plain.items())
    return f"sojourn.{name}({', '.join([what, *given])})"


def _given_backend(backend: str | Backend | Sequence[str | Backend]) -> str | list[str] | None:
    """What a call says of its backend; nothing of the default."""
    if isinstance(backend, Sequence) and not isinstance(backend, str):
        return [each if isinstance(each, str) else each.identity.name for each in backend]
    name = backend if isinstance(backend, str) else backend.identity.name
    return None if name == backends.DEFAULT else name


def carry_out(
    wanted: Campaign,
    settings: Settings,
    call: str,
    study: Study | None,
    only: Mapping[str, str | Iterable[str]] | None,
    changes: Mapping[str, Any] | None,
) -> Result:
    """Plans a campaign, carries it out and returns its result."""
    observer, carriers = settings.observer, backends.several(settings.backend)
    with observer.checking(wanted.size) as checked:
        planned = campaigns.plan(wanted, carriers, checked)
    for line in planned.warnings:
        observer.notify(line)
    command = observer.command or call
    order = wanted.order if len(carriers) == 1 else {**wanted.order, BACKEND: [each.name for each in planned.backends]}
    made_by = [
        Provenance(
            command=command,
            version=_engine.version(),
            backend=backend,
            study=None if study is None else study.origin.place,
            reading=None if study is None else study.reading,
            only=labels_of(only),
            changes=changes or {},
            name=wanted.name,
            description=wanted.description,
            axes=order,
        )
        for backend in planned.backends
    ]
    cluster = None if settings.cluster is None else Cluster(settings.cluster, observer.notify)
    with ExitStack() as until_ended:
        out, kept_until = settings.out, ExitStack()
        if out is None and len(planned) > MOST_IN_MEMORY:
            until_ended.push(kept_until)
            out = Path(kept_until.enter_context(TemporaryDirectory(prefix="sojourn-"))) / "results"
        if cluster is not None:
            until_ended.enter_context(closing(cluster))
        store = until_ended.enter_context(closing(_store(out, made_by, observer)))
        elsewhere = None if cluster is None else cluster.execute
        outcome = campaigns.run(planned, carriers, store, jobs=settings.jobs, elsewhere=elsewhere, observer=observer)
        found = complete(outcome)
        # What is in a temporary directory goes with the result, not with the campaign.
        weakref.finalize(found, kept_until.pop_all().close)
    found.command, found.order, found.html, found.text = command, order, _html, _text
    found.name, found.description, found.changes = wanted.name, wanted.description, changes or {}
    return found


def _text(result: Result) -> str:
    # Loaded here, because only the Python prompt needs it.
    from sojourn.analysis import summary

    return summary.text(result)


def _html(result: Result) -> str:
    # Loaded here, because only notebooks need it.
    from sojourn.api import notebook

    return notebook.html(result)


def _store(out: str | Path | None, made_by: Iterable[Provenance], observer: Observer) -> RunStore:
    """What keeps results in a directory, or in memory if there is none."""
    if out is None:
        return InMemory()
    store = Store(Path(out), create=True, notify=observer.notify)
    for each in made_by:
        store.note(each)
    return store


def complete(outcome: CampaignOutcome) -> Result:
    """The result of a campaign of which every run must have succeeded."""
    if outcome.failures:
        more = f" (and {len(outcome.failures) - 1} more)" if len(outcome.failures) > 1 else ""
        first, label = outcome.failures[0].error, outcome.failures[0].run.label
        failed = RunFailed(f"run {label}: {first.args[0]}{more}")
        failed.folder = first.folder if isinstance(first, RunFailed) else None
        failed.result = outcome.result if outcome.finished else None
        failed.cells = [failure.run.axes for failure in outcome.failures]
        raise failed
    if not outcome.finished:
        raise InputError("nothing to run")
    return outcome.result
