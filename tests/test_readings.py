"""Readings of a study: named sets of assumptions, beside what its source states."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import sojourn
from conftest import Capture
from doubles import Inventor, register
from sojourn import api, report
from sojourn.cli.commands import status
from sojourn.errors import InputError
from sojourn.study import library
from sojourn.study.design import AS_STATED, Study

STATED = library.load("piotrowska")

ASSUMED = {
    "description": "A shorter transient.",
    "assumptions": [
        {"when": {"tcp": "cubic"}, "set": {"flows.*.tcp.beta": 0.7}, "reason": "A later default.", "evidence": "RFC 9438."},
        {"when": {}, "set": {"warm_up": "20 s"}, "reason": "It settles sooner.", "evidence": "Another table."},
    ],
}

READ = Study.of({**STATED.model_dump(by_alias=True), "readings": {"as-inferred": ASSUMED}}).at(STATED.origin)

ONLY = {"scenario": "DC", "load": "UC"}


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which a study was reproduced as stated with two seeds, and then as inferred with three."""
    monkeypatch.setattr(library, "load", lambda _name: READ)
    for seeds, reading in ((2, None), (3, "as-inferred")):
        sojourn.reproduce(READ, seeds, reading=reading, only=ONLY, out=tmp_path / "out", backend=Inventor())
    return tmp_path / "out"


def test_reading_changes_its_cells() -> None:
    """A reading sets its keys in the cells that it is for, after all else; as stated, nothing changes."""
    inferred = READ.under("as-inferred")
    assert (READ.reading, inferred.reading, inferred.under(AS_STATED).reading) == (AS_STATED, "as-inferred", AS_STATED)
    for point in STATED.points:
        stated, assumed = STATED.matrix.cell(point).specification, inferred.matrix.cell(point).specification
        assert READ.matrix.cell(point).specification == stated
        assert inferred.under(AS_STATED).matrix.cell(point).specification == stated
        assert (stated["warm_up"], assumed["warm_up"]) == (30 * 10**12, 20 * 10**12)
        betas = [flow["source"]["parameters"]["beta"] for flow in assumed["flows"] if flow["source"]["name"] == "cubic"]
        assert betas == [0.7 if point["tcp"] == "cubic" else 0.8] * len(betas)


@pytest.mark.parametrize(
    ("readings", "message"),
    [
        ({AS_STATED: ASSUMED}, '"as-stated" is the study without any'),
        (
            {"x": {**ASSUMED, "assumptions": [{**ASSUMED["assumptions"][0], "when": {"tcp": "cubik"}}]}},  # type: ignore[dict-item]
            'readings: x: assumptions.0..when: unknown value of axis tcp "cubik"',
        ),
        ({"x": {"description": "", "assumptions": [{"when": {}, "set": {}, "reason": ""}]}}, "evidence"),
    ],
)
def test_bad_readings(readings: dict[str, Any], message: str) -> None:
    """A reading for a cell that there is not, without evidence, or called as stated, is an error."""
    with pytest.raises(ValidationError, match=message):
        Study.of({**STATED.model_dump(by_alias=True), "readings": readings})


def test_unknown_reading(capsys: Capture) -> None:
    """A reading that a study does not have is refused before any run, with those that it has."""
    with pytest.raises(InputError, match=r'study piotrowska: unknown reading "inferred".*as-inferred'):
        READ.under("inferred")
    assert status(["reproduce", "hanai", "--reading", "mine"]) == 2
    assert 'study hanai: unknown reading "mine"' in capsys.readouterr().err
    assert status(["reproduce", "all", "--reading", "mine"]) == 2


def test_bundled_readings_make_scenarios() -> None:
    """Each cell of each reading of a bundled study is a scenario, and some differ from those as stated."""
    for name in library.available():
        study = library.load(name)
        stated = [cell.specification for cell in api.study_campaign(study).cells()] if study.readings else []
        for reading in study.readings:
            assert [cell.specification for cell in api.study_campaign(study.under(reading)).cells()] != stated


def test_readings_share_a_directory(both: Path) -> None:
    """Results of two readings are told apart in one directory, and each is compared with the paper."""
    with api.open(both) as store:
        found = api.by_reading(READ, store)
        assert api.as_made(READ, store).reading == "as-inferred"
        assert store.sql("select count(*) as n from runs")["n"].item() == (2 + 3) * 12
    assert list(found) == [AS_STATED, "as-inferred"]
    keys = [set(each.result.columns("runs", ["key"])["key"]) for each in found.values()]
    assert [len(each) for each in keys] == [24, 36]
    assert not keys[0] & keys[1]
    for reading, each in found.items():
        assert each.cells["reading"].unique().to_list() == [reading]


def test_report_by_reading(both: Path) -> None:
    """The report is of the latest reading; it says what this assumes and why, and what each reading comes to."""
    page = report.write(both).read_text(encoding="utf-8")
    for told in ("Reading: as-inferred. A shorter transient.", "warm_up = 20 s", "A later default. RFC 9438."):
        assert told in page
    table = page[page.index("By reading of the source") :]
    assert table.index('<th scope="row">as-stated') < table.index('<th scope="row">as-inferred')


def test_reproduce_shows_readings(both: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`reproduce` ends with what each reading comes to, and `claims` judges the latest."""
    register(monkeypatch, Inventor)
    chosen = [f"--only={axis}={label}" for axis, label in ONLY.items()]
    assert status(["reproduce", "piotrowska", "--seeds", "3", *chosen, "--reading", "as-inferred", "--out", str(both)]) == 0
    shown = capsys.readouterr().out
    lines = shown[shown.index("By reading") :].splitlines()
    assert [line.split()[1] for line in lines if line.startswith("│")] == [AS_STATED, "as-inferred"]
    assert status(["claims", "piotrowska", str(both), "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert {claim["seeds"] for claim in judged} == {3}


def test_one_reading_has_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Where one reading was reproduced, nothing is told twice."""
    monkeypatch.setattr(library, "load", lambda _name: READ)
    register(monkeypatch, Inventor)
    chosen = [f"--only={axis}={label}" for axis, label in {**ONLY, "queue": "codel"}.items()]
    assert status(["reproduce", "piotrowska", *chosen, "--reading", "as-inferred", "--out", str(tmp_path / "out")]) == 0
    assert "By reading" not in capsys.readouterr().out
    assert "By reading" not in report.write(tmp_path / "out").read_text(encoding="utf-8")


def test_describe_shows_readings(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """`describe` of a study lists what its readings set, for which cells, and why."""
    stated = library.contents("piotrowska")
    monkeypatch.setattr(library, "contents", lambda _name: {**stated, "readings": {"as-inferred": ASSUMED}})
    assert status(["describe", "piotrowska"]) == 0
    shown = capsys.readouterr().out
    for told in ("as-inferred", "tcp = cubic", "warm_up = 20 s", "RFC 9438."):
        assert told in shown
