"""Campaigns on a Dask cluster: the same bytes, whatever happens to its workers."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import dask
import distributed
import pytest

import campaigns
import sojourn
from conftest import SMALL_TOML, Capture, complaint
from sojourn import backends
from sojourn.campaign import Cluster, Observer, Plan, Tally, run
from sojourn.cli.commands import status
from sojourn.errors import ClusterLost
from sojourn.store import Store

REPETITIONS = 100

SIMULATOR = backends.named("simulator")


class Watching(Observer):
    """Has something done after each run."""

    def __init__(self, on_progress: Callable[[Tally], None]) -> None:
        self._on_progress = on_progress

    def running(self, _: Plan, /) -> AbstractContextManager[Callable[[Tally], None]]:
        return nullcontext(self._on_progress)


@pytest.fixture
def scheduler() -> Iterator[distributed.LocalCluster]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # Workers are forked from a process that has everything loaded.
    forked = dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    with forked, distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def parquet(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.parquet")}


def test_results_are_the_same_bytes_though_a_worker_is_killed(scheduler: distributed.LocalCluster, tmp_path: Path) -> None:
    planned = campaigns.small(REPETITIONS)
    with Store(tmp_path / "here", create=True) as store:
        run(planned, SIMULATOR, store)
    killed: list[int] = []

    def kill_one(tally: Tally) -> None:
        if tally.made == 10 and not killed:
            killed.append(next(iter(scheduler.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    cluster = Cluster(scheduler.scheduler_address)
    with Store(tmp_path / "there", create=True) as store:
        outcome = run(planned, SIMULATOR, store, elsewhere=cluster.execute, observer=Watching(kill_one))
    cluster.close()
    assert killed
    assert outcome.failures == []
    assert parquet(tmp_path / "there") == parquet(tmp_path / "here")


def test_a_scheduler_that_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("sojourn.campaign.cluster.PATIENCE", 1)
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        arguments = ["run", str(tmp_path / "small.toml"), "--out", str(tmp_path / "out"), "--cluster", address]
        assert status(arguments) == 2
        assert f"--cluster {address}: no scheduler can be reached there" in complaint(capsys)
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_goes_loses_nothing_that_has_finished(scheduler: distributed.LocalCluster, tmp_path: Path) -> None:
    planned = campaigns.small(REPETITIONS)
    cluster = Cluster(scheduler.scheduler_address)

    def end(tally: Tally) -> None:
        if tally.made == 10:
            scheduler.close()

    with Store(tmp_path / "out", create=True) as store:
        with pytest.raises(ClusterLost, match=r"the cluster at tcp://.* is lost"):
            run(planned, SIMULATOR, store, elsewhere=cluster.execute, observer=Watching(end))
        assert 10 <= len(store) < len(planned)
    cluster.close()


def test_a_call_uses_the_cluster(scheduler: distributed.LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    there = sojourn.run(tmp_path / "small.toml", 2, cluster=scheduler.scheduler_address)
    assert there.runs.equals(sojourn.run(tmp_path / "small.toml", 2).runs)
