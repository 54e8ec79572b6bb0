"""The option ``--affected``: what is run again after which change."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from affected.record import REST, Layout, State
from affected.tracing import Used, is_foreign
from affected.units import OUTSIDE, digests
from conftest import ROOT

SOURCE = b'''
LIMIT = 3

def least(a, b):
    """The lesser."""
    return min(a, b)

class Box:
    @property
    def size(self):
        def inner(): return 1
        return inner()

    @size.setter
    def size(self, value): self.value = value

if LIMIT:
    def greatest(a, b): return max(a, b)
'''


def changed(*replacements: tuple[bytes, bytes]) -> set[str]:
    """The parts whose digests change with the source."""
    source = SOURCE
    for old, new in replacements:
        assert old in source
        source = source.replace(old, new)
    before, after = digests(SOURCE), digests(source)
    return {name for name in before | after if before.get(name) != after.get(name)}


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (b"return min(a, b)", b"return min(b, a)", {"least"}),
        (b"return 1", b"return 2", {"Box.size"}),
        (b"self.value = value", b"self.value = 0", {"Box.size"}),
        (b"max(a, b)", b"max(b, a)", {"greatest"}),
        (b"    return min(a, b)", b"    # why\n    return min(a,\n  b)", set()),
        (b"LIMIT = 3", b"LIMIT = 4", {OUTSIDE}),
        (b"The lesser", b"The least", {OUTSIDE}),
        (b"least(a, b)", b"least(a, b=0)", {OUTSIDE}),
        (b"@property", b"@cached", {OUTSIDE}),
    ],
)
def test_digests_of_parts(old: bytes, new: bytes, parts: set[str]) -> None:
    """A change shows in the body that it is in; in signatures, decorators, docstrings and constants, outside of all."""
    assert changed((old, new)) == parts


@pytest.mark.parametrize(
    ("program", "arguments", "foreign"),
    [
        ("/usr/bin/tshark", ["tshark", "-r", "a"], True),
        ("/bin/sh", ["sh", "-c", "sojourn --help"], False),
        (sys.executable, [sys.executable, "-c", "import vl_convert"], True),
        (sys.executable, [sys.executable, "-c", "import sojourn"], False),
        (sys.executable, [sys.executable, "-m", "flent"], True),
        (sys.executable, [sys.executable, "-m", "mkdocs"], False),
        (sys.executable, [sys.executable, "-m", "sojourn.plugins.worker"], False),
        (sys.executable, [sys.executable, "file.py"], False),
    ],
)
def test_foreign_programs(program: str, arguments: list[str], foreign: bool) -> None:
    """Only programs known to run nothing of the project do not count."""
    assert is_foreign(program, arguments) == foreign


def test_no_test_file_imports_another() -> None:
    """What a test file's import calls would be missing in the record of the other: helpers have files of their own."""
    for path in (ROOT / "tests").glob("test_*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.startswith(("import test_", "from test_"))], path.name


FILES = {
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "pytest.ini": "[pytest]\naddopts = -p no:randomly\n",
    "python/sojourn/__init__.py": "",
    "python/sojourn/core.py": (
        "import functools\nfrom sojourn.table import TABLE\n"
        "def one(): return 1\ndef two(): return 2\ndef three(): return 3\ndef unused(): return 0\n"
        "@functools.cache\ndef kept(): return three()\n"
    ),
    "python/sojourn/table.py": "def entry(): return 5\nTABLE = [entry()]\n",
    "docs/page.md": "A page.\n",
    "data.txt": "1\n",
    "tests/conftest.py": (
        "import sys\nsys.path.insert(0, 'python')\npytest_plugins = ['affected.plugin']\n"
        "import pytest\n"
        "@pytest.fixture(scope='session')\ndef once():\n    from sojourn.core import two\n    return two()\n"
    ),
    "tests/helper.py": "from sojourn.core import kept\ndef helped(): return kept()\n",
    "tests/test_one.py": "from sojourn.core import one\ndef test_it(): assert one() > 0\n",
    "tests/test_once.py": "def test_it(once): assert once\n",
    "tests/test_also_once.py": "def test_it(once): assert once\n",
    "tests/test_kept.py": "from helper import helped\ndef test_it(): assert helped()\n",
    "tests/test_also_kept.py": "from sojourn.core import kept\ndef test_it(): assert kept()\n",
    "tests/test_page.py": "def test_it(): assert open('docs/page.md').read()\n",
    "tests/test_process.py": (
        "import subprocess, sys\ndef test_it(): subprocess.run([sys.executable, '-c', 'import sojourn'], check=False)\n"
    ),
}

ALL = {path.partition("/")[2].removesuffix(".py") for path in FILES if path.startswith("tests/test_")}

#: Those that use processes are always run.
ALWAYS = {"test_process"}


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project that is laid out like this one, whose tests have all been run."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        put(folder, name, text)
    shutil.copytree(ROOT / "tests" / "affected", folder / "tests" / "affected", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    assert ran(folder) == ALL
    assert ran(folder) == ALWAYS
    return folder


def ran(folder: Path, *options: str, status: int = 0) -> set[str]:
    """Runs the tests that are affected; returns which files that were."""
    command = [sys.executable, "-m", "pytest", "--affected", "-v", "-p", "no:hypothesispytest", *options]
    environment = {"PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert shown.returncode == status, shown.stdout + shown.stderr
    return {Path(line.partition("::")[0]).stem for line in shown.stdout.splitlines() if line.startswith("tests/")}


@pytest.mark.parametrize(
    ("name", "old", "new", "affected"),
    [
        ("python/sojourn/core.py", "return 1", "return 11", {"test_one"}),
        ("python/sojourn/core.py", "return 0", "return 10", set()),
        # Through a cache and a helper, whoever came first.
        ("python/sojourn/core.py", "return 3", "return 13", {"test_kept", "test_also_kept"}),
        ("tests/helper.py", "return kept()", "return kept() + 1", {"test_kept"}),
        # What an import calls, and what is outside of functions.
        ("python/sojourn/table.py", "return 5", "return 6", ALL),
        ("python/sojourn/core.py", "def unused", "LIMIT = 1\ndef unused", ALL),
        ("docs/page.md", "A page", "The page", {"test_page"}),
        ("data.txt", "1", "2", ALL),
        ("tests/test_one.py", "> 0", ">= 0", {"test_one"}),
    ],
)
@pytest.mark.long
def test_change_runs_affected(name: str, old: str, new: str, affected: set[str], project: Path) -> None:
    """After a change those files are run that it can affect, and then only those that use processes."""
    text = (project / name).read_text(encoding="utf-8")
    put(project, name, text.replace(old, new))
    assert ran(project) == affected | ALWAYS
    put(project, name, text)
    assert ran(project) == affected | ALWAYS


@pytest.mark.long
def test_session_fixture_affects_its_users(project: Path) -> None:
    """What a fixture of the whole session called in one file counts for all that were run with it."""
    text = FILES["python/sojourn/core.py"]
    put(project, "python/sojourn/core.py", text.replace("return 2", "return 12"))
    assert ran(project) >= {"test_once", "test_also_once"}
    put(project, "python/sojourn/core.py", text)
    assert ran(project) >= {"test_once", "test_also_once"}


@pytest.mark.long
def test_failure_runs_again(project: Path) -> None:
    """A file whose tests failed or were skipped is run until they pass."""
    text = FILES["tests/test_one.py"]
    for body, status in (("assert one() < 0", 1), ("__import__('pytest').skip()", 0)):
        put(project, "tests/test_one.py", text.replace("assert one() > 0", body))
        for _ in range(2):
            assert ran(project, status=status) == {"test_one"} | ALWAYS
    put(project, "tests/test_one.py", text)
    assert ran(project) == {"test_one"} | ALWAYS
    assert ran(project) == ALWAYS


@pytest.mark.long
@pytest.mark.parametrize("options", [["-k", "not other"], ["--deselect", "tests/test_one.py::test_other"], ["--collect-only"]])
def test_part_of_file_is_not_recorded(options: list[str], project: Path) -> None:
    """A file of which only some tests were run is run again."""
    text = FILES["tests/test_one.py"]
    put(project, "tests/test_one.py", f"{text}def test_other(): assert one() < 0\n")
    ran(project, *options)
    assert ran(project, status=1) == {"test_one"} | ALWAYS
    put(project, "tests/test_one.py", text)
    assert ran(project) == {"test_one"} | ALWAYS


def test_state_of_project(tmp_path: Path) -> None:
    """A body that a test did not use, and a page that it did not read, may change; nothing else may."""
    for name, text in FILES.items():
        put(tmp_path, name, text)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    layout = Layout(tmp_path, ("python/sojourn", "tests"), "tests", ())
    needs = State(layout, "", {}).needs("tests/test_one.py", Used({"python/sojourn/core.py::one"}))
    assert set(needs) == {REST, "tests/test_one.py", "python/sojourn/core.py::one"}

    def still(name: str, old: str, new: str) -> bool:
        text = FILES[name]
        assert old in text
        put(tmp_path, name, text.replace(old, new))
        unchanged = State(layout, "", {}).has(needs)
        put(tmp_path, name, text)
        return unchanged

    assert still("python/sojourn/core.py", "return 2", "return 12")
    assert still("docs/page.md", "A page", "The page")
    assert still("tests/test_kept.py", "assert", "assert not")
    assert not still("python/sojourn/core.py", "return 1", "return 11")
    assert not still("python/sojourn/core.py", "def unused", "def used")
    assert not still("python/sojourn/table.py", "TABLE =", "TABLES =")
    assert not still("tests/test_one.py", "> 0", ">= 0")
    assert not still("tests/conftest.py", "import pytest", "import pytest, sys")
    assert not still("data.txt", "1", "2")
    assert not State(layout, "not long", {}).has(needs)
    put(tmp_path, "docs/new.md", "")
    assert not State(layout, "", {}).has(needs)
