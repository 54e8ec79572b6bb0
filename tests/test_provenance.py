import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

import sojourn
from conftest import Capture, complaint
from doubles import SIMULATOR, Inventor
from sojourn import figures
from sojourn.cli.commands import status
from sojourn.report.contents import read
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
            "reading": None,
            "only": {},
            "changes": {"flows.*.tcp": "cubic"},
            "name": "small",
            "description": "",
            "axes": {},
        },
        {
            "command": f"sojourn run {file} --out '{out}'",
            "version": version,
            "backend": backend,
            "study": None,
            "reading": None,
            "only": {},
            "changes": {},
            "name": "small",
            "description": "",
            "axes": {},
        },
    ]


def test_views_are_not_recorded(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """A command that shows the same results otherwise is not another one that made them."""
    file, out = scenario_file(), tmp_path / "out"
    plain = ["run", str(file), "--out", str(out)]
    for more in ([], ["--csv"], ["--json"], ["--only", "group=a-b"], ["--only=group=a-b"], ["--progress", "json"]):
        assert status([*plain, *more]) == 0
    assert [line["command"] for line in lines(out)] == [f"sojourn run {file} --out {out}"]


def test_order_of_file_is_kept(scenario_file: ScenarioFile, tmp_path: Path) -> None:
    """Tables, figures and reports have the values of an axis in the order of the scenario file, whoever reads them."""
    file, out = scenario_file(), tmp_path / "out"
    queues = ["pie", "droptail", "codel"]
    key = "network.dumbbell.bottleneck.queue.name"
    file.write_text(f'{file.read_text()}[sweep.axes]\nqueue = {{ key = "{key}", values = {queues} }}\n', encoding="utf-8")
    # The latest command made a part.
    for only in (None, {"queue": ["codel", "pie"]}):
        found = sojourn.run(file, only=only, out=out, backend=Inventor())
    assert [line["axes"] for line in lines(out)] == [{"queue": queues}] * 2
    assert list(read(out).axes["queue"]) == queues
    with sojourn.open(out) as store:
        chart = figures.draw("sojourn-mean", store).to_dict()
    assert f'"sort": {json.dumps(queues)}' in json.dumps(chart)
    shown = repr(found)
    assert shown.index("pie") < shown.index("codel")
    assert '"sort": ["pie", "codel"]' in json.dumps(figures.draw("sojourn-mean", found).to_dict())


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
