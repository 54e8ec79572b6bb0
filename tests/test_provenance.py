import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

import sojourn
from conftest import Capture, complaint
from doubles import SIMULATOR, Inventor
from sojourn.cli.commands import status
from sojourn.scenario import Scenario

ScenarioFile = Callable[..., Path]


def lines(directory: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (directory / "commands.jsonl").read_text(encoding="utf-8").splitlines()]


def test_commands_are_recorded(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """A store records each command that made it once, the latest last."""
    file, out = scenario_file(), tmp_path / "two words"
    once = ["run", str(file), "--out", str(out)]
    more = ["run", str(file), "--set", "flows.*.tcp=cubic", "--out", str(out)]
    for arguments in (once, more, once):
        assert status(arguments) == 0
    version, backend = sojourn.__version__, asdict(SIMULATOR)
    assert lines(out) == [
        {
            "command": f"sojourn run {file} --set 'flows.*.tcp=cubic' --out '{out}'",
            "version": version,
            "backend": backend,
            "study": None,
            "only": {},
            "changes": {"flows.*.tcp": "cubic"},
            "name": "small",
            "description": "",
        },
        {
            "command": f"sojourn run {file} --out '{out}'",
            "version": version,
            "backend": backend,
            "study": None,
            "only": {},
            "changes": {},
            "name": "small",
            "description": "",
        },
    ]


def test_python_calls_are_recorded(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """Calls from Python are recorded as one would write them."""
    out = tmp_path / "out"
    sojourn.run(scenario(), seeds=2, out=out, backend=Inventor())
    sojourn.reproduce("piotrowska", only={"load": "UC", "queue": "pie", "scenario": "DC"}, out=out, backend=Inventor())
    commands = [line["command"] for line in lines(out)]
    assert commands[0] == f"sojourn.run(<scenario small>, seeds=2, out={str(out)!r}, backend='inventor')"
    only = "{'load': 'UC', 'queue': 'pie', 'scenario': 'DC'}"
    assert commands[1] == f"sojourn.reproduce('piotrowska', only={only}, out={str(out)!r}, backend='inventor')"
    assert lines(out)[1]["study"] == "piotrowska"
    assert lines(out)[1]["only"] == {"load": ["UC"], "queue": ["pie"], "scenario": ["DC"]}


def test_damaged_commands_file(scenario: Callable[..., Scenario], tmp_path: Path) -> None:
    """A damaged commands.jsonl is a one-line error."""
    sojourn.run(scenario(), out=tmp_path / "out", backend=Inventor())
    (tmp_path / "out" / "commands.jsonl").write_text('{"command": "sojou', encoding="utf-8")
    with sojourn.open(tmp_path / "out") as store, pytest.raises(sojourn.InputError, match=r"commands\.jsonl: is damaged"):
        _ = store.provenance


def test_bad_input_records_nothing(tmp_path: Path, capsys: Capture) -> None:
    """A command with bad input makes no directory."""
    assert status(["run", str(tmp_path / "none.toml"), "--out", str(tmp_path / "out")]) == 2
    assert "none.toml" in complaint(capsys)
    assert not (tmp_path / "out").exists()
