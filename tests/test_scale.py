"""Campaigns of many runs: memory, and how often a store is asked."""

import math
import multiprocessing
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import polars as pl
import pytest

import campaigns
import sojourn
from doubles import Inventor
from sojourn import backends
from sojourn.analysis.estimates import of_cells, over_seeds
from sojourn.analysis.frames import NAMES
from sojourn.analysis.records import Record, of_run
from sojourn.bench import large_stores, many_runs, synthetic
from sojourn.campaign import run
from sojourn.errors import RunFailed
from sojourn.exports import tcp_info
from sojourn.exports.tcp_info import samples
from sojourn.metrics import METRICS
from sojourn.runs import Run
from sojourn.scenario import Scenario
from sojourn.statistics import estimate
from sojourn.store import InMemory, Store
from sojourn.store.encoding import encode
from sojourn.store.merging import Merge

MB = 1_000_000


def blocks(rows: pl.DataFrame, chance: random.Random) -> Iterator[pl.DataFrame]:
    while rows.height:
        size = chance.randint(1, 5)
        yield rows[:size]
        rows = rows[size:]


@pytest.mark.parametrize("seed", range(30))
def test_merge_is_a_sort(seed: int) -> None:
    """Merging two sorted sources block by block gives what sorting all rows does, the newer ones where both have a key."""
    chance = random.Random(seed)
    keys = [f"{number:02}" for number in range(40)]
    axis = {key: chance.choice([None, "a", "b"]) for key in keys}

    def source(name: str) -> pl.DataFrame:
        chosen = [key for key in keys if chance.random() < 0.5]
        rows = [(axis[key], key, row, name) for key in chosen for row in range(chance.randint(1, 4))]
        schema = {"axis": pl.String, "key": pl.String, "row": pl.Int64, "source": pl.String}
        return pl.DataFrame(rows, schema=schema, orient="row").sort("axis", "key", maintain_order=True)

    old, new = source("old"), source("new")
    merge = Merge(blocks(old, chance), ["axis", "key"])
    merged = [piece for block in blocks_by_key(new) for piece in merge.with_next(block)]
    everything = pl.concat([old.filter(~pl.col("key").is_in(new["key"].to_list())), new])
    assert pl.concat([old.clear(), *merged, *merge.rest()]).equals(everything.sort("axis", "key", "row"))


def blocks_by_key(rows: pl.DataFrame) -> Sequence[pl.DataFrame]:
    """Blocks of three runs each: the rows of a run come together."""
    runs = rows.partition_by("key", maintain_order=True)
    return [pl.concat(runs[start : start + 3]) for start in range(0, len(runs), 3)]


def test_summary_agrees_with_estimate(tmp_path: Path) -> None:
    """The mean and interval of a cell, summed up as its file is read, are those of its values."""
    planned = campaigns.small(7)
    with Store(tmp_path / "out", create=True) as store:
        result = run(planned, Inventor(identity=planned.backends[0]), store).result
    for labels, cell in of_cells(result.scan("runs"), ["tcp"], ["queue_mean_pkts", "jain"]).items():
        runs = result.runs.filter(tcp=labels[0])
        assert cell.seeds == 7
        for name, found in cell.measured.items():
            expected = estimate(runs[name].to_list()).within(*METRICS[name].bounds)
            assert found is not None
            assert tuple(found) == pytest.approx(tuple(expected), rel=1e-12)


def test_means_have_one_order(tmp_path: Path) -> None:
    """Means and intervals are the same to the last bit however their rows are read; floats are summed up in the rows' order."""
    chance = random.Random(1)
    rows = pl.DataFrame(
        {"cell": [f"{place // 20_000}" for place in range(80_000)], "value": [chance.random() for _ in range(80_000)]}
    )
    found = [over_seeds(rows.lazy(), ["cell"], ["value"])]
    for size in (100, 100, 100, 1_000, 4_096):
        rows.write_parquet(tmp_path / "rows.parquet", row_group_size=size)
        found.append(over_seeds(pl.scan_parquet(tmp_path / "rows.parquet"), ["cell"], ["value"]))
    assert all(each.equals(found[0]) for each in found)
    for cell, value in zip("0123", found[0]["value"], strict=True):
        assert value == pytest.approx(math.fsum(rows.filter(cell=cell)["value"]) / 20_000, rel=1e-14)


def test_resume_asks_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is asked for many runs at once, and runs that it has are not made into specifications."""
    monkeypatch.setattr("sojourn.campaign.runner.CHUNK", 50)
    planned, store, backend = campaigns.small(70), InMemory(), Inventor(identity=campaigns.small(1).backends[0])
    run(planned, backend, store)
    asked: list[int] = []

    def among(keys: Sequence[str], among: Callable[[Sequence[str]], object] = store.among) -> object:
        asked.append(len(keys))
        return among(keys)

    monkeypatch.setattr(store, "among", among)
    monkeypatch.setattr("sojourn.campaign.planning.Run", pytest.fail)
    outcome = run(planned, backend, store)
    assert (outcome.found, len(backend.started)) == (140, 140)
    assert asked == [50, 20, 50, 20]


def test_connections_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states of connections are the same in many pieces as in one, and no piece is much larger than wanted."""
    made = campaigns.small(1).cells[0].run()
    whole = tcp_info(made)
    monkeypatch.setattr("sojourn.backends.simulator.ROWS_AT_ONCE", 7)
    assert tcp_info(made).equals(whole)
    assert {piece.height for piece in samples(made)} <= {2, 8}
    assert whole.height == 2 * 41


def test_many_runs_need_no_memory(scenario: Callable[..., Scenario], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More runs than are held in memory are read from a temporary directory, which goes with the result or a failure."""
    monkeypatch.setattr("sojourn.api.execution.MOST_IN_MEMORY", 2)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = sojourn.run(scenario(), seeds=3, backend=Inventor())
    assert result.runs.equals(sojourn.run(scenario(), seeds=3, backend=Inventor(), out=tmp_path / "out").runs)
    assert len(list(tmp_path.glob("sojourn-*"))) == 1
    del result
    with pytest.raises(RunFailed):
        sojourn.run(scenario(), seeds=3, backend=Inventor(failing={2: RunFailed("no")}))
    assert not list(tmp_path.glob("sojourn-*"))


def test_synthetic_store_is_real(tmp_path: Path) -> None:
    """A store that repeats all runs of each cell is that of the campaign; one that repeats fewer has the same keys."""
    planned, simulator = campaigns.small(5), backends.named("simulator")
    with Store(tmp_path / "made", create=True) as store:
        made = run(planned, simulator, store, jobs=1).result
    for sample in (5, 2):
        synthetic.fill(tmp_path / str(sample), planned, simulator, sample)
        filled = sojourn.open(tmp_path / str(sample))
        assert len(filled) == 10
        for name in NAMES:
            wanted, found = made.scan(name).collect(), filled.scan(name).collect()
            columns = (
                found.columns if sample == 5 else [name for name in ("key", "seed", "request", "specification") if name in found]
            )
            assert found.select(columns).equals(wanted.select(columns))
            assert found.schema == wanted.schema


#: Bytes for each run more that a command may take: what is held of every run is a few numbers at most.
BYTES_A_RUN = 400

FEWER, MORE = 16_000, 256_000


@pytest.fixture(scope="module")
def two_stores(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Mapping[str, list[str]]]:
    """The commands that read a store of few, and one of many runs."""
    directory = tmp_path_factory.mktemp("stores")
    return [large_stores.commands(*large_stores.fill(directory, runs)) for runs in (FEWER, MORE)]


@pytest.mark.long
@pytest.mark.parametrize("command", large_stores.commands(Path(), 1, Path()))
def test_commands_need_no_memory(command: str, two_stores: Sequence[Mapping[str, list[str]]]) -> None:
    """A command that reads 240,000 runs more takes at most 96 MB more; to hold their metrics takes twice that.

    One measurement of three must show it: how much polars' threads hold at once depends on when each is given the processor.
    """

    def grown() -> float:
        less, more = (many_runs.took(commands[command])["memory_megabytes"] for commands in two_stores)
        return more - less

    assert any(grown() < BYTES_A_RUN * (MORE - FEWER) / MB for _ in range(3))


@pytest.mark.long
def test_memory_independent_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Consolidating four times as many runs takes little more memory: 24 MB are 1.3 kB for each run more.

    Free memory is returned at once, as the command line has it: what polars' allocator keeps otherwise depends on time.
    """
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
    less, more = (_peak(tmp_path / str(runs), runs) for runs in (6_000, 24_000))
    assert more - less < 24 * MB


def _peak(directory: Path, runs: int) -> int:
    context = multiprocessing.get_context("spawn")  # a server of forks may have begun with another environment
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_consolidate, args=(directory, runs, sender))
    process.start()
    sender.close()
    peak: int = receiver.recv()
    process.join()
    return peak


def _consolidate(directory: Path, runs: int, answer: Connection) -> None:
    """Fills a store with runs and consolidates it; answers with the peak of the process's resident memory."""
    planned, simulator = campaigns.small(runs // 2), backends.named("simulator")
    with Store(directory, create=True) as store:
        store.begin(planned.axes)
        for cell in planned.cells:
            first = cell.run()
            record = of_run(first, simulator.run(first.specification))
            for made in cell.runs(range(runs // 2)):
                store.add(made, encode(_of(made, record)))
        store.consolidate()
        assert store.sql("select count(*) from flows").item() == 2 * runs
    answer.send(_high_water_mark())


def _of(made: Run, record: Record) -> Record:
    return replace(record, key=made.key, seed=made.seed, summary={**record.summary, "specification": made.text})


def _high_water_mark() -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
