"""What is wrong is said in the user's terms: the option, the key, and what is allowed."""

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SMALL_TOML, Capture, complaint
from sojourn.cli.commands import status
from sojourn.names import unknown

SWEEP = """
[sweep.axes]
tcp = { key = "flows.0.tcp", values = ["cubic", "newreno"] }
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "tcp=cubic"], "--only tcp: small.toml has no sweep, so there is one cell"),
        (
            ["--set", "network.dumbbell.bottleneck.queue={ name = 'droptail', nmae = 1 }"],
            '--set network.dumbbell.bottleneck.queue: network.dumbbell.bottleneck.queue: unknown key of droptail "nmae", '
            'did you mean "name"? (known: name, limit)',
        ),
        (
            ["--set", "stack.minimum_rot='1 s'"],
            '--set stack.minimum_rot: stack: unknown key of the stack "minimum_rot", did you mean "minimum_rto"?',
        ),
        (
            ["--set", "stack.minimum_rto='1 s'", "--set", "duration=7"],
            '--set duration: duration: 7 has no unit; write a duration as a string, such as "2 ms"',
        ),
        (["--set", "durration='1 s'"], '--set durration: unknown key "durration", did you mean "duration"?'),
    ],
)
def test_option_is_to_blame(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A mistake in an option is said of the option, not of the file, with what is allowed."""
    (tmp_path / "small.toml").write_text(SMALL_TOML, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert status(["check", "small.toml", *arguments]) == 2
    assert complaint(capsys).startswith(f"sojourn: {said}")


def test_cell_of_mistaken_change(tmp_path: Path, capsys: Capture) -> None:
    """A change that one cell of a sweep cannot take is blamed, with the cell."""
    file = tmp_path / "sweep.toml"
    file.write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    assert status(["check", str(file), "--set", "flows.0.tcp.hybla=1"]) == 2
    said = '--set flows.0.tcp.hybla: cell tcp=cubic: flows[0].tcp: unknown key of cubic "hybla"'
    assert complaint(capsys).startswith(f"sojourn: {said}")


def test_file_is_to_blame(scenario_file: Callable[..., Path], capsys: Capture) -> None:
    """A mistake in the file is said of the file, also if an option changes something else."""
    file = scenario_file(('tcp = "newreno"', 'tcp = "newrena"'))
    assert status(["check", str(file), "--set", "stack.minimum_rto='1 s'"]) == 2
    assert complaint(capsys).startswith(f'sojourn: {file}: flows[0].tcp: unknown congestion control "newrena"')


def test_nothing_known() -> None:
    """Where there is nothing to choose from, that is said instead of an empty list."""
    assert unknown("link", "a->b", []) == 'unknown link "a->b" (there is none)'


@pytest.mark.parametrize("arguments", [["list", "tcp"], ["list", "tcp", "--csv"], ["list", "tcp", "--json"]])
def test_full_output(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Output to a full disk is one line with status 1."""
    with contextlib.suppress(OSError), Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert status(arguments) == 1
    assert capsys.readouterr().err == "sojourn: output: the disk is full; free some space and repeat the command\n"
