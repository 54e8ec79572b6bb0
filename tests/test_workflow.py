"""The GitHub workflow of docs/evaluate.md: its lines are carried out, in a folder with an algorithm and a wheel."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import ROOT
from own_files import SCALABLE
from test_wheel import TOOLS, needs_cargo, run
from test_wheel import wheel as wheel  # a fixture

#: Instead of --full, which takes longer, in a test that is not about the answers.
SHORTER = ["--budget", "20s"]


def lines() -> Sequence[str]:
    """The commands of the workflow's steps."""
    text = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    found = re.findall(r"^ +- run: (.+)$", text, re.MULTILINE)
    assert len(found) == 2
    return found


def test_workflow_is_short() -> None:
    """It has eight lines, installs a wheel and evaluates."""
    text = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    (workflow,) = re.findall(r"^    on: push\n(?:    .+\n)+", text, re.MULTILINE)
    assert len(workflow.splitlines()) == 8
    install, evaluate = lines()
    assert install.startswith("pip install sojourn-")
    assert evaluate.startswith("sojourn evaluate tcp mine.py")


@pytest.mark.long
@needs_cargo
def test_workflow(wheel: Path, tmp_path: Path) -> None:
    """Its lines, in a fresh environment without a compiler, end with a card and an exit status that a workflow can use."""
    run(TOOLS / "uv", "venv", "--quiet", "--seed", "--python", sys.executable, tmp_path / "fresh", **os.environ)
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "mine.py").write_text(SCALABLE, encoding="utf-8")
    shutil.copy(wheel, folder)
    environment = {**os.environ, "PATH": f"{tmp_path / 'fresh' / 'bin'}:/usr/bin:/bin", "CI": "true"}
    environment = {name: value for name, value in environment.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    install, evaluate = lines()

    def carried_out(line: str) -> subprocess.CompletedProcess[str]:
        # GitHub runs lines by bash, ended by the first that fails.
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line]
        return subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    installed = carried_out(install)
    assert installed.returncode == 0, installed.stderr
    made = carried_out(shlex.join([*shlex.split(evaluate), *SHORTER]))
    assert made.returncode in (0, 1), made.stderr
    assert "mine.py by RFC 9743" in made.stdout
    assert (made.returncode == 1) == bool(re.search(r"\d (concern|fail)\b", made.stdout))
    assert (folder / "results" / "rfc9743" / "cards" / "mine.py.html").is_file()
