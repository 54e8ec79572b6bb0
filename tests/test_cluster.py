"""Campaigns on a Dask cluster: the same bytes as without one, even if workers or the scheduler end."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import dask
import distributed
import pytest

import campaigns
import sojourn
from conftest import SMALL_TOML, Capture, complaint, scenario_data
from own_files import SCALABLE, SCALABLE_C, WriteScenario, needs_compiler, own_tcp
from sojourn import backends
from sojourn.api import campaign
from sojourn.campaign import Campaign, Cluster, Observer, Plan, Tally, plan, run
from sojourn.cli.commands import status
from sojourn.errors import ClusterLost
from sojourn.runs import Cell
from sojourn.scenario import from_data
from sojourn.store import Store

REPETITIONS = 30

#: A suite whose scenario is a small one's.
SUITE = """
name = "small"
title = "A small suite"
source = "nobody"
of = "tcp"
comparators = ["cubic", "newreno"]
[scenario]
duration = "5 s"
warm_up = "1 s"
[scenario.network.dumbbell]
senders = [{ name = "a", rate = "1 Gbit/s", delay = "1 ms" }]
receivers = [{ name = "b", rate = "1 Gbit/s", delay = "1 ms" }]
bottleneck = { rate = "10 Mbit/s", delay = "8 ms", queue = { name = "droptail", limit = "50 packets" } }
[[scenario.flows]]
from = "a"
to = "b"
tcp = "candidate"
[[questions]]
id = "waits"
question = "Do packets wait?"
section = "1"
rule = "own"
metric = "sojourn_mean_s"
axes = { flows = { key = "flows.0.count", values = [1, 2] } }
"""

SIMULATOR = backends.named("simulator")


class Watching(Observer):
    """Calls a function after each run."""

    def __init__(self, on_progress: Callable[[Tally], None]) -> None:
        self._on_progress = on_progress

    def running(self, _: Plan, /) -> AbstractContextManager[Callable[[Tally], None]]:
        return nullcontext(self._on_progress)


@contextmanager
def local_cluster() -> Iterator[distributed.LocalCluster]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # Workers are forked from a process with all modules loaded.
    forked = dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    with forked, distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def scheduler() -> Iterator[distributed.LocalCluster]:
    """A scheduler that outlives the test."""
    with local_cluster() as cluster:
        yield cluster


def parquet(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.parquet")}


@pytest.mark.parametrize(("name", "text"), [("mine.py", SCALABLE), pytest.param("mine.c", SCALABLE_C, marks=needs_compiler)])
def test_own_file_travels(
    scheduler: distributed.LocalCluster, scenario_file: WriteScenario, tmp_path: Path, name: str, text: str
) -> None:
    """A user's own file goes to the workers with the run: they make it, with the same bytes, once the file is gone."""
    planned = plan(campaign(own_tcp(scenario_file, name, text), seeds=2), SIMULATOR)
    (tmp_path / name).unlink()
    with Store(tmp_path / "here", create=True) as store:
        run(planned, SIMULATOR, store)
    cluster = Cluster(scheduler.scheduler_address)
    with Store(tmp_path / "there", create=True) as store:
        outcome = run(planned, SIMULATOR, store, elsewhere=cluster.execute)
    cluster.close()
    assert outcome.failures == []
    assert parquet(tmp_path / "there") == parquet(tmp_path / "here")


def test_killed_worker_changes_nothing(scheduler: distributed.LocalCluster, tmp_path: Path) -> None:
    """A campaign on a cluster writes the same bytes as a local one, even if a worker is killed, and a line says that one was."""
    planned = campaigns.small(REPETITIONS)
    with Store(tmp_path / "here", create=True) as store:
        run(planned, SIMULATOR, store)
    killed: list[int] = []

    def kill_one(tally: Tally) -> None:
        if tally.made == 10 and not killed:
            killed.append(next(iter(scheduler.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    said: list[str] = []
    cluster = Cluster(scheduler.scheduler_address, said.append)
    with Store(tmp_path / "there", create=True) as store:
        outcome = run(planned, SIMULATOR, store, elsewhere=cluster.execute, observer=Watching(kill_one))
    cluster.close()
    assert killed
    assert len(said) == 1, said
    assert said[0].startswith("a worker of the cluster is lost: tcp://")
    assert outcome.failures == []
    assert parquet(tmp_path / "there") == parquet(tmp_path / "here")


@pytest.mark.long
def test_run_that_loses_workers_fails_alone(tmp_path: Path) -> None:
    """A run whose workers are lost as often as Dask allows has failed; the others are kept, and it is tried again next time."""
    short = [campaigns.small(1).cells[0]]
    endless = plan(
        Campaign.of_cells("crash", [Cell({"tcp": "endless"}, from_data(scenario_data(duration="1000000 s"), "endless"))]),
        SIMULATOR,
    )
    planned = replace(endless, cells=[*short, *endless.cells])

    with local_cluster() as scheduler, Store(tmp_path / "out", create=True) as store:
        assert scheduler.scheduler is not None
        workers = scheduler.scheduler.workers
        scheduler.scheduler.allowed_failures = 0

        def kill_busy(tally: Tally) -> None:
            busy = {address for address, worker in workers.items() if worker.processing}
            for nanny in scheduler.workers.values():
                if tally.made and nanny.worker_address in busy:
                    os.kill(nanny.pid, signal.SIGKILL)

        cluster = Cluster(scheduler.scheduler_address)
        outcome = run(planned, SIMULATOR, store, elsewhere=cluster.execute, observer=Watching(kill_busy))
        assert len(store) == 1
        cluster.close()
    (failed,) = outcome.failures
    assert failed.failure.startswith("run endless/1: every worker that carried it out was lost")


def test_unreachable_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A scheduler that cannot be reached is a one-line error, and no directory is made."""
    monkeypatch.setattr("sojourn.campaign.cluster.PATIENCE", 1)
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        arguments = ["run", str(tmp_path / "small.toml"), "--out", str(tmp_path / "out"), "--cluster", address]
        assert status(arguments) == 2
        assert f"--cluster {address}: cannot reach a scheduler" in complaint(capsys)
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_lost_scheduler_keeps_runs(tmp_path: Path) -> None:
    """If the scheduler ends, the error says so, and finished runs stay in the store."""
    planned = campaigns.small(REPETITIONS)
    with local_cluster() as scheduler, Store(tmp_path / "out", create=True) as store:
        cluster = Cluster(scheduler.scheduler_address)

        def end(tally: Tally) -> None:
            if tally.made == 10:
                scheduler.close()

        with pytest.raises(ClusterLost, match=r"the cluster at tcp://.* is lost"):
            run(planned, SIMULATOR, store, elsewhere=cluster.execute, observer=Watching(end))
        assert 10 <= len(store) < len(planned)
        cluster.close()


def test_api_uses_cluster(scheduler: distributed.LocalCluster, tmp_path: Path) -> None:
    """`sojourn.run` on a cluster returns the same runs as without one."""
    (tmp_path / "small.toml").write_text(SMALL_TOML)
    there = sojourn.run(tmp_path / "small.toml", 2, cluster=scheduler.scheduler_address)
    assert there.runs.equals(sojourn.run(tmp_path / "small.toml", 2).runs)


def test_card_on_a_cluster(scheduler: distributed.LocalCluster, tmp_path: Path, capsys: Capture) -> None:
    """`sojourn evaluate --cluster` makes the card of an algorithm in a file of one's own, with the same bytes as without."""
    mine, own = tmp_path / "mine.py", tmp_path / "small.toml"
    mine.write_text(SCALABLE)
    own.write_text(SUITE)
    made = []
    for place, more in (("here", []), ("there", ["--cluster", scheduler.scheduler_address])):
        asked = ["evaluate", "tcp", str(mine), "--suite", str(own), "--full", "--seeds", "3", "--json"]
        assert status([*asked, "--out", str(tmp_path / place), *more]) in (0, 1)
        made.append(capsys.readouterr().out)
    assert made[0] == made[1]
    assert '"seeds": 3' in made[0]
    assert parquet(tmp_path / "there" / "waits") == parquet(tmp_path / "here" / "waits")


def test_card_without_its_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A card whose scheduler cannot be reached is not made elsewhere, and leaves no folder."""
    monkeypatch.setattr("sojourn.campaign.cluster.PATIENCE", 1)
    (tmp_path / "small.toml").write_text(SUITE)
    asked = ["evaluate", "tcp", "vegas", "--suite", str(tmp_path / "small.toml"), "--out", str(tmp_path / "out")]
    assert status([*asked, "--cluster", "tcp://127.0.0.1:9"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("sojourn: --cluster tcp://127.0.0.1:9: cannot reach a scheduler")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_search_on_a_cluster_has_the_same_bytes(scheduler: distributed.LocalCluster, tmp_path: Path) -> None:
    """What a search proposes next depends on values, and not on where or in which order the runs were made."""
    told = {
        **scenario_data(),
        "search": {"space": {"duration": {"range": "2 s..6 s"}}, "maximise": "drop_pct", "budget": "60 runs"},
    }
    sojourn.search(told, out=tmp_path / "here")
    sojourn.search(told, out=tmp_path / "there", cluster=scheduler.scheduler_address)
    assert parquet(tmp_path / "there") == parquet(tmp_path / "here")
    for name in ("points.csv", "found.toml"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
