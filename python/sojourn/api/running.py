"""Running a scenario, or all cells of a scenario file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn import backends
from sojourn.analysis.result import Result
from sojourn.api.execution import Settings, call_of, carry_out
from sojourn.api.scenarios import campaign
from sojourn.backends.backend import Backend
from sojourn.campaign import Observer
from sojourn.scenario import Scenario
from sojourn.sweeps.matrix import Matrix


def run(
    scenario: Scenario | Matrix | str | Path | Mapping[str, Any],
    seeds: int | None = None,
    *,
    only: Mapping[str, str | Iterable[str]] | None = None,
    changes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    backend: str | Backend | Sequence[str | Backend] = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Result:
    """Runs a scenario, or all cells of a scenario file with a sweep.

    Args:
        scenario: a scenario, the path of a scenario file, what such a file says as a dictionary, or a sweep of ``sojourn.sweep``.
        seeds: how many repetitions of each cell, with seeds counted up from its own; what the file says unless given, or 1.
        only: values of some axes that the sweep is narrowed to, such as ``{"tcp": ["cubic", "bbr"]}``.
        changes: keys set in every scenario of the file: ``{"stack.minimum_rto": "200 ms"}``.
        out: a directory for the results, new, empty or a store that is to go on; none are written unless given.
        jobs: how many runs at once; as many as there are cores unless given.
        backend: what carries out the runs, a name of ``sojourn.backends.BACKENDS`` or a backend; of a list each carries out all
            of them, and the backend is then the last of the result's axes.
        cluster: the address of a Dask scheduler whose workers make the runs, such as ``tcp://host:8786``; made here unless given.
        observer: what looks on meanwhile.

    Raises:
        InputError: the scenario, the backend, the cluster or the directory will not do.
        RunFailed: a run failed; the other runs' results are in ``out``, and in the error's ``result``.
    """
    wanted = campaign(scenario, seeds, only, changes)
    what = repr(str(scenario))
    if isinstance(scenario, Matrix):
        what = f"<sweep of {scenario.name}>"
    elif isinstance(scenario, Scenario | Mapping):
        what = f"<scenario {scenario.name if isinstance(scenario, Scenario) else scenario.get('name', '')}>"
    call = call_of("run", what, backend, seeds=seeds, only=only, changes=changes, out=out)
    settings = Settings(out, jobs, backend, cluster, observer or Observer())
    return carry_out(wanted, settings, call, None, only, changes)
