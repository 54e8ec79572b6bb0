"""What each test file needed when it last passed, and whether that is as it was."""

import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from affected.tracing import Used
from affected.units import OUTSIDE, digest, digests

#: The name of all that is not told apart: any change in it affects all tests.
REST = "all else"


@dataclass(frozen=True)
class Layout:
    """Where a project has its parts, relative to its folder."""

    root: Path
    #: Folders of modules whose functions are told apart.
    traced: tuple[str, ...]
    #: The folder of the test files.
    tests: str
    #: Patterns of files that are made from others, and tests use.
    built: tuple[str, ...]

    def is_test(self, name: str) -> bool:
        folder, _, file = name.rpartition("/")
        return folder == self.tests and file.startswith("test_") and file.endswith(".py")

    def is_traced(self, name: str) -> bool:
        return name.endswith(".py") and name.startswith(tuple(f"{folder}/" for folder in self.traced)) and not self.is_first(name)

    def is_first(self, name: str) -> bool:
        """Whether a module is imported before any could be traced."""
        return self.is_test(name) or name == f"{self.tests}/conftest.py" or name.startswith(f"{self.tests}/affected/")

    def files(self) -> list[str]:
        """The files that git knows, or would."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=self.root, capture_output=True, check=True).stdout.decode().split("\0")
        built = [str(path.relative_to(self.root)) for pattern in self.built for path in self.root.glob(pattern)]
        return sorted(name for name in {*listed, *built} if name and (self.root / name).is_file())


class State:
    """The project as it is: a digest of everything that a test can need.

    Args:
        layout: Where the project has its parts.
        environment: What else can change a verdict, such as the tests that are selected.
        known: The digests of functions by the digest of their file, if they were computed before.
    """

    def __init__(self, layout: Layout, environment: str, known: Mapping[str, dict[str, str]]) -> None:
        self.layout = layout
        self.sources: dict[str, dict[str, str]] = {}
        self._digests: dict[str, str] = {}
        rest = [environment, sys.version, *sorted(f"{each.name} {each.version}" for each in metadata.distributions())]
        for name in layout.files():
            content = (layout.root / name).read_bytes()
            whole = digest(content)
            self._digests[name] = whole
            if layout.is_traced(name):
                units = known.get(whole) or digests(content)
                self.sources[whole] = units
                self._digests |= {f"{name}::{function}": value for function, value in units.items() if function != OUTSIDE}
                rest.append(f"{name} {units[OUTSIDE]}")
            elif name.endswith(".md") or layout.is_test(name):
                rest.append(name)
            else:
                rest.append(f"{name} {whole}")
        self._digests[REST] = digest("\n".join(rest))

    def tests(self) -> list[str]:
        return [name for name in self._digests if self.layout.is_test(name)]

    def needs(self, test: str, used: Used) -> dict[str, str]:
        """The digests of what a test file used, and of itself."""
        names = {REST, test, *used.functions, *used.texts}
        return {name: self._digests[name] for name in sorted(names) if name in self._digests}

    def has(self, needs: Mapping[str, str]) -> bool:
        """Whether all that was needed is as it was."""
        return all(self._digests.get(name) == value for name, value in needs.items())


class Record:
    """The file that keeps what test files needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            kept = {}
        self.sources: dict[str, dict[str, str]] = kept.get("sources", {})
        self._passed: dict[str, dict[str, str]] = kept.get("passed", {})

    def unaffected(self, state: State) -> list[str]:
        """The test files that passed, and of which nothing that they needed has changed."""
        return [test for test in state.tests() if test in self._passed and state.has(self._passed[test])]

    def update(self, state: State, ran: Collection[str], passed: Mapping[str, Used]) -> None:
        """Keeps what those needed that passed, and forgets the others that ran; those that used processes always run again."""
        for test in ran:
            self._passed.pop(test, None)
        for test, used in passed.items():
            if not used.processes:
                self._passed[test] = state.needs(test, used)
        text = json.dumps({"sources": state.sources, "passed": self._passed})
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(self._path)
