"""Files about the project: they can be read, agree with each other, and name only what there is."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT

WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]


def read(path: Path) -> Any:
    """A file in YAML; numbers and dates stay text, as in CITATION.cff a version is."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)


def steps(path: Path) -> list[dict[str, Any]]:
    """The steps of all jobs of a workflow."""
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_make(path: Path) -> None:
    """Every `make X` of a workflow is a target, and every workflow has one: what it does can be done by hand."""
    named = [
        word for step in steps(path) for word in re.findall(r"^make(?: --silent)? ([\w-]+)", step.get("run", ""), re.MULTILINE)
    ]
    assert named
    targets = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
    assert set(named) <= targets


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned(path: Path) -> None:
    """An action is named by a commit: a tag can be moved to other code. The line says which version that is."""
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v[\d.]+", each) for each in used), used


def test_promised_versions_are_tested() -> None:
    """Continuous integration has each Python of pyproject.toml's classifiers, the oldest, and Cargo.toml's oldest Rust."""
    matrix = read(ROOT / ".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    classifiers = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)]
    assert set(classifiers) <= set(matrix["python"])
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert oldest == min(matrix["python"], key=lambda version: int(version.partition(".")[2]))
    assert matrix["include"] == [{"python": oldest, "rust": WORKSPACE["rust-version"]}]


def test_citation() -> None:
    """CITATION.cff has what its format 1.2.0 requires, and says what pyproject.toml and Cargo.toml say."""
    cited = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    assert cited["authors"] == PROJECT["authors"]
    assert (cited["version"], cited["license"]) == (WORKSPACE["version"], WORKSPACE["license"])
    assert (cited["abstract"], cited["license"]) == (PROJECT["description"], PROJECT["license"])
    assert cited["keywords"] == PROJECT["keywords"]


def test_hooks_are_checks_of_make() -> None:
    """Each hook of pre-commit is a command of `make lint`, so that both judge alike."""
    commands = MAKEFILE.replace("$(BIN)", ".venv/bin").splitlines()
    for repository in read(ROOT / ".pre-commit-config.yaml")["repos"]:
        for hook in repository["hooks"]:
            assert f"\t{hook['entry'].removesuffix(' --force-exclude')}" in commands, hook["entry"]


def test_templates_ask() -> None:
    """Each form for an issue has a name, a description and questions with labels."""
    forms = [read(path) for path in ROOT.glob(".github/ISSUE_TEMPLATE/*.yml") if path.stem != "config"]
    assert forms
    for form in forms:
        assert form["name"]
        assert form["description"]
        assert all(question["id"] and question["attributes"]["label"] for question in form["body"])


def test_licences_of_crates() -> None:
    """deny.toml allows this project's own licence, and crates only from the registry that Cargo.lock names."""
    allowed = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    assert WORKSPACE["license"] in allowed["licenses"]["allow"]
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    assert {package["source"] for package in packages if "source" in package} == {
        "registry+https://github.com/rust-lang/crates.io-index"
    }
    assert allowed["sources"] == {"unknown-registry": "deny", "unknown-git": "deny"}


def test_only_the_extension_knows_agents() -> None:
    """The engine is compiled without the crate of controllers that learn: where no agent is, a packet costs what it did."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    users = {package["name"] for package in packages if "sojourn-learning" in package.get("dependencies", ())}
    assert users == {"sojourn-python"}


def test_locks_name_no_host() -> None:
    """Locks have names and versions alone, so that packages come from wherever a machine gets them."""
    for lock in ROOT.glob("requirements*.lock"):
        lines = lock.read_text(encoding="utf-8").splitlines()
        assert all(line.lstrip().startswith("#") or re.fullmatch(r"[\w.-]+(\[\w+\])?==[\w.+]+", line) for line in lines), lock
    packages = json.loads((ROOT / "lab/package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert not [name for name, package in packages.items() if "resolved" in package]


def test_lock_of_npm_is_whole() -> None:
    """npm installs nothing by a lock that lacks a package, be it one for other machines than the one that wrote it."""
    packages = json.loads((ROOT / "lab/package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, package in packages.items():
        needed = {**package.get("dependencies", {}), **package.get("optionalDependencies", {})}
        assert {f"node_modules/{each}" for each in needed} <= set(packages), name
