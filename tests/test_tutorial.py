"""The tutorial: its files are valid, and its commands work."""

import re
import shlex
from pathlib import Path

import pytest

from conftest import ROOT, Capture
from sojourn.cli.commands import status

TUTORIAL = ROOT / "docs" / "tutorial.md"

#: Commands that take long or need a terminal; how they work is tested elsewhere.
ELSEWHERE = ("demo", "watch", "report")


def blocks() -> list[str]:
    """Returns the indented blocks of the tutorial."""
    text = TUTORIAL.read_text(encoding="utf-8")
    found = re.findall(r"(?:^(?:    .*)?\n)+", text, flags=re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE).strip("\n") for block in found if block.strip()]


def test_tutorial_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Somebody who saves the tutorial's files and types its commands gets no error, and the numbers of flows and runs it says."""
    monkeypatch.chdir(tmp_path)
    # Figures are drawn, but not rendered, which takes most of a second each.
    monkeypatch.setattr("sojourn.figures.save", lambda *_, **__: None)
    scenario, sweep, axis = (
        next(block for block in blocks() if block.startswith(beginning)) for beginning in ("name =", "[sweep]", "tcp =")
    )
    # A twentieth of the time: the tutorial's figures are not tested.
    short = scenario.replace('"60 s"', '"3 s"').replace('"10 s"', '"1 s"')
    assert short.count('"3 s"') == short.count('"1 s"') == 1
    for name, text in (("home", short), ("queues", f"{short}\n{sweep}"), ("both", f"{short}\n{sweep}\n{axis}")):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    commands = [
        shlex.split(command)[1:] for block in blocks() for command in re.split(r"\n(?! )", block) if command[:8] == "sojourn "
    ]
    shown = ""
    for arguments in commands:
        if arguments[0] not in ELSEWHERE:
            assert status(arguments) == 0, (arguments, capsys.readouterr().err)
            shown += capsys.readouterr().out
    assert len(commands) >= 15
    text = TUTORIAL.read_text(encoding="utf-8")
    assert "reports 4 nodes and 7 flows" in text
    assert "reports 20 runs" in text
    for promised in ("4 nodes", "7 flows", "4 cells, 5 seeds each: 20 runs", "12 cells, 3 seeds each: 36 runs"):
        assert promised in shown
