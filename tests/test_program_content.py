"""What runs with programs depend on besides the scenario: what commands name in its folder, and roots."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import Capture, complaint, scenario_data
from sojourn import scenario
from sojourn.cli.commands import status
from sojourn.runs import requests
from sojourn.scenario import content
from sojourn.specification import specify, text
from sojourn.store import marker
from test_programs import kernel, on_a_kernel, scenario_of

#: What the folder of each test has.
FILES = {
    "server.py": "import pages\n",
    "pages.py": "print(open('/scenario/words.txt').read())\n",
    "words.txt": "one two\n",
    "start.sh": "exec ./site/serve\n",
    "site/serve": "#!/bin/sh\ncat objects/1 objects/2\n",
    "site/objects/1": "1\n",
    "other.py": "import server\n",
    "notes.md": "server.py is older than words.txt\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a scenario's folder."""
    for name, written in FILES.items():
        path = tmp_path / "here" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(written)
    return tmp_path / "here"


def request(folder: Path, run: str, **program: Any) -> str:
    """Returns the hash of a run with one program, as its key has it."""
    data = scenario_data(flows=[], programs=[{"at": "a", "run": run, **program}])
    (found,) = requests(text(specify(scenario.from_data(data, "here", folder), 1)), [1])
    return found


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("# more\n")


@pytest.mark.parametrize(
    ("run", "counting"),
    [
        ("true", []),
        ("python3 server.py", ["server.py", "pages.py", "words.txt"]),
        ("python3 -m server", ["server.py", "pages.py", "words.txt"]),
        ("sh -c 'python3 /scenario/pages.py>out'", ["pages.py", "words.txt"]),
        ("cat xwords.txt words.txt2 other/sites", []),
        ("sh start.sh", ["start.sh", "site/serve", "site/objects/1"]),
        ("cat site/objects/{{number}}", ["site/serve", "site/objects/1"]),
        ("cp -r . /tmp/copy", [*FILES]),
    ],
)
def test_what_is_named_counts(run: str, counting: list[str], folder: Path) -> None:
    """Files that a command names, or one that is named; a folder with all that is in it; of the others a change is none."""
    before = request(folder, run)
    changed = []
    for name in FILES:
        shutil.copy2(folder / name, folder.parent / "kept")
        append(folder / name)
        changed += [name] if request(folder, run) != before else []
        shutil.move(folder.parent / "kept", folder / name)
        assert request(folder, run) == before
    assert changed == counting


def test_variables_of_an_environment_name_files_too(folder: Path) -> None:
    """Whoever puts names together while a program runs can say so there."""
    before = request(folder, "true", environment={"READS": "site"})
    append(folder / "site/objects/1")
    assert request(folder, "true", environment={"READS": "site"}) != before


def test_the_same_content_elsewhere_is_the_same_run(folder: Path) -> None:
    """Neither the place nor the time of files counts, nor who may read them; that they may be executed does."""
    before = request(folder, "sh start.sh")
    there = shutil.copytree(folder, folder.parent / "there", copy_function=shutil.copyfile)
    assert request(there, "sh start.sh") == before
    (there / "start.sh").chmod(0o600)
    assert request(there, "sh start.sh") == before
    (there / "site/serve").chmod(0o755)
    assert request(there, "sh start.sh") != before


@pytest.mark.parametrize("make", [lambda path: (path / marker.NAME).write_text("{}"), None])
def test_results_and_what_is_hidden_do_not_count(folder: Path, make: Callable[[Path], object] | None) -> None:
    """A run that writes its results into the scenario's folder is the same afterwards, as it is under version control."""
    before = request(folder, "ls .")
    path = folder / ("results" if make else ".git")
    path.mkdir()
    append(path / "file")
    if make:
        assert request(folder, "ls .") != before
        make(path)
    assert request(folder, "ls .") == before


def test_links_count_with_what_they_lead_to(folder: Path) -> None:
    """A change of the file that a link leads to is one; links that lead nowhere, or around, are taken as they are."""
    (folder / "link").symlink_to(folder.parent / "target")
    (folder / "site/around").symlink_to(folder)
    lost = request(folder, "cat link site")
    (folder.parent / "target").write_text("1")
    found = request(folder, "cat link site")
    (folder.parent / "target").write_text("2")
    assert len({lost, found, request(folder, "cat link site")}) == 3


def test_a_root_counts_by_its_content(folder: Path) -> None:
    """All that is in a root's folder counts, what is hidden too, and where it is does not."""
    there = shutil.copytree(folder, folder.parent / "there")
    before = request(folder, "true", root=str(folder))
    assert request(folder, "true", root=str(there)) == before
    (there / ".hidden").mkdir()
    assert request(folder, "true", root=str(there)) != before


def test_the_machine_s_root_is_none(folder: Path) -> None:
    """Who names it has asked for the default: it is not read."""
    assert request(folder, "true", root="/") == request(folder, "true")


def test_too_much_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """What is not read to its end would be taken for the same: it is refused, with the file that was too much."""
    monkeypatch.setattr(content, "MOST_BYTES", 1 << 30)
    os.truncate(folder / "words.txt", (1 << 30) + 1)
    network = '[network.dumbbell]\nbottleneck = { rate = "10 Mbit/s", queue = "codel" }\n'
    hosts = 'senders = [{ name = "a", rate = "1 Gbit/s" }]\nreceivers = [{ name = "b", rate = "1 Gbit/s" }]\n'
    program = '[[programs]]\nat = "a"\nrun = "cat words.txt"\n'
    file = folder / "small.toml"
    file.write_text(f'name = "small"\nduration = "1 s"\n{network}{hosts}{program}')
    assert status(["check", str(file)]) == 2
    line = f'sojourn: {file}: programs: what they name in {folder}: more than 1 GiB with "words.txt"'
    assert complaint(capsys).startswith(line)
    file.write_text(file.read_text().replace("cat words.txt", "true") + 'root = "."\n')
    assert status(["check", str(file)]) == 2
    assert complaint(capsys).startswith(f'sojourn: {file}: programs[0].root: {folder}: more than 1 GiB with "words.txt"')


class TestOnAKernel:
    """Runs that are made again, or not."""

    pytestmark = on_a_kernel

    def test_a_changed_script_is_run_again_and_a_moved_folder_is_not(self, folder: Path, tmp_path: Path) -> None:
        """The store has the run of the same content, wherever that was, and a change makes another run."""
        asked = [{"at": "server", "run": "python3 server.py"}]

        def outputs(place: Path) -> list[str]:
            data = scenario_of(asked, "1 s", place)
            return sojourn.run(data, out=tmp_path / "results", backend=kernel()).programs["output"].to_list()

        def runs() -> int:
            return sojourn.open(tmp_path / "results").runs.height

        assert (outputs(folder), runs()) == (["one two\n\n"], 1)
        there = folder.rename(tmp_path / "there")
        assert (outputs(there), runs()) == (["one two\n\n"], 1)
        (there / "words.txt").write_text("three\n")
        assert (outputs(there), runs()) == (["three\n\n"], 2)
