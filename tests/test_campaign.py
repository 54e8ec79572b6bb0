from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

import sojourn
from doubles import Inventor
from sojourn.campaign import conduct, execute
from sojourn.errors import InputError, RunCancelled, RunFailed
from sojourn.results import NAMES
from sojourn.runs import Cell, Run
from sojourn.scenario import Scenario
from sojourn.store import Store

Files = dict[str, bytes]


@pytest.fixture
def runs(scenario: Callable[..., Scenario]) -> list[Run]:
    """Twelve runs of different lengths."""
    lengths = {"short": "2 s", "long": "40 s", "middle": "9 s"}
    return [run for name, length in lengths.items() for run in Cell({"length": name}, scenario(duration=length)).runs(4)]


def test_the_longest_runs_start_first(runs: list[Run]) -> None:
    backend = Inventor()
    outcomes = list(execute(runs, backend, jobs=1))
    durations = [run["duration"] for run in backend.started]
    assert durations == sorted(durations, reverse=True)
    assert sorted(outcome.index for outcome in outcomes) == list(range(len(runs)))


def files(directory: Path) -> Files:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_files_do_not_depend_on_workers_or_time(runs: list[Run], tmp_path: Path) -> None:
    written: list[Files] = []
    for attempt, jobs in enumerate([1, 2, 4, 1]):
        directory = tmp_path / str(attempt)
        conduct(runs, Inventor(), Store(directory), jobs)
        written.append(files(directory))
    assert set(written[0]) == {f"{name}.parquet" for name in NAMES}
    assert all(other == written[0] for other in written[1:])


def test_frames_are_in_the_order_of_the_campaign(runs: list[Run]) -> None:
    result = conduct(runs, Inventor(), Store(None), jobs=3).result
    assert result is not None
    assert result.runs["key"].to_list() == [run.key for run in runs]
    assert result.flows["key"].unique(maintain_order=True).to_list() == [run.key for run in runs]
    assert result.flows.columns[:3] == ["key", "length", "seed"]
    assert result.series.columns == ["key", "length", "seed", "time", "kind", "which", "measure", "value"]


def test_a_failed_run_does_not_stop_the_others(runs: list[Run], tmp_path: Path) -> None:
    backend = Inventor(failing={2: RunFailed("it broke"), 3: InputError("it made no sense")})
    conducted = conduct(runs, backend, Store(tmp_path / "out"), jobs=2)
    assert [outcome.run.seed for outcome in conducted.failures] == [2, 3] * 3
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].to_list() == [1, 4] * 3


def test_an_unforeseen_error_is_not_hidden(runs: list[Run]) -> None:
    with pytest.raises(ZeroDivisionError):
        conduct(runs, Inventor(failing={1: ZeroDivisionError()}), Store(None), jobs=2)


def test_stopping_early_cancels_what_is_under_way(runs: list[Run]) -> None:
    backend = Inventor(waiting=frozenset({2, 3, 4}))
    with closing(execute(runs, backend, jobs=2)) as outcomes:
        assert next(outcomes).run.seed == 1
    assert backend.cancelled.is_set()
    assert len(backend.started) < len(runs)


def test_an_interrupt_leaves_what_is_done_readable(runs: list[Run], tmp_path: Path) -> None:
    def interrupt(_: object) -> None:
        assert len(list((tmp_path / "out" / "parts").glob("*.runs.parquet"))) == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conduct(runs, Inventor(waiting=frozenset({2, 3, 4})), Store(tmp_path / "out"), 2, interrupt)
    assert set(files(tmp_path / "out")) == {f"{name}.parquet" for name in NAMES}
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].to_list() == [1]


def test_a_cancelled_run_is_an_outcome(runs: list[Run]) -> None:
    backend = Inventor(waiting=frozenset({1}))
    backend.cancel()
    (outcome,) = execute(runs[:1], backend, jobs=1)
    assert isinstance(outcome.result, RunCancelled)


def test_bad_runs_are_found_before_anything_is_run_or_written(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    backend = Inventor(refused=frozenset({1}))
    with pytest.raises(InputError, match='scenario "small": it makes no sense'):
        sojourn.run(scenario(), seeds=3, out=tmp_path / "out", backend=backend)
    assert backend.started == []
    assert not (tmp_path / "out").exists()
