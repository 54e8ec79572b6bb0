from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import polars as pl
import pytest

import sojourn
from doubles import Inventor
from sojourn.campaign import Campaign, Observer, Plan, Tally, execute, plan, run
from sojourn.errors import InputError, RunCancelled, RunFailed
from sojourn.results import NAMES
from sojourn.runs import Cell, Run
from sojourn.scenario import Scenario
from sojourn.store import Memory, Store

Files = dict[str, bytes]

LENGTHS = {"short": "2 s", "long": "40 s", "middle": "9 s"}


def planned(scenario: Callable[..., Scenario], repetitions: int, *lengths: str) -> Plan:
    cells = [Cell({"length": name}, scenario(duration=LENGTHS[name])) for name in lengths]
    return plan(Campaign.of_cells("test", cells, repetitions), Inventor())


@pytest.fixture
def twelve(scenario: Callable[..., Scenario]) -> Plan:
    """Twelve runs of different lengths."""
    return planned(scenario, 4, *LENGTHS)


def test_the_longest_runs_start_first(twelve: Plan) -> None:
    backend = Inventor()
    outcomes = list(execute(twelve.runs(), backend, jobs=1))
    durations = [run["duration"] for run in backend.started]
    assert durations == sorted(durations, reverse=True)
    assert sorted(outcome.run.key for outcome in outcomes) == sorted(run.key for run in twelve.runs())


def test_few_runs_are_made_before_they_are_needed(twelve: Plan) -> None:
    taken = 0

    def source() -> Iterator[Run]:
        nonlocal taken
        for each in twelve.runs():
            taken += 1
            yield each

    with closing(execute(source(), Inventor(waiting=frozenset({2, 3, 4})), jobs=2)) as outcomes:
        next(outcomes)
        assert taken <= 5


def files(directory: Path) -> Files:
    return {path.name: path.read_bytes() for path in directory.glob("*.parquet")}


def test_files_do_not_depend_on_workers_or_time(twelve: Plan, tmp_path: Path) -> None:
    written: list[Files] = []
    for attempt, jobs in enumerate([1, 2, 4, 1]):
        directory = tmp_path / str(attempt)
        run(twelve, Inventor(), Store(directory, create=True), jobs=jobs)
        written.append(files(directory))
    assert set(written[0]) == {f"{name}.parquet" for name in NAMES}
    assert all(other == written[0] for other in written[1:])


def test_files_do_not_depend_on_how_a_store_grew(twelve: Plan, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    run(twelve, Inventor(), Store(tmp_path / "at once", create=True))
    for repetitions, lengths in ((1, ("middle",)), (3, ("short", "middle")), (4, tuple(LENGTHS))):
        grown = run(planned(scenario, repetitions, *lengths), Inventor(), Store(tmp_path / "grown", create=True))
        assert grown.result.runs.height == repetitions * len(lengths)
    assert files(tmp_path / "grown") == files(tmp_path / "at once")


def test_what_is_there_is_not_run_again(twelve: Plan, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    for store in (Memory(), Store(tmp_path / "out", create=True)):
        run(planned(scenario, 2, "short", "middle"), Inventor(), store)
        backend = Inventor()
        outcome = run(twelve, backend, store)
        assert len(backend.started) == 8
        assert (outcome.finished, outcome.found) == (12, 4)
        assert outcome.result.runs.height == 12


def test_a_result_has_only_its_own_campaigns_runs(twelve: Plan, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    for store in (Memory(), Store(tmp_path / "out", create=True)):
        run(twelve, Inventor(), store)
        result = run(planned(scenario, 2, "long"), Inventor(), store).result
        for frame in (result.runs, result.flows, result.queues, result.series):
            assert set(frame["length"]) == {"long"}
            assert frame["seed"].unique(maintain_order=True).to_list() == [1, 2]


def test_frames_are_sorted_by_axes_and_seed(twelve: Plan, tmp_path: Path) -> None:
    results = [run(twelve, Inventor(), store, jobs=3).result for store in (Memory(), Store(tmp_path / "out", create=True))]
    for result in results:
        assert result.runs["length"].to_list() == ["long"] * 4 + ["middle"] * 4 + ["short"] * 4
        assert result.runs["seed"].to_list() == [1, 2, 3, 4] * 3
        assert result.flows["key"].unique(maintain_order=True).to_list() == result.runs["key"].to_list()
        assert result.flows["flow"].to_list() == [0, 1] * 12
        assert result.flows.columns[:3] == ["key", "length", "seed"]
        assert result.series.columns == ["key", "length", "seed", "time", "kind", "which", "measure", "value"]
    for name in NAMES:
        assert getattr(results[0], name).equals(getattr(results[1], name))
        assert getattr(results[0], name).schema == getattr(results[1], name).schema


def test_a_failed_run_does_not_stop_the_others_and_is_made_again(twelve: Plan, tmp_path: Path) -> None:
    backend = Inventor(failing={2: RunFailed("it broke"), 3: InputError("it made no sense")})
    outcome = run(twelve, backend, Store(tmp_path / "out", create=True), jobs=2)
    assert [failure.run.seed for failure in outcome.failures] == [2, 3] * 3
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].to_list() == [1, 4] * 3
    backend = Inventor()
    assert run(twelve, backend, Store(tmp_path / "out"), jobs=2).failures == []
    assert sorted(run["seed"] for run in backend.started) == [2] * 3 + [3] * 3


def test_an_unforeseen_error_is_not_hidden(twelve: Plan) -> None:
    with pytest.raises(ZeroDivisionError):
        run(twelve, Inventor(failing={1: ZeroDivisionError()}), Memory(), jobs=2)


def test_stopping_early_cancels_what_is_under_way(twelve: Plan) -> None:
    backend = Inventor(waiting=frozenset({2, 3, 4}))
    with closing(execute(twelve.runs(), backend, jobs=2)) as outcomes:
        assert next(outcomes).run.seed == 1
    assert backend.cancelled.is_set()
    assert len(backend.started) < len(twelve)


def test_an_interrupt_leaves_what_is_done_readable(twelve: Plan, tmp_path: Path) -> None:
    class Interrupting(Observer):
        @contextmanager
        def running(self, _: Plan, /) -> Iterator[Callable[[Tally], None]]:
            def interrupt(_: object) -> None:
                raise KeyboardInterrupt

            yield interrupt

    with pytest.raises(KeyboardInterrupt):
        run(twelve, Inventor(waiting=frozenset({2, 3, 4})), Store(tmp_path / "out", create=True), jobs=2, observer=Interrupting())
    assert set(files(tmp_path / "out")) == {f"{name}.parquet" for name in NAMES}
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].to_list() == [1]


def test_a_cancelled_run_is_an_outcome(twelve: Plan) -> None:
    backend = Inventor(waiting=frozenset({1}))
    backend.cancel()
    (outcome,) = execute([next(twelve.runs())], backend, jobs=1)
    assert isinstance(outcome.result, RunCancelled)


def test_bad_runs_are_found_before_anything_is_run_or_written(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    backend = Inventor(refused=frozenset({1}))
    with pytest.raises(InputError, match='scenario "small": it makes no sense'):
        sojourn.run(scenario(), seeds=3, out=tmp_path / "out", backend=backend)
    assert backend.started == []
    assert not (tmp_path / "out").exists()


def test_cells_that_are_the_same_run_are_found_before_anything_is_run(scenario: Callable[..., Scenario]) -> None:
    cells = [Cell({"length": name}, scenario()) for name in ("short", "long")]
    with pytest.raises(InputError, match="test: the cells length=short and length=long are the same run; exclude one"):
        plan(Campaign.of_cells("test", cells), Inventor())


@pytest.mark.parametrize("axis", ["seed", "Group", "jain", "value"])
def test_an_axis_cannot_have_the_name_of_a_column(axis: str, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    cells = [Cell({axis: "x"}, scenario())]
    for store in (Memory(), Store(tmp_path / "out", create=True)):
        with pytest.raises(InputError, match=f'axis "{axis}": results have a column of that name'):
            run(plan(Campaign.of_cells("test", cells), Inventor()), Inventor(), store)
