import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT, Capture, complaint
from doubles import SIMULATOR, Inventor, register
from sojourn import api, catalogue, figures
from sojourn.analysis.frames import NAMES
from sojourn.cli.commands import COMMANDS, sojourn, status
from sojourn.errors import RunFailed
from sojourn.inventory.listing import KINDS
from sojourn.scenario import agents
from sojourn.study import library
from sojourn.sweeps import schema

ScenarioFile = Callable[..., Path]

STUDY = ROOT / "studies" / "tsioliaridou" / "study.toml"
EXAMPLE = ROOT / "examples" / "bufferbloat.toml"


def snapshot(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_run_writes_and_shows(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """`run` writes the Parquet files and shows flows and queues, without progress when stderr is no terminal."""
    assert status(["run", str(scenario_file()), "--seeds", "2", "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr()
    assert "newreno" in shown.out
    assert "left->right" in shown.out
    assert shown.err == ""  # progress is only shown on terminals
    files = {path.name for path in (tmp_path / "out").iterdir()}
    frames = {f"{name}.parquet" for name in NAMES}
    assert files == {"sojourn.json", "journal.sqlite", "commands.jsonl", *frames}
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].to_list() == [1, 2]


@pytest.mark.parametrize("arguments", [[], ["linux"]])
def test_help_cuts_nothing(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """The list of commands says what each does to the end, also on a narrow terminal."""
    monkeypatch.setenv("COLUMNS", "60")
    assert status([*arguments, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "..." not in shown.partition("--help")[2]
    assert max(map(len, shown.splitlines())) <= 60


def test_help_has_sections(capsys: Capture) -> None:
    """Help lists all commands, in sections by what they are for."""
    assert status(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Options:", "Run:", "Look:", "Judge:", "For developers:"]
    listed = [line.split()[0] for line in lines[lines.index("Run:") :] if line.startswith("  ") and line[2] != " "]
    assert listed == list(COMMANDS)


def test_check_summarises_scenario(scenario_file: ScenarioFile, capsys: Capture) -> None:
    """`check` counts the nodes, links and flows of a valid scenario."""
    assert status(["check", str(scenario_file())]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith('small.toml: scenario "small" is valid: 4 nodes, 6 one-way links, 2 flows, 4 s')


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "missing.toml"], "missing.toml: No such file or directory"),
        (["run", "missing.toml"], "missing.toml: No such file or directory"),
        (["reproduce", "piotrovska"], 'unknown study "piotrovska", did you mean "piotrowska"?'),
        (["reproduce", "piotrowska", "--only", "load=XC"], 'unknown value of axis load "XC"'),
        (["reproduce", "piotrowska", "--only", "laod=UC"], 'unknown axis "laod", did you mean "load"?'),
        (["reproduce", "piotrowska", "--only", "UC"], "--only UC: write AXIS=VALUE"),
        (["reproduce", "piotrowska", "--seeds", "0"], "--seeds"),
        (["reproduce", "piotrowska", "--jobs", "none"], "--jobs"),
        (["describe", "codle"], 'unknown name "codle", did you mean "codel"?'),
        (["reproduce", str(EXAMPLE)], f"bufferbloat.toml: is a scenario; write sojourn run {EXAMPLE}"),
        (["plan", str(STUDY)], f"study.toml: is a study; write sojourn reproduce {STUDY}"),
        (["list", "queue"], "'queues'"),
        (["list", "figures", "sojourn", "nothing"], "no figures with sojourn and nothing; sojourn list figures shows all"),
        (["rnu"], "rnu"),
        (["run", "--sede", "3"], "--sede"),
    ],
)
def test_bad_input(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Bad input is a one-line error with status 2, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    assert status(arguments) == 2
    assert message in complaint(capsys)
    assert list(tmp_path.iterdir()) == []


def test_list_names_metrics_once(capsys: Capture) -> None:
    """`list figures` shows a metric's figures on one line; programs get every figure that `plot` knows."""
    assert status(["list", "figures"]) == 0
    shown = capsys.readouterr().out
    assert len(re.findall(r"│ \S*fairness-1s\S*", shown)) == 1
    names = set(re.findall(r"^│ (\S+)", shown, re.MULTILINE))
    forms = ("heatmap-{}", "line-{}", "box-{}", "cdf-{}", "{}-by-group", "line-{}-by-group")
    assert set(figures.available()) <= names | {form.format(name) for form in forms for name in names}
    assert status(["list", "figures", "--csv"]) == 0
    assert [row["name"] for row in csv.DictReader(capsys.readouterr().out.splitlines())] == list(figures.available())


@pytest.mark.parametrize(
    ("what", "words", "expected"),
    [
        ("queues", ["FQ"], {"fq_codel", "fq_pie"}),
        ("queues", ["stochastic_fair", "blue"], {"sfb"}),
        ("figures", ["share"], {"share-by-group", "link-share-by-group", "line-share", "line-link-share"}),
        ("metrics", ["sojourn", "p99"], {"sojourn_p99_s"}),
        ("features", ["rtt", "mean"], {"latency_ratio", "rtt_mean"}),
        ("actions", ["queue"], {"probability"}),
        ("rewards", ["fairness"], {"astraea"}),
    ],
)
def test_list_with_words(what: str, words: list[str], expected: set[str], capsys: Capture) -> None:
    """`list WHAT WORD...` shows only what has all words in its name or in what is told of it, on a terminal and for programs."""
    assert status(["list", what, *words, "--csv"]) == 0
    found = [row["name"] for row in csv.DictReader(capsys.readouterr().out.splitlines())]
    assert expected <= set(found)
    assert len(found) < 12
    assert status(["list", what, *words]) == 0
    names = set(re.findall(r"^│ (\S+)", capsys.readouterr().out, re.MULTILINE))
    assert expected <= names


@pytest.mark.parametrize("what", KINDS)
def test_list_fits_the_terminal(what: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """No line is wider than a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    assert status(["list", what]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_list_of_agents(capsys: Capture) -> None:
    """Each feature, action and reward of agents is listed once, features with bounds and the others with defaults."""
    listed = {}
    for what in ("features", "actions", "rewards"):
        assert status(["list", what, "--json"]) == 0
        listed[what] = json.loads(capsys.readouterr().out)
        assert [row["name"] for row in listed[what]] == [each["name"] for each in agents.registry()[what]]
    (inflation,) = (row for row in listed["features"] if row["name"] == "latency_inflation")
    # PCC-RL, src/common/sender_obs.py: the bounds of "latency inflation" are -1 and 10, its scale 1.
    assert (inflation["unit"], inflation["least"], inflation["most"], inflation["scale"]) == ("s/s", -1, 10, 1)
    (rate,) = (row for row in listed["actions"] if row["name"] == "rate_steps")
    assert rate["parameters"] == ['least = "100 kbit/s"', 'most = "10 Gbit/s"', "steps = *1 /2 /1.1 *1.1 *2"]


def test_store_continues(scenario_file: ScenarioFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """More seeds are added without repeating runs; another scenario's runs do not show in the tables."""
    out = tmp_path / "out"
    assert status(["run", str(scenario_file()), "--seeds", "2", "--out", str(out)]) == 0
    backend = Inventor(identity=SIMULATOR)
    register(monkeypatch, lambda: backend)
    assert status(["run", str(scenario_file()), "--seeds", "3", "--out", str(out)]) == 0
    assert [run["seed"] for run in backend.started] == [3]
    capsys.readouterr()
    assert status(["run", str(scenario_file(('"1 s"', '"2 s"'))), "--out", str(out)]) == 0
    assert "Means over" not in capsys.readouterr().out
    assert pl.read_parquet(out / "runs.parquet").height == 4


def test_foreign_directory_is_untouched(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """A directory with other files is refused and not changed."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "flows.parquet").write_bytes(b"precious")
    before = snapshot(out)
    for command in (["run", str(scenario_file())], ["reproduce", "piotrowska"], ["demo"]):
        assert status([*command, "--out", str(out)]) == 2
        assert 'holds "flows.parquet" and is not a results directory' in capsys.readouterr().err
    assert snapshot(out) == before


def test_query_formats(scenario_file: ScenarioFile, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """`query` prints a table, CSV, JSON or Parquet with the same values."""
    out = tmp_path / "out"
    assert status(["run", str(scenario_file()), "--seeds", "2", "--out", str(out)]) == 0
    capfdbinary.readouterr()

    def shown(*arguments: str) -> bytes:
        assert (
            status(
                ["query", str(out), "select seed, flow_count as flows, nullif(aborted, 0) as x from runs order by 1", *arguments]
            )
            == 0
        )
        return capfdbinary.readouterr().out

    table = shown().decode().splitlines()
    assert [cell.strip() for cell in table[1].split("┃")[1:-1]] == ["seed", "flows", "x"]
    assert [cell.strip() for cell in table[3].split("│")[1:-1]] == ["1", "2", ""]
    assert shown("--csv") == b"seed,flows,x\n1,2,\n2,2,\n"
    assert json.loads(shown("--json")) == [{"seed": 1, "flows": 2, "x": None}, {"seed": 2, "flows": 2, "x": None}]
    assert pl.read_parquet(shown("--parquet")).rows() == [(1, 2, None), (2, 2, None)]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select jian from runs", 'column "jian" not found'),
        ("select 'x'::int from runs", "Could not convert"),
        ("", "empty query"),
    ],
)
def test_bad_query(sql: str, message: str, scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """A wrong query or directory is a one-line error with status 2."""
    out = tmp_path / "out"
    assert status(["run", str(scenario_file()), "--out", str(out)]) == 0
    capsys.readouterr()
    assert status(["query", str(out), sql]) == 2
    assert message in complaint(capsys)
    assert status(["query", str(tmp_path / "nowhere"), "select 1"]) == 2
    assert "(no sojourn.json)" in complaint(capsys)


def test_list_and_describe(capsys: Capture) -> None:
    """`list` names every entry of the catalogue and every study, and `describe` describes each, in sentences without gaps."""
    known = catalogue.load()
    for what, entries in (("tcp", known.congestion_controls), ("queues", known.queues), ("profiles", known.profiles)):
        assert status(["list", what]) == 0
        listed = capsys.readouterr().out
        for entry in entries:
            assert entry.name in listed
            assert status(["describe", entry.name]) == 0
            described = capsys.readouterr().out
            assert entry.title in described
            about = [line for line in described.splitlines() if line.startswith(("Source:", "Deviations:"))]
            assert not any("  " in line for line in about), about
    assert status(["list", "studies"]) == 0
    assert "piotrowska" in capsys.readouterr().out
    assert status(["describe", "piotrowska"]) == 0
    assert "10.3390/app11177808" in capsys.readouterr().out


def test_describe_parameters(capsys: Capture) -> None:
    """`describe` shows every parameter with its default."""
    codel = catalogue.load().queue("codel")
    assert status(["describe", "codel"]) == 0
    described = capsys.readouterr().out
    for parameter in codel.parameters:
        assert parameter.name in described
        assert parameter.format(parameter.default) in described


def test_describe_unknown_name(capsys: Capture) -> None:
    """`describe` of an unknown name suggests the nearest and lists no others."""
    assert status(["describe", "cubicc"]) == 2
    said = 'sojourn: unknown name "cubicc", did you mean "cubic"? (sojourn list shows those of each kind)\n'
    assert complaint(capsys) == said


def test_describe_profile_settings(capsys: Capture) -> None:
    """`describe` of a profile shows what each setting may be."""
    assert status(["describe", "linux-6", "--json"]) == 0
    allowed = {row["name"]: row["allowed"] for row in json.loads(capsys.readouterr().out)["settings"]}
    assert allowed["recovery"].startswith("tahoe, reno, newreno, sack, ")
    assert allowed["timestamps"] == "boolean"


def test_describe_profile_defaults(capsys: Capture) -> None:
    """`describe` of a profile shows its defaults of algorithms' parameters with their sources, also as JSON."""
    assert status(["describe", "linux-6"]) == 0
    described = capsys.readouterr().out
    assert status(["describe", "linux-6", "--json"]) == 0
    given = json.loads(capsys.readouterr().out)["defaults"]
    assert [(row["tcp"], row["name"], row["value"]) for row in given if row["tcp"] == "hstcp"] == [("hstcp", "rules", "linux")]
    assert all(row["source"] in described for row in given)


def test_schema(capsys: Capture) -> None:
    """`schema` prints the schema of scenarios."""
    assert status(["schema"]) == 0
    assert capsys.readouterr().out == schema.text()


ONLY = ["--only", "scenario=AL", "--only", "load=UC", "--only", "queue=DT", "--only", "tcp=newreno", "--only", "tcp=mixed"]


def test_reproduce_tables_and_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`reproduce --tables` shows the tables of the cells it ran, writes cells.csv and adds to earlier results."""
    monkeypatch.chdir(tmp_path)
    assert status(["reproduce", "piotrowska", *ONLY, "--tables"]) == 0
    shown = capsys.readouterr().out
    for number in (6, 7, 8, 9, 12, 13):
        assert f"Table {number}. Access link" in shown
    assert "Data centre" not in shown
    assert "727 | " in shown
    cells = pl.read_csv(tmp_path / "results" / "piotrowska" / "cells.csv")
    assert cells.height == 3 + 1 + 2 + 1 + 16 + 3
    # The only value that cannot be measured is Jain's index of flows that delivered nothing.
    assert set(cells.filter(pl.col("measured").is_null())["metric"]) <= {"jain"}
    agreeing = int(cells["agrees"].sum())
    assert f"│   all │{'':<75}│{agreeing:>6} │{cells.height:>6} │".replace(" ", "") in shown.replace(" ", "")

    # The next results are added to the first.
    assert status(["reproduce", "piotrowska", *ONLY, "--seeds", "2", "--tables"]) == 0
    assert " ± " in capsys.readouterr().out
    again = pl.read_csv(tmp_path / "results" / "piotrowska" / "cells.csv")
    runs = pl.read_parquet(tmp_path / "results" / "piotrowska" / "runs.parquet")
    assert sorted(runs.select("tcp", "seed").rows()) == [("mixed", 1), ("mixed", 2), ("newreno", 1), ("newreno", 2)]
    assert (again["ci_low"] <= again["measured"]).all()
    assert (again["measured"] <= again["ci_high"]).all()


def test_failed_run_status(scenario_file: ScenarioFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A failed run gives status 1 and one line; the other runs are kept and their tables shown."""
    register(monkeypatch, lambda: Inventor(failing={2: RunFailed("it broke")}))
    assert status(["run", str(scenario_file()), "--seeds", "3", "--out", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr()
    summary, failure = shown.err.splitlines()
    assert "│     2 │" in shown.out or "Means over 2 seeds" in shown.out
    assert summary.startswith(f"2 of 3 runs succeeded, 1 failed; results are in {tmp_path / 'out'}")
    assert failure == "sojourn: run small/2: it broke"
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet")["seed"].to_list() == [1, 3]
    with pytest.raises(RunFailed) as failed:
        api.run(scenario_file(), seeds=3, backend=Inventor(failing={2: RunFailed("it broke")}))
    assert failed.value.result.runs["seed"].to_list() == [1, 3]


def test_resuming_says_what_was_found(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """A command that finds runs in its directory says how many they were, and how many it made."""
    command = ["run", str(scenario_file()), "--out", str(tmp_path / "out"), "--seeds"]
    assert status([*command, "2"]) == 0
    assert capsys.readouterr().err == ""
    assert status([*command, "5"]) == 0
    assert capsys.readouterr().err == f"2 of 5 runs found in {tmp_path / 'out'}, 3 made\n"


def test_studies_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The studies are found whatever the current directory is."""
    monkeypatch.chdir(tmp_path)
    assert library.available() == sorted(path.parent.name for path in (ROOT / "studies").glob("*/study.toml"))


def test_progress_as_json(scenario_file: ScenarioFile, tmp_path: Path, capsys: Capture) -> None:
    """With `--progress json`, the last line on stderr has the final counts."""
    for seeds, found in ((2, 0), (5, 2)):
        arguments = ["run", str(scenario_file()), "--out", str(tmp_path / "out"), "--seeds", str(seeds), "--progress", "json"]
        assert status(arguments) == 0
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        last = lines[-1]
        assert last.pop("elapsed_s") > 0
        simulated = 4.0 * (seeds - found)
        assert last == {"done": seeds, "total": seeds, "found": found, "failed": 0, "simulated_s": simulated, "left_s": 0.0}


@pytest.mark.parametrize("error", [MemoryError(), ImportError("libarrow.so: failed to map segment from shared object")])
def test_end_of_memory_told(error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Memory that ends in a library is told in one line with status 1, not as a traceback."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(sojourn, "invoke", fail)
    assert status(["list"]) == 1
    assert capsys.readouterr().err == "sojourn: out of memory; results so far are kept; repeat the command to resume\n"
