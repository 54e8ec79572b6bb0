"""Claims: errors of wrong ones, and verdicts on results that are known beforehand."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import sojourn
from conftest import Capture, complaint
from doubles import Inventor, register
from sojourn import api
from sojourn.backends.result import PROGRAMS, RunResult, frame
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.specification import RunSpecification
from sojourn.statistics import fewest_for_a_majority, share
from sojourn.study import library, verdicts
from sojourn.study.tally import Tally
from sojourn.study.verdicts import LEAST_SEEDS, Judged, Verdict

STUDY = """
name = "small"
title = "A small study"
source = "nobody"

[sweep.axes]
load = ["low", "high"]

[[sweep.overrides]]
when = { load = "high" }
set = { "flows.*.count" = 4 }

[scenario]
duration = "4 s"
warm_up = "1 s"

[scenario.network.dumbbell]
bottleneck = { rate = "10 Mbit/s", delay = "5 ms", queue = { name = "codel", limit = "100 packets" } }
senders = [{ name = "a", rate = "100 Mbit/s", delay = "1 ms" }]
receivers = [{ name = "b", rate = "100 Mbit/s", delay = "1 ms" }]

[[scenario.flows]]
from = "a"
to = "b"
count = 2
tcp = "newreno"

[published]
file = "values.csv"

[[tables]]
number = 1
title = "Queue length"
select = {}
metrics = ["queue_mean_pkts"]
"""

VALUES = "table,load,metric,value\n1,low,queue_mean_pkts,3\n1,high,queue_mean_pkts,3\n"

QUERY = "select seed, max(queue_mean_pkts) > 0 as holds, max(queue_mean_pkts) as mean from runs group by seed"

Study = Callable[..., Path]


def claim(query: str = QUERY, *more: str, name: str = "C-1") -> str:
    return "\n".join(
        ["[[claims]]", f'id = "{name}"', 'claim = "so it is"', 'source = "page 1"', f"query = '''{query}'''", *more, ""]
    )


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Writes the study "small" with some claims into the folder of studies, in the current directory."""
    folder = tmp_path / "studies"
    monkeypatch.setattr(library, "FOLDER", folder)
    monkeypatch.chdir(tmp_path)

    def write(*claims: str, values: str = VALUES, name: str = "small") -> Path:
        where = folder / name
        where.mkdir(parents=True)
        (where / "study.toml").write_text(STUDY.replace('"small"', f'"{name}"'), encoding="utf-8")
        (where / "values.csv").write_text(values, encoding="utf-8")
        (where / "claims.toml").write_text("\n".join(claims), encoding="utf-8")
        return where

    return write


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (claim("select nothing"), "study small: claim C-1: invalid query: .*nothing"),
        (claim("select seed, jian > 0 as holds from runs"), "study small: claim C-1: invalid query: .*jian"),
        (claim("select seed, true as holds from run"), "study small: claim C-1: invalid query: .*run"),
        (claim("select seed, jain from runs"), 'study small: claim C-1: the query returns no column "holds"'),
        (claim("select true as holds"), 'study small: claim C-1: the query returns no column "seed"'),
        (claim("select seed, jain as holds from runs"), '"holds" must be true or false'),
        (claim("select seed, true as holds, jain > 0 as fair from runs"), '"fair" must be a number or text'),
        (claim("select max(seed) as seed, max(jain) > 0 as holds from runs"), "returns rows without a seed"),
        (claim(""), "study small: claim C-1: empty query"),
        (claim(QUERY, 'select = { laod = "low" }'), 'study small: claim C-1: select: unknown axis "laod", did you mean "load"'),
        (claim(QUERY, 'select = { load = "lo" }'), 'study small: claim C-1: select: unknown value of axis load "lo"'),
        (claim(QUERY, 'raeding = ""'), 'claims.toml: claims.*: unknown key "raeding", did you mean "reading"'),
        (claim() + claim(), 'claims.toml: claims: two have the id "C-1"'),
        ('[[claims]]\nid = "C-1"\n', r"claims\[1\].claim: this key is required"),
        ("[[claims]", "claims.toml: not valid TOML"),
    ],
)
@pytest.mark.parametrize("command", ["check", pytest.param("reproduce", marks=pytest.mark.long)])
def test_bad_claim_starts_nothing(study: Study, wrong: str, message: str, command: str, capsys: Capture) -> None:
    """A wrong claim is a one-line error of `check` and `reproduce` before any run."""
    study(claim(name="C-0"), wrong)
    with pytest.raises(InputError, match=message):
        api.check_study(library.load("small"))
    assert status([command, "small"]) == 2
    assert "\n" not in complaint(capsys).removesuffix("\n")
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (VALUES.replace("high", "higher"), "values.csv: line 3: no run matches 1, higher, queue_mean_pkts, 3"),
        (VALUES.replace("1,high", "2,high"), 'values.csv: line 3: unknown table "2"'),
        (VALUES.replace("pkts,3\n1", "pkts,three\n1"), "values.csv: line 2: .*three"),
        (VALUES.replace("load,", "laod,"), "values.csv: line 2: no column 'load'"),
    ],
)
def test_published_values_need_runs(study: Study, values: str, message: str, capsys: Capture) -> None:
    """A published value that no run can give is a one-line error before any run."""
    study(claim(), values=values)
    backend = Inventor()
    with pytest.raises(InputError, match=f"study small: .*{message}"):
        sojourn.reproduce("small", backend=backend)
    assert not backend.started
    assert status(["check", "small"]) == 2
    complaint(capsys)


def test_check_summarises_study(study: Study, capsys: Capture) -> None:
    """`check` counts the cells, values and claims of a valid study."""
    study(claim())
    assert status(["check", "small"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "study small is valid: 2 cells, 2 values, 1 claim"


@pytest.mark.parametrize("name", library.available())
def test_bundled_studies_are_valid(name: str) -> None:
    """Every study that comes with Sojourn passes `check`."""
    api.check_study(library.load(name))


def test_clopper_pearson_interval() -> None:
    """The interval of a share is that of Clopper and Pearson (1934)."""
    # All of n: the lower end is 0.025^(1/n). 8 and 9 of 10 are from published tables of the interval.
    assert share(10, 10) == pytest.approx((1.0, 0.025**0.1, 1.0))
    assert share(0, 5) == pytest.approx((0.0, 0.0, 1 - 0.025**0.2))
    assert share(9, 10) == pytest.approx((0.9, 0.5550, 0.9975), abs=5e-5)
    assert share(8, 10) == pytest.approx((0.8, 0.4439, 0.9748), abs=5e-5)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_fewest_seeds_that_decide(confidence: float) -> None:
    """Clopper and Pearson's interval first leaves one half out when that many seeds agree."""
    fewest = fewest_for_a_majority(confidence)
    lowest = [share(seeds, seeds, confidence).low or 0 for seeds in (fewest - 1, fewest) if seeds]
    assert [low > 0.5 for low in lowest] == [False, True][-len(lowest) :]


@pytest.mark.parametrize(
    ("seeds", "line"),
    [
        ([(1, 1), (0, 1)], "1 of 2 claims true on this one seed; a verdict takes 6 seeds"),
        ([(2, 3), (1, 3), (3, 3)], "2 of 3 claims true on most of these 3 seeds; a verdict takes 6 seeds"),
        ([(1, 1), (1, 2)], "1 of 2 claims true on most of their 1 to 2 seeds; a verdict takes 6 seeds"),
        ([(6, 6), (0, 6), (3, 6)], "3 claims on 6 seeds: 1 hold, 1 fail, 1 undecided"),
        ([(1, 1), (7, 7)], "2 claims on 1 to 7 seeds: 1 hold, 0 fail, 1 undecided (a verdict takes 6 seeds)"),
    ],
)
def test_headline_of_claims(study: Study, seeds: list[tuple[int, int]], line: str) -> None:
    """Before a verdict is possible, the headline counts the claims that are true on most of their seeds."""
    study(claim())
    (known,) = library.claims(library.load("small"))
    assert Tally.of(Judged(known, held, of, {}) for held, of in seeds).line == line


@pytest.mark.parametrize(
    ("above", "seeds", "verdict"),
    [
        (0, LEAST_SEEDS, Verdict.HOLDS),
        (0, LEAST_SEEDS - 1, Verdict.UNDECIDED),
        (0, 1, Verdict.UNDECIDED),
        (99, LEAST_SEEDS, Verdict.FAILS),
        (1, 10, Verdict.HOLDS),  # 9 of 10
        (2, 10, Verdict.UNDECIDED),  # 8 of 10
        (9, 10, Verdict.FAILS),  # 1 of 10
    ],
)
def test_verdict_needs_decisive_interval(study: Study, above: int, seeds: int, verdict: Verdict) -> None:
    """A claim holds or fails only if the whole interval is on one side of one half."""
    # The invented queues' mean length is the seed.
    study(claim(QUERY.replace("> 0", f"> {above}")))
    (judged,) = sojourn.reproduce("small", seeds, backend=Inventor()).judged
    assert (judged.held, judged.seeds, judged.verdict) == (max(0, seeds - above), seeds, verdict)
    assert judged.values == {"mean": list(range(1, 1 + seeds))}


def test_evidence_over_seeds(study: Study) -> None:
    """Evidence shows numbers by mean and range, and text by how often each value occurs."""
    words = "if(max(queue_mean_pkts) < 3, 'short', 'long') as length, 'low' as load, null::double as nothing"
    study(claim(QUERY.replace("as mean", f"as mean, {words}, 2.5 as same")))
    (judged,) = sojourn.reproduce("small", 3, backend=Inventor()).judged
    assert judged.shown == "mean 2 (1 to 3), length short (2) / long (1), load low, same 2.5"


def test_claim_sees_selected_cells(study: Study) -> None:
    """The query of a claim reads only the rows of the cells it selects."""
    count = "select seed, count(*) = 1 as holds, count(*) as cells from runs group by seed"
    flows = "select seed, count(*) = 4 as holds, count(*) as flows from flows group by seed"
    series = "select seed, count(*) = 3 as holds, max(value) as most from series group by seed"
    select = 'select = { load = "high" }'
    study(claim(count, select, name="runs"), claim(flows, select, name="flows"), claim(series, select, name="series"))
    assert [each.held for each in sojourn.reproduce("small", backend=Inventor()).judged] == [1, 1, 1]


def test_claims_without_runs(study: Study) -> None:
    """Claims on cells that were not run are not judged."""
    study(claim(name="all"), claim(QUERY, 'select = { load = "low" }', name="low"))
    found = sojourn.reproduce("small", only={"load": "low"}, backend=Inventor())
    assert found.claims["id"].to_list() == ["low"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select seed, true as holds from runs where queue_mean_pkts > 99", "returns 0 rows for seed 1; it must return one"),
        ("select seed, true as holds from runs", "returns 2 rows for seed 1; it must return one"),
        ("select seed, bool_and(completed_flows) as holds from runs group by seed", "completed_flows"),
        ("select seed + 1 as seed, true as holds from runs group by seed", "returns 0 rows for seed 1"),
    ],
)
def test_claim_needs_one_row(study: Study, query: str, message: str) -> None:
    """A query that does not return exactly one row for each seed is an error."""
    study(claim(query))
    with pytest.raises(InputError, match=f"study small: claim C-1: .*{message}"):
        sojourn.reproduce("small", backend=Inventor())


def test_claims_of_directory(study: Study, tmp_path: Path, capsys: Capture) -> None:
    """`claims` judges a results directory and writes the same claims.csv as `reproduce`."""
    study(claim(), claim(QUERY.replace("> 0", "> 8"), name="C-2"))
    out = tmp_path / "out"
    sojourn.reproduce("small", 8, out=out, backend=Inventor())
    with (out / "claims.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert written == [
        {
            **{"id": "C-1", "claim": "so it is", "source": "page 1", "verdict": "holds"},
            **{"held": "8", "seeds": "8"},
            "evidence": "8 of 8 seeds [0.63, 1.00]; mean 4.5 (1 to 8)",
        },
        {
            **{"id": "C-2", "claim": "so it is", "source": "page 1", "verdict": "fails"},
            **{"held": "0", "seeds": "8"},
            "evidence": "0 of 8 seeds [0.00, 0.37]; mean 4.5 (1 to 8)",
        },
    ]
    (out / "claims.csv").unlink()
    assert status(["claims", "small", str(out)]) == 0
    assert "2 claims on 8 seeds: 1 hold, 1 fail, 0 undecided\n" in capsys.readouterr().out
    with (out / "claims.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == written


def test_null_verdict_is_not_counted(study: Study, capsys: Capture) -> None:
    """A seed for which the query returns null is not counted."""
    never, once = (f"if(seed > {seed}, true, null)" for seed in (9, 1))
    study(
        *(
            claim(f"select seed, {holds} as holds from runs group by seed", name=name)
            for name, holds in zip("ab", (never, once), strict=True)
        )
    )
    (judged,) = sojourn.reproduce("small", 8, out="out", backend=Inventor()).judged
    assert (judged.claim.id, judged.held, judged.seeds) == ("b", 7, 7)
    assert status(["claims", "small", "out"]) == 0
    assert "1 claim on 7 seeds: 1 hold, 0 fail, 0 undecided; 1 more cannot be judged from these runs" in capsys.readouterr().out


def test_latest_runs_are_judged(study: Study, capsys: Capture) -> None:
    """Claims are judged on the runs of the latest command for each cell."""
    study(claim("select seed, count(*) = 2 as holds, sum(simulated_s) as simulated from runs group by seed"))

    def judged() -> str:
        assert status(["claims", "small", "out"]) == 0
        return capsys.readouterr().out

    sojourn.reproduce("small", 6, only={"load": "low"}, out="out", backend=Inventor())
    assert "none of 1 claim can be judged from these runs" in judged()
    sojourn.reproduce("small", 6, only={"load": "high"}, changes={"duration": "5 s"}, out="out", backend=Inventor())
    assert "1 claim on 6 seeds: 1 hold" in judged()
    assert "simulated 9" in api.judge(library.load("small"), "out")[0].shown
    # The same cells again with other settings, then one of them as at first.
    sojourn.reproduce("small", 7, changes={"duration": "6 s"}, out="out", backend=Inventor())
    assert "1 claim on 7 seeds" in judged()
    sojourn.reproduce("small", 6, only={"load": "low"}, out="out", backend=Inventor())
    assert "1 claim on 6 seeds" in judged()
    assert "simulated 10" in api.judge(library.load("small"), "out")[0].shown


def test_one_seed_is_undecided(study: Study, capsys: Capture) -> None:
    """With one seed, claims are undecided, and the output says how many seeds are needed."""
    study(claim())
    sojourn.reproduce("small", out="results/small", backend=Inventor())
    assert status(["claims", "small"]) == 0
    assert "1 of 1 claim true on this one seed; a verdict takes 6 seeds\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["claims", "smell"], 'unknown study "smell", did you mean "small"'),
        (["claims", "small"], "results/small"),
        (["claims", "small", "other"], "other: no runs of study small; make them with sojourn reproduce small"),
        (["reproduce", "all", "--only", "load=low"], "reproduce all: does not take --reading, --only or --set; name one study"),
    ],
)
def test_bad_command(study: Study, arguments: list[str], message: str, capsys: Capture) -> None:
    """A wrong command is a one-line error with status 2."""
    study(claim())
    study(claim(), name="second")
    sojourn.reproduce("second", changes={"duration": "5 s"}, out="other", backend=Inventor())
    assert status(arguments) == 2
    assert message in complaint(capsys)


def test_study_without_claims(study: Study, capsys: Capture) -> None:
    """A study without claims writes no claims.csv, and `claims` says that it has none."""
    (study() / "claims.toml").unlink()
    sojourn.reproduce("small", out="out", backend=Inventor())
    assert not Path("out/claims.csv").exists()
    assert status(["claims", "small", "out"]) == 2
    assert "study small: no claims" in complaint(capsys)


def test_reproduce_summarises(study: Study, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`reproduce` prints a row a table, what the claims come to and commands that show more; one of them prints the tables."""
    study(claim())
    register(monkeypatch, Inventor)
    assert status(["reproduce", "small"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not any("published | ours" in line for line in lines)
    assert sum("│ Queue length" in line for line in lines) == 1
    *_, tally, made, tables, claims, report = lines
    assert tally == "1 of 1 claim true on this one seed; a verdict takes 6 seeds"
    assert made == "Results of 2 runs are in results/small"
    commands = [line.split("  ")[1] for line in (tables, claims, report)]
    expected = ["sojourn reproduce small --tables", "sojourn claims small results/small", "sojourn report results/small"]
    assert commands == expected
    # Inventor's queue has the seed's number of packets, 1; the paper's has 3.
    assert status(commands[0].split()[1:]) == 0
    assert "3 | 1.0" in capsys.readouterr().out


def test_reproduce_all_studies(study: Study, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`reproduce all` runs every study that has claims, and summarises the agreement of each."""
    study(claim())
    study(claim(), name="second")
    (study(name="third") / "claims.toml").unlink()
    register(monkeypatch, Inventor)
    assert status(["reproduce", "all", "--out", "papers"]) == 0
    assert sorted(path.name for path in Path("papers").iterdir()) == ["second", "small"]
    assert (Path("papers") / "small" / "claims.csv").exists()
    shown = capsys.readouterr().out
    assert shown.count("1 of 1 claim true on this one seed; a verdict takes 6 seeds") == 2
    # The inventor's mean queue of 1 packet is within the floor of 5 of the published 3; one seed decides nothing.
    summary = [line.replace("│", " ").split() for line in shown.splitlines() if line.startswith("│ s")][-2:]
    assert summary == [["second", "0", "0", "1", "2", "of", "2"], ["small", "0", "0", "1", "2", "of", "2"]]


class Printing(Inventor):
    """A backend whose programs end as many seconds after their start as the seed is, and print that in ms."""

    def run(self, run: RunSpecification, /) -> RunResult:
        took, name = run["seed"], run["programs"][0]["name"]
        row = {"program": 0, "name": name, "host": "a", "command": name, "start": 1.0, "end": 1.0 + took, "status": 0}
        row |= {
            "signal": None,
            "stopped": False,
            "output": f"{1000 * took}\n",
            "errors": "",
            "bytes_output": 5,
            "bytes_errors": 0,
        }
        columns = {column: [(row | {"files_kept": 0, "files_left_out": 0})[column]] for column in PROGRAMS}
        return replace(super().run(run), programs=frame(columns, PROGRAMS))


@pytest.mark.parametrize("out", ["out", None])
def test_claims_are_about_programs_too(study: Study, out: str | None, capsys: Capture) -> None:
    """A claim asks the frame of programs for what they printed and how long they ran, in its own cells, seed by seed."""
    query = (
        'select seed, bool_and(status = 0 and output::double = 1000 * ("end" - start)) and count(*) = 1 as holds, '
        "avg(output::double) as ms from programs where name = 'client' group by seed"
    )
    folder = study(claim(query, 'select = { load = "high" }'))
    text = (folder / "study.toml").read_text(encoding="utf-8")
    program = '[[scenario.programs]]\nat = "a"\nname = "client"\nrun = "true"\n\n[published]'
    (folder / "study.toml").write_text(text.replace("[published]", program), encoding="utf-8")
    (judged,) = sojourn.reproduce("small", 8, out=out, backend=Printing()).judged
    assert (judged.held, judged.seeds, judged.values) == (8, 8, {"ms": [1000.0 * seed for seed in range(1, 9)]})
    if out is not None:
        assert status(["claims", "small", out]) == 0
        assert "ms 4500 (1000 to 8000)" in capsys.readouterr().out


def test_piotrowska_has_forty_claims() -> None:
    """The study piotrowska has at least 40 claims, and all can be bound to its cells."""
    claims = library.claims(library.load("piotrowska"))
    assert len(claims) >= 40
    verdicts.bind(library.load("piotrowska"), claims)


def test_equal_runs_count_once(study: Study) -> None:
    """Seeds that all gave the same run are one for a verdict, and give a published value's mean no interval."""
    study(claim())
    fixed = {"sender_overhead": "0 s", "flows.*.start": "0 s"}
    reproduction = sojourn.reproduce("small", seeds=3, changes=fixed)
    assert [judged.seeds for judged in reproduction.judged] == [1]
    assert reproduction.cells["measured"].null_count() == 0
    assert reproduction.cells["ci_low"].null_count() == reproduction.cells.height
    assert [judged.seeds for judged in sojourn.reproduce("small", seeds=3).judged] == [3]
