"""What docs/ say of each kind of addition is true: the places that they list are the places that an addition touches.

An addition is a file in ``additions/``: new files, edits of others (what stands there once, and what it becomes), and a program
that uses what was added. All additions are made together in a copy of the project, which is then built.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import pytest

from conftest import ROOT

#: The copy, always at the same place, so that only what has changed is compiled again.
TREE = ROOT / "target" / "additions"

#: What each program starts with: a scenario and its bottleneck.
BEGINNING = """
import sys
sys.path.insert(0, "tests")
from conftest import scenario_data
scenario = scenario_data()
bottleneck = scenario["network"]["dumbbell"]["bottleneck"]
"""

#: Tests of the copy that hold the registries, the schema and the documentation to each other.
HELD = ("test_catalogue.py", "test_registry.py", "test_schema.py", "test_own_hooks.py")


@dataclass(frozen=True)
class Addition:
    """An addition, and the page and section that list its places."""

    page: str
    section: str
    #: Text of new files, and edits of others, by their path.
    new: dict[str, str] = field(default_factory=dict)
    edits: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    #: A program that fails unless the addition works.
    works: str = ""

    def make(self, tree: Path) -> None:
        """Makes it in a copy of the project."""
        for path, text in self.new.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text, encoding="utf-8")
        for path, edits in self.edits.items():
            text = (tree / path).read_text(encoding="utf-8")
            for stands, becomes in edits:
                assert text.count(stands) == 1, f"{path}: {stands!r} stands there {text.count(stands)} times"
                text = text.replace(stands, becomes)
            (tree / path).write_text(text, encoding="utf-8")


ADDITIONS = {
    path.stem: Addition(**tomllib.loads(path.read_text(encoding="utf-8"))) for path in sorted(ROOT.glob("tests/additions/*.toml"))
}


def listed(addition: Addition) -> list[str]:
    """The places that the section lists: the path that begins each item of its list, with a star for a name in capitals."""
    text = (ROOT / "docs" / addition.page).read_text(encoding="utf-8")
    section = text.partition(f"# {addition.section}\n")[2].partition("\n#")[0]
    return [re.sub(r"\bNAME\b", "*", path) for path in re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)]


@pytest.mark.parametrize("kind", ADDITIONS)
def test_places(kind: str) -> None:
    """An addition touches each place that docs list, and no other."""
    addition = ADDITIONS[kind]
    patterns = listed(addition)
    touched = [*addition.new, *addition.edits]
    assert patterns, f"{addition.page}: {addition.section}: no list of places"
    for pattern in patterns:
        assert any(_lies_at(path, pattern) for path in touched), f"{pattern} is listed, but nothing is done there"
    for path in touched:
        assert any(_lies_at(path, pattern) for pattern in patterns), f"{path} is touched, but not listed"


def _lies_at(path: str, pattern: str) -> bool:
    """Whether a path is a place, or lies in it if it is a folder."""
    return fnmatch(path, f"{pattern}*" if pattern.endswith("/") else pattern)


def copied() -> None:
    """Copies what git has of the project, or would add to it; files that have not changed keep their times."""
    names = subprocess.check_output(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), cwd=ROOT, text=True
    ).split("\0")
    wanted = {name for name in names if name and (ROOT / name).exists()}
    for old in TREE.rglob("*"):
        if old.is_file() and not old.is_symlink() and str(old.relative_to(TREE)) not in wanted:
            old.unlink()
    for name in wanted:
        source, target = ROOT / name, TREE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            if not target.is_symlink():
                target.symlink_to(source.readlink())
        elif not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copy2(source, target)


def carried_out(*command: str) -> str:
    """What a command prints that is carried out in the copy, where its modules come from."""
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "PYTHONPATH": str(TREE / "python"), "HOME": str(TREE)}
    done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)[:200]}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.long
def test_additions_work() -> None:
    """With the listed places alone, and what commands make, all that reads a kind of thing uses the one that was added."""
    copied()
    for addition in ADDITIONS.values():
        addition.make(TREE)
    subprocess.run(
        ("cargo", "build", "--quiet", "--locked", "--package", "sojourn-python", "--target-dir", ROOT / "target"),
        cwd=TREE,
        check=True,
    )
    shutil.copy2(ROOT / "target" / "debug" / "lib_engine.so", TREE / "python" / "sojourn" / "_engine.abi3.so")
    schema = carried_out(sys.executable, "-m", "sojourn", "schema")
    (TREE / "docs/scenario.schema.json").write_text(schema, encoding="utf-8")
    for addition in ADDITIONS.values():
        carried_out(sys.executable, "-c", BEGINNING + addition.works)
    carried_out(sys.executable, "-m", "pytest", "-m", "not long and not kernel", *(f"tests/{name}" for name in HELD))
