import gc
import json
import random
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from doubles import Inventor
from sojourn import _engine
from sojourn.analysis.frames import NAMES
from sojourn.analysis.records import Record, of_run
from sojourn.backends.result import RECORDED, TRANSFERS
from sojourn.campaign import Plan, execute, run
from sojourn.errors import InputError, StoreFailed
from sojourn.metrics import METRICS, Metric, Scope
from sojourn.store import InMemory, Store, write_whole
from sojourn.store.encoding import decode, encode
from sojourn.store.journal import Journal
from sojourn.store.marker import SCHEMA
from sojourn.store.parquet import GROUP_ROWS, Writer, pieces
from stores import MakeScenario, damage, flips, keep, planned


@pytest.fixture
def three(scenario: MakeScenario) -> Plan:
    return planned(scenario, 3)


def journal_only(runs: Plan, directory: Path, backend: Inventor | None = None) -> None:
    """Leaves a store as after a crash before its first consolidation: all runs are in the journal only."""
    with Store(directory, create=True) as store:
        store.begin(runs.axes)
        for outcome in execute(runs.runs(), backend or Inventor()):
            assert isinstance(outcome.result, bytes)
            store.add(outcome.run, outcome.result)


def snapshot(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def parquet(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.parquet")}


@pytest.mark.parametrize("is_own", [True, False])
def test_keys_in_memory_follow_the_journal(is_own: bool, three: Plan, tmp_path: Path) -> None:
    """A run that is dropped is no longer among those that have finished, and one that is added is, whoever does it."""
    journal_only(three, tmp_path)
    keys = list(three.cells[0].keys(3))
    with closing(Journal(tmp_path / "journal.sqlite")) as journal, closing(Journal(tmp_path / "journal.sqlite")) as other:
        changed = journal if is_own else other
        assert journal.among([*keys, "00" * 16]) == set(keys)
        (outcome,) = execute([next(three.runs())], Inventor())
        assert isinstance(outcome.result, bytes)
        changed.drop(outcome.run.key)
        assert journal.among(keys) == set(keys) - {outcome.run.key}
        changed.add(outcome.run, outcome.result)
        assert journal.among(keys) == set(keys)


def test_record_round_trip(three: Plan) -> None:
    """A record that is encoded and decoded is the same, with short and long series."""
    first = next(three.runs())
    for repeat in (1, 20_000):
        record = of_run(first, Inventor().run(first.specification))
        longer = pl.concat([record.queue_series] * repeat)
        record = Record(**{**vars(record), "queue_series": longer})
        again = decode(encode(record))
        for name, value in vars(record).items():
            other = getattr(again, name)
            assert value.equals(other) and value.schema == other.schema if isinstance(value, pl.DataFrame) else value == other


def test_long_frames_are_decoded_piece_by_piece(three: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Transfers and recorded values in several streams make the records, and the files, that those in one stream make."""
    first = next(three.runs())
    transfers = pl.DataFrame([pl.Series(name, range(250)).cast(kind) for name, kind in TRANSFERS.items()])
    recorded = pl.DataFrame([pl.Series(name, range(130)).cast(kind) for name, kind in RECORDED.items()])
    record = replace(of_run(first, Inventor().run(first.specification)), transfers=transfers, recorded=recorded)
    whole = encode(record)
    monkeypatch.setattr("sojourn.store.encoding.ROWS_AT_ONCE", 100)
    monkeypatch.setattr("sojourn.store.consolidation.BATCH_SAMPLES", 100)
    in_pieces = encode(record)
    assert in_pieces != whole
    for encoded in (whole, in_pieces):
        again = decode(encoded)
        assert again.transfers.equals(transfers)
        assert again.recorded.equals(recorded)
        assert decode(encoded, wholly=False).transfers.height == 250
        with Store(tmp_path / str(len(encoded)), create=True) as store:
            store.begin(list(three.axes))
            store.add(first, encoded)
            store.consolidate()
    for name in NAMES:
        files = [(tmp_path / str(len(encoded)) / f"{name}.parquet").read_bytes() for encoded in (whole, in_pieces)]
        assert files[0] == files[1]


def test_decoding_leaves_no_memory(three: Plan) -> None:
    """Of a record that was decoded nothing stays, so that the memory of a consolidation does not grow with the runs."""
    first = next(three.runs())
    encoded = encode(of_run(first, Inventor().run(first.specification)))
    decode(encoded)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(1000):
        decode(encoded)
    # What refers to itself waits for the collector, in some versions of Python more of it than in others.
    gc.collect()
    assert sys.getallocatedblocks() - before < 500


def test_damaged_records_are_refused(three: Plan) -> None:
    """A truncated record is always refused; a flipped bit is refused or changes nothing."""
    first = next(three.runs())
    encoded = encode(of_run(first, Inventor().run(first.specification)))
    refused = 0
    for place in range(len(encoded)):
        with pytest.raises(ValueError, match="not a record"):
            decode(encoded[:place])
        flipped = bytes([encoded[place] ^ 0x10])
        try:
            # A few bits of the compressed form have no meaning.
            assert encode(decode(encoded[:place] + flipped + encoded[place + 1 :])) == encoded
        except ValueError as error:
            assert "not a record" in str(error)  # noqa: PT017, since most raise, but not all
            refused += 1
    assert refused > 0.98 * len(encoded)


def test_foreign_directory_is_untouched(tmp_path: Path) -> None:
    """A directory with other files is refused and not changed."""
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match=r'holds "thesis\.tex" and is not a results directory'):
        Store(tmp_path, create=True)
    with pytest.raises(InputError, match=r"not a results directory \(no sojourn\.json\)"):
        sojourn.open(tmp_path)
    assert snapshot(tmp_path) == {tmp_path / "thesis.tex": b"precious"}


def test_file_as_directory(tmp_path: Path) -> None:
    """A file, or a path below one, is refused."""
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match=r"file: is a file; give a directory"):
        Store(tmp_path / "file", create=True)
    with pytest.raises(InputError, match="Not a directory"):
        Store(tmp_path / "file" / "below", create=True)


@pytest.mark.parametrize(
    ("marker", "what"),
    [
        ('{"schema": 2}', "results of schema 2"),
        ('{"schema": 10, "engine": "0.1.0", "digest": "ab"}', "results of schema 10 by Sojourn 0.1.0 (engine ab)"),
    ],
)
@pytest.mark.parametrize("crashed", [False, True])
def test_other_schema_is_untouched(crashed: bool, marker: str, what: str, three: Plan, tmp_path: Path) -> None:
    """A store of another schema is refused, not changed: one line names the file, what the store is, and what to do."""
    (journal_only if crashed else keep)(three, tmp_path)
    (tmp_path / "sojourn.json").write_text(marker)
    before = snapshot(tmp_path)
    remedy = "but this version reads schema 1; nothing was changed; use that version or another directory"
    for create in (True, False):
        with pytest.raises(InputError) as raised:
            Store(tmp_path, create=create)
        assert str(raised.value) == f"{tmp_path / 'sojourn.json'}: {what}, {remedy}"
    assert snapshot(tmp_path) == before


#: A metric of a version that this one does not know.
FOREIGN = Metric(name="of_later_pct", title="x", scope=Scope.RUN, unit="%", decimals=0, definition="x", compute=lambda _: 7.0)


@pytest.mark.parametrize("crashed", [False, True])
def test_metrics_of_other_versions(
    crashed: bool, three: Plan, scenario: MakeScenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A metric that older results lack is null, and one that is not known is kept, also when a store grows."""
    with monkeypatch.context() as other:
        known = {name: metric for name, metric in METRICS.items() if name != "jain"}
        other.setattr("sojourn.metrics.registry.METRICS", {**known, FOREIGN.name: FOREIGN})
        (journal_only if crashed else keep)(planned(scenario, 2), tmp_path)
    for finished in (2, 3):
        if finished == 3:
            keep(three, tmp_path)
        with sojourn.open(tmp_path) as store:
            for name, frame in (("runs", store.runs), ("groups", store.groups)):
                assert frame["jain"].is_not_null().to_list() == [False, False, True][:finished]
                assert frame[FOREIGN.name].to_list() == [7, 7, None][:finished]
                asked = store.sql(f"select jain, {FOREIGN.name} from {name} order by seed")
                assert asked.equals(frame.select("jain", FOREIGN.name))
                assert store.result(["scenario"], None).columns(name, ["jain"]).equals(frame.select("jain"))


def test_pandas_conversion(three: Plan) -> None:
    """Frames convert to pandas with the same values."""
    frame = run(three, Inventor(), InMemory(), jobs=1).result.flows.to_pandas()
    assert frame["bytes_delivered"].tolist() == [1000, 1001, 2000, 2001, 3000, 3001]
    assert frame["completed"].isna().all()


def test_other_axes_are_null(three: Plan, scenario: MakeScenario, tmp_path: Path) -> None:
    """A run has null for axes of other campaigns; a campaign's result has only its own axes."""
    keep(three, tmp_path)
    other = planned(lambda: scenario(duration="5 s"), 1, tcp='it"s', queue="b")
    keep(other, tmp_path)
    with sojourn.open(tmp_path) as store:
        assert store.runs.columns[:5] == ["key", "scenario", "tcp", "queue", "seed"]
        assert store.runs.select("scenario", "tcp", "queue", "seed").rows() == [
            (None, 'it"s', "b", 1),
            *(("small", None, None, seed) for seed in (1, 2, 3)),
        ]
        assert len(store) == 4
    # The result of a campaign has only its own axes and runs.
    result = keep(three, tmp_path).result
    assert result.runs.columns[:3] == ["key", "scenario", "seed"]
    assert result.runs.height == 3


def test_axes_equal_in_sql(scenario: MakeScenario, tmp_path: Path) -> None:
    """Axes that differ only in case are refused, since SQL ignores case."""
    keep(planned(scenario, 1, tcp="a"), tmp_path)
    with pytest.raises(InputError, match='axis "TCP": the results have an axis "tcp"'):
        keep(planned(scenario, 2, TCP="a"), tmp_path)


def test_sql_reads_journal(three: Plan, tmp_path: Path) -> None:
    """SQL also reads finished runs that are only in the journal."""
    journal_only(three, tmp_path)
    with sojourn.open(tmp_path) as store:
        assert store.sql("select scenario, sum(events) from runs group by all").rows() == [("small", 6)]
        assert store.sql("select seed, count(*) as n from flows group by all order by seed").rows() == [
            (1, 2),
            (2, 2),
            (3, 2),
        ]
        assert store.sql("select * from queues").to_pandas().shape[0] == store.queues.height == 3
        assert store.sql("select * from series").equals(store.series)


def test_empty_store(tmp_path: Path) -> None:
    """An empty store has empty tables."""
    with Store(tmp_path, create=True) as store:
        for name in NAMES:
            assert store.sql(f"select * from {name}").height == 0
            assert getattr(store, name).height == 0


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("selec 1", 'invalid query: syntax error at or near "selec"'),
        ("select jian from runs", 'Referenced column "jian" not found'),
        ("", "empty query"),
    ],
)
def test_bad_query(query: str, message: str, tmp_path: Path) -> None:
    """A wrong query is a one-line error."""
    with Store(tmp_path, create=True) as store, pytest.raises(InputError, match=message) as raised:
        store.sql(query)
    assert "\n" not in str(raised.value)


#: What is not long: each file in one way, and one file in each.
DAMAGED = [
    pytest.param(name, how, marks=() if how == "truncated" or name == NAMES[0] else pytest.mark.long)
    for name in NAMES
    for how in ("truncated", "empty", "foreign", "missing", "a directory")
]


@pytest.mark.parametrize(("name", "how"), DAMAGED)
def test_damaged_file_is_set_aside(name: str, how: str, three: Plan, scenario: MakeScenario, tmp_path: Path) -> None:
    """A damaged file is moved to `set-aside` and its runs are made again; those in the journal are kept."""
    keep(three, tmp_path / "whole")
    before = parquet(tmp_path / "whole")
    out = tmp_path / "out"
    keep(planned(scenario, 2), out)
    # The third run is in the journal and so is not lost.
    journal_only(three, out)
    damage(out / f"{name}.parquet", how)
    messages: list[str] = []
    backend = Inventor()
    keep(three, out, messages.append, backend)
    assert sorted(run["seed"] for run in backend.started) == [1, 2]
    assert len(messages) == 1
    assert f"{name}.parquet" in messages[0]
    assert "2 runs will be run again" in messages[0]
    assert parquet(out) == before
    if how != "missing":
        assert (out / "set-aside" / f"{name}.parquet").exists()


#: Seeds of single bits that are flipped.
FLIPS = [pytest.param(seed, marks=() if seed < 1 else pytest.mark.long) for seed in range(16)]


def frames(store: Store) -> dict[str, pl.DataFrame]:
    return {name: store.scan(name).collect() for name in NAMES}


def are_same(found: dict[str, pl.DataFrame], wanted: dict[str, pl.DataFrame]) -> bool:
    return all(found[name].equals(wanted[name]) for name in NAMES)


@pytest.mark.parametrize("seed", FLIPS)
def test_flipped_bit_of_frame(seed: int, three: Plan, tmp_path: Path) -> None:
    """Whichever bit of a Parquet file is flipped, the file is named, or the numbers are the same: in a frame and in a query."""
    keep(three, tmp_path)
    with sojourn.open(tmp_path) as store:
        before = frames(store)
    noticed = 0
    for name in NAMES:
        file = tmp_path / f"{name}.parquet"
        for bit in flips(file, 25, seed):
            try:
                with sojourn.open(tmp_path) as store:
                    assert store.scan(name).collect().equals(before[name]), f"{name}: bit {bit}"
                    assert store.sql(f"from {name}").equals(before[name]), f"{name}: bit {bit}"
            except StoreFailed as error:
                assert str(file) in str(error)  # noqa: PT017, since most raise, but not all
                noticed += 1
    assert noticed > 0.95 * 25 * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_flipped_frame_is_made_again(name: str, three: Plan, tmp_path: Path) -> None:
    """A frame with a flipped bit is named and moved to `set-aside`, and its runs are made again."""
    keep(three, tmp_path)
    before = parquet(tmp_path)
    file, messages = tmp_path / f"{name}.parquet", list[str]()
    for _ in flips(file, 1, 1):
        damaged = file.read_bytes()
        keep(three, tmp_path, messages.append)
        assert parquet(tmp_path) == before
    assert len(messages) == 1
    assert f"{file}: is damaged" in messages[0]
    assert (tmp_path / "set-aside" / file.name).read_bytes() == damaged


def test_flip_during_campaign(three: Plan, scenario: MakeScenario, tmp_path: Path) -> None:
    """A bit of a file that is flipped while runs are made does not get into the new file."""
    keep(planned(scenario, 2), tmp_path)
    messages: list[str] = []
    with Store(tmp_path, create=True, notify=messages.append) as store:
        for _ in flips(tmp_path / "flows.parquet", 1, 1):
            run(three, Inventor(), store, jobs=1)
            assert "flows.parquet: is damaged" in messages[0]
            assert store.runs["seed"].to_list() == [3]


@pytest.mark.parametrize("seed", FLIPS)
@pytest.mark.parametrize("crashed", [False, True])
def test_flipped_bit_of_journal(crashed: bool, seed: int, three: Plan, tmp_path: Path) -> None:
    """Whichever bit of the journal is flipped, it is told, or the numbers are the same; a command that makes runs mends it."""
    whole, out = tmp_path / "whole", tmp_path / "out"
    (journal_only if crashed else keep)(three, whole)
    keep(three, tmp_path / "wanted")
    with sojourn.open(tmp_path / "wanted") as store:
        before = frames(store)
    for bit in flips(whole / "journal.sqlite", 12, seed):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(whole, out)
        try:
            with sojourn.open(out) as store:
                assert are_same(frames(store), before), f"bit {bit}"
        except StoreFailed as error:
            assert f"{out / 'journal.sqlite'}: " in str(error)  # noqa: PT017, since some raise, but not all
        messages: list[str] = []
        keep(three, out, messages.append)
        with sojourn.open(out) as store:
            assert are_same(frames(store), before), f"bit {bit}"
            assert len(store) == 3
        assert len(messages) <= 1


def test_runs_may_be_added_while_the_list_is_checked(three: Plan, tmp_path: Path) -> None:
    """A run that another process adds in the middle of the check of the list of finished runs is no damage."""
    keep(three, tmp_path)
    file = tmp_path / "journal.sqlite"

    def add(statement: str) -> None:
        if "INDEXED BY requests" in statement:
            with closing(sqlite3.connect(file)) as other, other:
                other.execute("INSERT INTO finished VALUES (randomblob(16), randomblob(16), 1)")

    with closing(Journal(file)) as journal:
        before = journal.finished()
        journal._database.set_trace_callback(add)
        journal.among([])
        assert journal.finished() == before + 1


def test_journal_appears_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process sees no tables before their checksum is written, for it would take them for damaged ones."""
    file, seen = tmp_path / "journal.sqlite", list[int]()

    def definitions(journal: Journal, compute: Callable[[Journal], int] = Journal._definitions) -> int:
        with closing(sqlite3.connect(file)) as other:
            seen.append(other.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        return compute(journal)

    monkeypatch.setattr(Journal, "_definitions", definitions)
    with closing(Journal(file)):
        pass
    assert seen[0] == 0
    assert seen[-1] > 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE finished SET backend = 7", "the list of finished runs is damaged"),
        ("UPDATE finished SET request = zeroblob(16) WHERE key = (SELECT min(key) FROM finished)", "the list of finished runs"),
        ("DELETE FROM finished", "the list of finished runs is damaged"),
    ],
)
def test_list_of_runs_is_checked(change: str, told: str, three: Plan, tmp_path: Path) -> None:
    """A list of finished runs that differs from the index beside it is told, and made again from the files: no run is lost."""
    keep(three, tmp_path)
    file = tmp_path / "journal.sqlite"
    index = "name = 'requests'"
    with closing(sqlite3.connect(file)) as journal, journal:
        # As if the index were not there, so that it stays as it was.
        (row,) = journal.execute(f"SELECT * FROM sqlite_master WHERE {index}").fetchall()
        journal.execute("PRAGMA writable_schema = on")
        journal.execute(f"DELETE FROM sqlite_master WHERE {index}")
    with closing(sqlite3.connect(file)) as journal, journal:
        journal.execute(change)
        journal.execute("PRAGMA writable_schema = on")
        journal.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    with sojourn.open(tmp_path) as store, pytest.raises(StoreFailed, match=told):
        store.among([])
    messages, backend = list[str](), Inventor()
    keep(three, tmp_path, messages.append, backend)
    assert told in messages[0]
    assert not backend.started


@pytest.mark.parametrize(
    "marker",
    ["", "{", "[]", "{}"]
    + [
        f'{{"schema": {said}}}'
        for said in (SCHEMA, f'{SCHEMA}, "engine": "0.1.0"', f'{SCHEMA}, "digest": 5', '"1", "digest": "ab"')
    ],
)
@pytest.mark.parametrize("crashed", [False, True])
def test_damaged_marker(crashed: bool, marker: str, three: Plan, tmp_path: Path) -> None:
    """Results beside a damaged marker are not locked out: a command that makes runs writes it again, others say so."""
    (journal_only if crashed else keep)(three, tmp_path)
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "sojourn.json").write_text(marker)
    for create in (True, False):
        with pytest.raises(InputError, match="cannot be read; use another directory"):
            Store(tmp_path / "alone", create=create)
    (tmp_path / "sojourn.json").write_text(marker)
    with pytest.raises(InputError, match=r"sojourn\.json: is damaged; the results are not: a command that makes runs"):
        sojourn.open(tmp_path)
    messages, backend = list[str](), Inventor()
    keep(three, tmp_path, messages.append, backend)
    assert not backend.started
    assert "sojourn.json: was damaged and has been written again" in messages[0]
    with sojourn.open(tmp_path) as store:
        assert len(store) == store.runs.height == 3


def test_damaged_marker_of_another_schema(three: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged marker beside frames of another schema is not written again as this version's; nothing is changed."""
    with monkeypatch.context() as other:
        for module in ("marker", "parquet"):
            other.setattr(f"sojourn.store.{module}.SCHEMA", 10)
        keep(three, tmp_path)
    with pytest.raises(InputError, match="results of schema 10 by Sojourn"):
        sojourn.open(tmp_path)
    (tmp_path / "sojourn.json").write_text("{")
    before = snapshot(tmp_path)
    for create in (True, False):
        with pytest.raises(InputError, match=r"sojourn\.json: cannot be read; use another directory"):
            Store(tmp_path, create=create)
    assert snapshot(tmp_path) == before


def test_forgotten_records_are_not_overwritten(three: Plan, tmp_path: Path) -> None:
    """Dropping records of 4 MB writes less than 1 MB, also where SQLite was built to write zeros over what is deleted."""
    file = tmp_path / "journal.sqlite"
    with closing(Journal(file)) as journal:
        journal.add(next(three.runs()), random.Random(1).randbytes(4_000_000))
    with closing(Journal(file)) as journal:
        journal.begin_consolidation()
        journal.forget(journal.last(), "digest")
        assert (tmp_path / "journal.sqlite-wal").stat().st_size < 1_000_000


def test_file_of_another_store(three: Plan, scenario: MakeScenario, tmp_path: Path) -> None:
    """A file of another store is set aside."""
    keep(three, tmp_path / "out")
    keep(planned(scenario, 2), tmp_path / "other")
    shutil.copy(tmp_path / "other" / "flows.parquet", tmp_path / "out" / "flows.parquet")
    messages: list[str] = []
    keep(three, tmp_path / "out", messages.append)
    assert "flows.parquet: is damaged or belongs to another store" in messages[0]


@pytest.mark.parametrize("how", ["truncated", "foreign", "empty", "missing"])
def test_lost_journal(how: str, three: Plan, scenario: MakeScenario, tmp_path: Path) -> None:
    """Without its journal, a store loses only the runs that were not in the files yet."""
    keep(three, tmp_path / "whole")
    out = tmp_path / "out"
    keep(planned(scenario, 2), out)
    journal_only(three, out)
    damage(out / "journal.sqlite", how)
    messages: list[str] = []
    backend = Inventor()
    keep(three, out, messages.append, backend)
    assert [run["seed"] for run in backend.started] == [3]
    assert len(messages) == (how in ("truncated", "foreign"))
    assert parquet(out) == parquet(tmp_path / "whole")


def test_forgotten_store_is_closed(three: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is forgotten, as in `sojourn.open("results").runs`, closes its journal; Python 3.13 warns of open ones."""
    keep(three, tmp_path)
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remembered(*arguments: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    assert sojourn.open(tmp_path).runs.height == 3
    gc.collect()
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    assert opened


def test_foreign_database_is_set_aside(three: Plan, tmp_path: Path) -> None:
    """A database that is no journal is moved to `set-aside` unchanged."""
    Store(tmp_path, create=True).close()
    (tmp_path / "journal.sqlite").unlink()
    with sqlite3.connect(tmp_path / "journal.sqlite") as database:
        database.execute("CREATE TABLE precious (thing TEXT)")
    database.close()
    messages: list[str] = []
    keep(three, tmp_path, messages.append)
    assert "journal.sqlite: not a journal of Sojourn; moved to" in messages[0]
    with sqlite3.connect(tmp_path / "set-aside" / "journal.sqlite") as database:
        assert database.execute("SELECT count(*) FROM precious").fetchall() == [(0,)]
    database.close()


def test_unreadable_record(three: Plan, tmp_path: Path) -> None:
    """A record that cannot be read is an error to who reads, and is reported and made again where runs are made."""
    out = tmp_path / "out"
    journal_only(three, out)
    with sqlite3.connect(out / "journal.sqlite") as database:
        database.execute("UPDATE journal SET record = x'00' WHERE number = 2")
    database.close()
    cannot = f"{out / 'journal.sqlite'}: 1 run cannot be read"
    with Store(out) as store, pytest.raises(StoreFailed, match=f"{re.escape(cannot)}; nothing was changed"):
        _ = store.runs
    messages: list[str] = []
    with Store(out, create=True, notify=messages.append) as store:
        assert store.runs.height == 2
    assert messages == [f"{cannot} and will be run again"]
    backend = Inventor()
    keep(three, out, backend=backend)
    assert len(backend.started) == 1


@pytest.mark.parametrize(
    "replaced", [pytest.param(number, marks=() if number % 3 == 1 else pytest.mark.long) for number in range(len(NAMES) + 1)]
)
def test_crash_during_consolidation(
    replaced: int, three: Plan, scenario: MakeScenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash between the files, some are new and some old: every run still counts once."""
    keep(three, tmp_path / "whole")
    for begun in (0, 2):
        out = tmp_path / str(begun)
        if begun:
            keep(planned(scenario, begun), out)
        journal_only(three, out)
        replace = Path.replace
        done: list[Path] = []

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        def fail(self: Path, target: Path, replace: Callable[..., Path] = replace, done: list[Path] = done) -> Path:
            if len(done) == replaced:
                raise KeyboardInterrupt
            done.append(target)
            return replace(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", fail)
            if replaced == len(NAMES):
                patch.setattr("sojourn.store.journal.Journal.forget", interrupt)
            with Store(out) as store, pytest.raises(KeyboardInterrupt):
                store.consolidate()
        with Store(out, notify=pytest.fail) as store:
            assert len(store) == 3
            assert store.sql("select count(*), count(distinct key) from flows").rows() == [(6, 3)]
        assert parquet(out) == parquet(tmp_path / "whole")


def test_marker(tmp_path: Path) -> None:
    """sojourn.json has the schema, and the version and digest of the engine."""
    Store(tmp_path / "new" / "store", create=True).close()
    marker = json.loads((tmp_path / "new" / "store" / "sojourn.json").read_text())
    assert marker == {
        "schema": SCHEMA,
        "engine": sojourn.__version__,
        "digest": _engine.digest(),
    }


def test_writers_of_one_stem(tmp_path: Path) -> None:
    """Files of one stem, and two writers of one file, do not write over each other; a failed one leaves nothing."""

    def write_while_others_do(unfinished: Path) -> None:
        unfinished.write_text("first")
        write_whole(tmp_path / "q.pdf", lambda path: path.write_text("second"))
        write_whole(tmp_path / "q.png", lambda path: path.write_text("third"))

    def fail(unfinished: Path) -> None:
        unfinished.write_text("half")
        raise OSError("no room")

    write_whole(tmp_path / "q.png", write_while_others_do)
    with pytest.raises(OSError, match="no room"):
        write_whole(tmp_path / "q.pdf", fail)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"q.png": "first", "q.pdf": "second"}


def test_files_as_another_library_reads_them(tmp_path: Path) -> None:
    """Row groups of a fixed size, zstd, short bounds of columns, and the same bytes whatever pieces the rows came in."""
    rows = GROUP_ROWS["runs"] * 2 + 100
    frame = pl.DataFrame({"key": [f"{i:06}" for i in range(rows)], "specification": ["x" * 3_000 + str(i) for i in range(rows)]})
    frame = frame.with_columns(pl.int_range(rows).cast(pl.Float64()).alias("jain"))
    found = []
    for size in (rows, 1_000, GROUP_ROWS["runs"]):
        folder = tmp_path / str(size)
        folder.mkdir()
        writer = Writer(folder / "runs.parquet", "runs", frame.schema)
        for piece in frame.iter_slices(size):
            writer.write(piece)
        writer.close("digest")
        assert [file.name for file in folder.iterdir()] == ["runs.parquet"]
        found.append((folder / "runs.parquet").read_bytes())
    assert len(set(found)) == 1
    pyarrow = pytest.importorskip("pyarrow.parquet")
    file = pyarrow.ParquetFile(tmp_path / "1000" / "runs.parquet")
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    assert [group.num_rows for group in groups] == [GROUP_ROWS["runs"]] * 2 + [100]
    assert {group.column(number).compression for group in groups for number in range(3)} == {"ZSTD"}
    assert [groups[1].column(2).statistics.min, groups[1].column(2).statistics.max] == [4096.0, 8191.0]
    assert file.metadata.serialized_size < 4_000
    assert file.read()["specification"].to_pylist() == frame["specification"].to_list()
    assert pl.concat(pieces(tmp_path / "1000" / "runs.parquet", frame.schema)).equals(frame)
