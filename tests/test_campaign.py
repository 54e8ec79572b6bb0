import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import polars as pl
import pytest

import sojourn
from doubles import Inventor
from sojourn import backends
from sojourn.analysis.frames import NAMES
from sojourn.backends.result import RunResult
from sojourn.campaign import Campaign, Observer, Plan, Tally, carry_out, execute, plan, run
from sojourn.campaign.admission import of_machine
from sojourn.campaign.execution import execute_together
from sojourn.errors import InputError, RunCancelled, RunFailed
from sojourn.runs import Cell, Run
from sojourn.scenario import Scenario
from sojourn.specification import RunSpecification
from sojourn.store import InMemory, Store

Files = dict[str, bytes]

LENGTHS = {"short": "2 s", "long": "40 s", "middle": "9 s"}


def planned(scenario: Callable[..., Scenario], repetitions: int, *lengths: str) -> Plan:
    cells = [Cell({"length": name}, scenario(duration=LENGTHS[name])) for name in lengths]
    return plan(Campaign.of_cells("test", cells, repetitions), Inventor())


@pytest.fixture
def twelve(scenario: Callable[..., Scenario]) -> Plan:
    """Twelve runs of different lengths."""
    return planned(scenario, 4, *LENGTHS)


def test_longest_runs_start_first(twelve: Plan) -> None:
    """Runs start in the order of their durations, the longest first, and each is made once."""
    backend = Inventor()
    outcomes = list(execute(twelve.runs(), backend, jobs=1))
    durations = [run["duration"] for run in backend.started]
    assert durations == sorted(durations, reverse=True)
    assert sorted(outcome.run.key for outcome in outcomes) == sorted(run.key for run in twelve.runs())


def test_runs_are_planned_lazily(twelve: Plan) -> None:
    """With two workers, at most five runs have been taken from the plan when the first result comes."""
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


def test_files_independent_of_workers(twelve: Plan, tmp_path: Path) -> None:
    """The files of a store have the same bytes for any number of workers and at any time."""
    written: list[Files] = []
    for attempt, jobs in enumerate([1, 2, 4, 1]):
        directory = tmp_path / str(attempt)
        run(twelve, Inventor(), Store(directory, create=True), jobs=jobs)
        written.append(files(directory))
    assert set(written[0]) == {f"{name}.parquet" for name in NAMES}
    assert all(other == written[0] for other in written[1:])


def test_files_independent_of_growth(twelve: Plan, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """A store made in steps has the same bytes as one made at once."""
    run(twelve, Inventor(), Store(tmp_path / "at once", create=True))
    for repetitions, lengths in ((1, ("middle",)), (3, ("short", "middle")), (4, tuple(LENGTHS))):
        grown = run(planned(scenario, repetitions, *lengths), Inventor(), Store(tmp_path / "grown", create=True))
        assert grown.result.runs.height == repetitions * len(lengths)
    assert files(tmp_path / "grown") == files(tmp_path / "at once")


def test_finished_runs_are_skipped(twelve: Plan, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """A campaign runs only what the store lacks, and its result has all of its runs."""
    for store in (InMemory(), Store(tmp_path / "out", create=True)):
        run(planned(scenario, 2, "short", "middle"), Inventor(), store)
        backend = Inventor()
        outcome = run(twelve, backend, store)
        assert len(backend.started) == 8
        assert (outcome.finished, outcome.found) == (12, 4)
        assert outcome.result.runs.height == 12


def test_result_has_only_its_runs(twelve: Plan, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """The result of a campaign leaves out other runs in the store."""
    for store in (InMemory(), Store(tmp_path / "out", create=True)):
        run(twelve, Inventor(), store)
        result = run(planned(scenario, 2, "long"), Inventor(), store).result
        for frame in (result.runs, result.flows, result.queues, result.series):
            assert set(frame["length"]) == {"long"}
            assert frame["seed"].unique(maintain_order=True).to_list() == [1, 2]


def test_frames_are_sorted(twelve: Plan, tmp_path: Path) -> None:
    """Frames are sorted by axes and seed, with the same columns and types from memory and from a store."""
    results = [run(twelve, Inventor(), store, jobs=3).result for store in (InMemory(), Store(tmp_path / "out", create=True))]
    for result in results:
        assert result.runs["length"].to_list() == ["long"] * 4 + ["middle"] * 4 + ["short"] * 4
        assert result.runs["seed"].to_list() == [1, 2, 3, 4] * 3
        assert result.flows["key"].unique(maintain_order=True).to_list() == result.runs["key"].to_list()
        assert result.flows["flow"].to_list() == [0, 1] * 12
        assert result.flows.columns[:4] == ["key", "length", "seed", "backend"]
        assert result.series.columns == ["key", "length", "seed", "backend", "time", "kind", "which", "measure", "value"]
    for name in NAMES:
        assert getattr(results[0], name).equals(getattr(results[1], name))
        assert getattr(results[0], name).schema == getattr(results[1], name).schema


def test_failed_run_stops_no_other(twelve: Plan, tmp_path: Path) -> None:
    """The other runs go on after a failure, and the next campaign makes the failed runs again."""
    backend = Inventor(failing={2: RunFailed("it broke"), 3: InputError("it made no sense")})
    outcome = run(twelve, backend, Store(tmp_path / "out", create=True), jobs=2)
    assert [failure.run.seed for failure in outcome.failures] == [2, 3] * 3
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].to_list() == [1, 4] * 3
    backend = Inventor()
    assert run(twelve, backend, Store(tmp_path / "out"), jobs=2).failures == []
    assert sorted(run["seed"] for run in backend.started) == [2] * 3 + [3] * 3


def test_memory_failure_stops_no_other(twelve: Plan) -> None:
    """A run for which there is no memory, in whatever carries it out, fails alone."""
    outcome = run(twelve, Inventor(failing={2: MemoryError()}), InMemory(), jobs=2)
    assert [failure.failure for failure in outcome.failures] == [f"run {length}/2: out of memory" for length in sorted(LENGTHS)]
    assert outcome.finished == 9


class PanicException(BaseException):
    """What a panic in Rust arrives as."""


def test_panic_stops_no_other(twelve: Plan) -> None:
    """A run in which a library written in Rust panics, such as the one that makes frames, fails alone."""

    class Panicking(Inventor):
        def run(self, run: RunSpecification, /) -> RunResult:
            if run["seed"] == 2:
                raise PanicException("index out of bounds")
            return super().run(run)

    outcome = run(twelve, Panicking(), InMemory(), jobs=2)
    said = [f"run {length}/2: a library found a broken invariant: index out of bounds" for length in sorted(LENGTHS)]
    assert [failure.failure for failure in outcome.failures] == said
    assert outcome.finished == 9


class Hungry(Inventor):
    """Says that a run takes a part of the machine's memory, and counts the runs under way."""

    def __init__(self, part: float, meeting: int = 1) -> None:
        super().__init__()
        self.size = int(part * of_machine())
        self.under_way, self.most = 0, 0
        self.met = threading.Barrier(meeting)
        self.lock = threading.Lock()

    def memory(self, _run: RunSpecification, /) -> int:
        return self.size

    def run(self, run: RunSpecification, /) -> RunResult:
        with self.lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        self.met.wait(timeout=10)
        time.sleep(0.002)
        with self.lock:
            self.under_way -= 1
        return super().run(run)


def test_runs_share_memory(twelve: Plan) -> None:
    """Runs that together would exceed the memory of the machine wait for each other, which is said once; others do not."""
    said: list[str] = []
    large, small = Hungry(0.6), Hungry(0.2, meeting=4)
    for backend in (large, small):
        assert len(list(execute(twelve.runs(), backend, 4, said.append))) == 12
    assert large.most == 1
    assert small.most == 4
    (line,) = said
    assert line.startswith("memory: a run may take ")
    assert line.endswith("fewer runs are made at a time")


def test_run_larger_than_memory(twelve: Plan) -> None:
    """A run whose estimate exceeds the memory of the machine is made alone: the estimate is an upper bound."""
    huge = Hungry(3)
    outcomes = list(execute(twelve.runs(), huge, 4))
    assert all(isinstance(outcome.result, bytes) for outcome in outcomes)
    assert huge.most == 1


def test_unexpected_error_is_raised(twelve: Plan) -> None:
    """An exception that is not one of Sojourn's errors is raised, not turned into a failure."""
    with pytest.raises(ZeroDivisionError):
        run(twelve, Inventor(failing={1: ZeroDivisionError()}), InMemory(), jobs=2)


def test_stopping_cancels_runs(twelve: Plan) -> None:
    """Closing the outcomes early cancels the backend and starts no more runs."""
    backend = Inventor(waiting=frozenset({2, 3, 4}))
    with closing(execute(twelve.runs(), backend, jobs=2)) as outcomes:
        assert next(outcomes).run.seed == 1
    assert backend.cancelled.is_set()
    assert len(backend.started) < len(twelve)


def test_interrupt_keeps_finished_runs(twelve: Plan, tmp_path: Path) -> None:
    """After an interrupt the files of the store have the runs finished before it."""

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


def test_batches_are_runs_beside_each_other(scenario: Callable[..., Scenario], monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs that are made together have the records that each has alone; long ones are made alone."""
    simulator = backends.named("simulator")
    several = {
        "flows": [{"from": "a", "to": "b", "tcp": name, "size": size} for name, size in (("cubic", "20 kB"), ("bbr", None))]
    }
    short = plan(
        Campaign.of_scenario(scenario(duration="100 ms", warm_up="10 ms", probe={"flow_series": "10 ms"}, **several), 5),
        simulator,
    )
    monkeypatch.setattr("sojourn.campaign.execution.MOST_BYTES", 10**9)  # The estimate for samples is a large one.
    (outcomes,) = execute_together(short.runs(), simulator, jobs=1)
    assert [outcome.result for outcome in outcomes] == [carry_out(run, simulator) for run in short.runs()]
    long = plan(Campaign.of_scenario(scenario(duration="60 s"), 3), simulator)
    monkeypatch.setattr("sojourn.campaign.execution.MOST_BITS", long.cells[0].cost)
    assert [len(outcomes) for outcomes in execute_together(long.runs(), simulator, jobs=1)] == [1, 1, 1]


def test_cancelled_run_is_an_outcome(twelve: Plan) -> None:
    """A cancelled run is returned as an outcome, not raised."""
    backend = Inventor(waiting=frozenset({1}))
    backend.cancel()
    (outcome,) = execute([next(twelve.runs())], backend, jobs=1)
    assert isinstance(outcome.result, RunCancelled)


def test_bad_run_starts_nothing(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """A run that the backend refuses is an error before any run starts or any file is written."""
    backend = Inventor(refused=frozenset({1}))
    with pytest.raises(InputError, match='scenario "small": it makes no sense'):
        sojourn.run(scenario(), seeds=3, out=tmp_path / "out", backend=backend)
    assert backend.started == []
    assert not (tmp_path / "out").exists()


def test_same_cells_are_refused(scenario: Callable[..., Scenario]) -> None:
    """Two cells that are the same run are an error at planning."""
    cells = [Cell({"length": name}, scenario()) for name in ("short", "long")]
    with pytest.raises(InputError, match="test: the cells length=short and length=long are the same run; exclude one"):
        plan(Campaign.of_cells("test", cells), Inventor())


@pytest.mark.parametrize("axis", ["seed", "Sender", "jain", "value"])
def test_axis_named_like_column(axis: str, scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """An axis cannot have the name of a column, in upper or lower case."""
    cells = [Cell({axis: "x"}, scenario())]
    for store in (InMemory(), Store(tmp_path / "out", create=True)):
        with pytest.raises(InputError, match=f'axis "{axis}": the results have a column of that name'):
            run(plan(Campaign.of_cells("test", cells), Inventor()), Inventor(), store)
