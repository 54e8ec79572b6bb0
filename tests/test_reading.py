"""Commands that read results change nothing, and queries only read."""

import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import sojourn
from conftest import ROOT, Capture, complaint, scenario_data
from doubles import Inventor
from sojourn.campaign import Plan
from sojourn.cli.commands import status
from sojourn.errors import InputError, StoreFailed
from sojourn.scenario import Scenario, from_data
from sojourn.store import query
from stores import damage, keep, planned


@pytest.fixture
def three(scenario: Callable[..., Scenario]) -> Plan:
    """Plans three runs."""
    return planned(scenario, 3)


def contents(directory: Path) -> dict[Path, bytes]:
    """Returns all files of a directory but the lock and log that SQLite keeps while it reads."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not path.name.endswith(("-wal", "-shm"))}


READERS = {
    "query": lambda out: ["query", out, "select count(*) from runs"],
    "report": lambda out: ["report", out],
    "plot": lambda out: ["plot", out, "--figure", "fairness", "--out", f"{out}.svg"],
    "compare": lambda out: ["compare", out, "tcp=cubic", "tcp=newreno"],
    "claims": lambda out: ["claims", "piotrowska", out],
    "plan": lambda out: ["plan", str(ROOT / "examples" / "bufferbloat.toml"), "--out", out],
}


@pytest.mark.parametrize(
    ("damaged", "command"),
    [
        *(("flows.parquet", command) for command in READERS),
        *(pytest.param("journal.sqlite", command, marks=() if command == "query" else pytest.mark.long) for command in READERS),
    ],
)
def test_reading_moves_nothing(command: str, damaged: str, three: Plan, tmp_path: Path, capsys: Capture) -> None:
    """A command that only reads names the damaged file on one line, exits with 1, and changes nothing."""
    out = tmp_path / "out"
    keep(three, out)
    damage(out / damaged, "truncated")
    before = contents(out)
    assert status(READERS[command](str(out))) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(f"sojourn: {out / damaged}: ")
    assert "nothing was changed" in said
    assert contents(out) == before


@pytest.mark.parametrize("sql", ["select * from flows", "select count(*) from runs", "select sum(bytes_delivered) from flows"])
def test_damage_within_file(sql: str, three: Plan, tmp_path: Path, capsys: Capture) -> None:
    """Damage that shows only when values are read is blamed on the file too, in SQL as in frames."""
    out = tmp_path / "out"
    keep(three, out)
    file = out / "flows.parquet"
    whole = file.read_bytes()
    # Values begin after the magic number; the footer, which is at the end, remains.
    file.write_bytes(whole[:4] + b"x" * 2000 + whole[2004:])
    before = contents(out)
    reads_flows = "flows" in sql
    assert status(["query", str(out), sql]) == (1 if reads_flows else 0)
    if reads_flows:
        assert complaint(capsys).startswith(f"sojourn: {file}: is damaged; nothing was changed")
    with sojourn.open(out) as store:
        assert store.runs.height == 3
        with pytest.raises(StoreFailed, match=r"flows\.parquet: is damaged"):
            _ = store.flows
    with pytest.raises(StoreFailed, match=r"flows\.parquet: is damaged"), sojourn.open(out) as store:
        store.scan("flows").collect()
    assert contents(out) == before


WRITES = {
    "copy runs to '{out}/x.csv'": "COPY: a query only reads",
    "copy (pivot runs on seed using avg(jain)) to '{out}/x.csv'": "COPY: a query only reads",
    "copy runs to '{tmp}/x.csv'": "COPY: a query only reads",
    "/* why */ copy runs to '{out}/x.csv'": "COPY: a query only reads",
    "explain analyze copy runs to '{out}/x.csv'": "EXPLAIN: a query only reads",
    "export database '{out}/x'": "EXPORT: a query only reads",
    "install httpfs": "INSTALL: a query only reads",
    "load httpfs": "LOAD: a query only reads",
    "attach '{out}/x.db'": "ATTACH: a query only reads",
    "attach '{out}/journal.sqlite' (type sqlite)": "ATTACH: a query only reads",
    "create table x as select 1": "CREATE: a query only reads",
    "drop view runs": "DROP: a query only reads",
    "insert into runs select * from runs": "INSERT: a query only reads",
    "set enable_external_access = true": "SET: a query only reads",
    "pragma database_list": "PRAGMA: a query only reads",
    "select 1; copy runs to '{out}/x.csv'": "2 statements; write one",
    "select * from read_csv('/etc/passwd')": "/etc/passwd: a query reads only files of the results directory",
    "select * from read_text('{out}/../small.toml')": "small.toml: a query reads only files of the results directory",
    "select * from glob('/*')": "/*: a query reads only files of the results directory",
    "select * from 'http://localhost/x.parquet'": "a query reads only files of the results directory",
    "select * from read_blob(['{out}/sojourn.json', '/etc/passwd'])": "a query reads only files of the results directory",
    "select * from store": "store does not exist",
    "select to_seconds(seed) as i from runs": "i: is an interval, which no table can hold",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a directory of results that no test changes."""
    out = tmp_path_factory.mktemp("results") / "out"
    keep(planned(lambda: from_data(scenario_data(), "test"), 2), out)
    return out


@pytest.mark.parametrize("sql", WRITES)
def test_queries_only_read(sql: str, made: Path, tmp_path: Path, capsys: Capture) -> None:
    """Whatever writes, or reads outside the directory, is refused on one line with status 2, and nothing is written."""
    (made.parent / "small.toml").write_text("private")
    before = contents(made.parent)
    text = sql.format(out=made, tmp=tmp_path)
    assert status(["query", str(made), text]) == 2
    assert WRITES[sql] in complaint(capsys)
    with sojourn.open(made) as store, pytest.raises(InputError, match=re.escape(WRITES[sql])):
        store.sql(text)
    assert contents(made.parent) == before
    assert not list(tmp_path.iterdir())


def test_keyword_as_axis(scenario_file: Callable[..., Path], tmp_path: Path, capsys: Capture) -> None:
    """A query that names an axis called by a word of SQL without quotes is told to quote it, and with quotes it is answered."""
    file, out = scenario_file(), tmp_path / "out"
    axes = '[sweep.axes]\nlimit = { key = "flows.0.tcp", values = ["cubic", "newreno"] }\n"flows.0.count" = [1, 2]\n'
    file.write_text(f"{file.read_text()}{axes}", encoding="utf-8")
    sojourn.run(file, out=out, backend=Inventor())
    for sql, named in {
        "select limit, avg(jain) from runs group by limit": '"limit"',
        "select flows.0.count from runs": '"flows.0.count"',
        """select "limit", 'limit', sed from runs limit 3""": None,
    }.items():
        assert status(["query", str(out), sql]) == 2
        said = complaint(capsys)
        assert said.endswith(f"; write {named} with its quotes: SQL means something else by it\n") == (named is not None), said
        assert named is not None or "with its quotes" not in said
    assert status(["query", str(out), 'select "limit", "flows.0.count" from runs']) == 0


def test_order_of_groups(made: Path) -> None:
    """Groups and distinct rows whose order is left to the database are sorted; rows of a frame keep its order."""
    with sojourn.open(made) as store:
        groups = store.sql("select (range * 7919) % 5000 as a, count(*) as b from range(200000) group by a")
        assert groups["a"].to_list() == list(range(5000))
        assert store.sql("select distinct 5 - range as a from range(3)")["a"].to_list() == [3, 4, 5]
        assert store.sql("select 5 - range as a from range(3)")["a"].to_list() == [5, 4, 3]
        chosen = store.sql("select range % 2 as a, count(*) from range(3) group by a order by a desc")
        assert chosen["a"].to_list() == [1, 0]


@pytest.mark.parametrize(
    "sql",
    [
        "from runs",
        "with a as (select seed from runs) select * from a;",
        "pivot runs on seed using avg(jain)",
        "describe runs",
        "summarize flows",
        "values (1)",
        "select * from '{out}/run*.parquet'",
        "select json_extract(specification, '$.seed') from runs -- a comment",
    ],
)
def test_queries_of_all_forms(sql: str, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever only reads is answered, also of other files of the directory and through a link to it."""
    link = made.parent / "link"
    if not link.exists():
        link.symlink_to(made)
    monkeypatch.chdir(made.parent)
    for out in (made, link, Path("out"), Path("link")):
        with sojourn.open(out) as store:
            assert store.sql(sql.format(out=out)).height > 0


def test_query_of_another_directory(made: Path, tmp_path: Path, capsys: Capture) -> None:
    """A query joins the tables of a directory that `--with` names; only these directories are read, and names are checked."""
    other = tmp_path / "other"
    keep(planned(lambda: from_data(scenario_data(), "test"), 3), other)
    sql = "select before.seed from runs right join old.runs as before using (request) where runs.key is null"
    assert status(["query", str(made), sql, "--with", f"old={other}", "--csv"]) == 0
    assert capsys.readouterr().out == "seed\n3\n"
    with sojourn.open(made) as store, sojourn.open(other) as older:
        assert store.sql("select count(*) from old.runs", {"old": older}).item() == 3
        assert store.sql("select count(*) from runs").item() == 2
        with pytest.raises(InputError, match="a query reads only files of the results directory"):
            store.sql(f"select * from '{tmp_path}/elsewhere.parquet', old.runs", {"old": older})
    for option, message in {
        "old": "write NAME=DIR2",
        f"main={other}": "cannot name a directory in SQL",
        f"a-b={other}": "cannot name a directory in SQL",
        f"old={tmp_path}": "not a results directory",
    }.items():
        assert status(["query", str(made), "from old.runs", "--with", option]) == 2
        assert message in complaint(capsys)


def test_query_without_end(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A query that goes on for longer than it may is one line and status 2."""
    monkeypatch.setattr(query, "MOST_SECONDS", 0.5)
    endless = "select count(*) from range(1000000000) a, range(1000000000) b where a.range * b.range = 7"
    assert status(["query", str(made), endless]) == 2
    assert "the query has no answer after 0.5 s" in complaint(capsys)


@pytest.mark.parametrize(
    ("limit", "text", "said"),
    [
        ("sojourn.store.query.MOST_VALUES", "from range(100000000000)", "the query finds more than 1,000 rows; ask for less"),
        ("sojourn.cli.query.MOST_PRINTED", "from range(1001)", "the query finds 1,001 rows, too many to print"),
    ],
)
def test_query_of_too_much(
    limit: str, text: str, said: str, made: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A query that finds more than memory has room for is one line and status 2."""
    monkeypatch.setattr(limit, 1_000)
    assert status(["query", str(made), f"select * {text}"]) == 2
    assert said in complaint(capsys)
    assert status(["query", str(made), "select * from range(1000)", "--csv"]) == 0


def test_query_beyond_memory(made: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A query that DuckDB cannot hold, with all memory of the machine neither, is one line and status 2."""

    def exhausted(_database: object, _text: str) -> None:
        raise duckdb.OutOfMemoryException("Out of Memory Error: could not allocate")

    monkeypatch.setattr(query, "_found", exhausted)
    assert status(["query", str(made), "select list(r) from range(100000000000) t(r)"]) == 2
    assert "the query needs more memory than there is; ask for less" in complaint(capsys)
