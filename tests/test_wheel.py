"""The wheel: installed into a fresh environment without a compiler, it works like the clone."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import sojourn
from conftest import ROOT

TOOLS = Path(sys.executable).parent

#: The path of commands in the fresh environment, without cargo and rustc.
PATH = "/usr/bin:/bin"

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed: no wheel is built")


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment or None)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the wheel like ``make wheel``, in the environment of ``make setup`` so that cargo reuses its build."""
    folder = tmp_path_factory.mktemp("wheel")
    environment = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"} | {"VIRTUAL_ENV": sys.prefix}
    manifest = str(ROOT / "crates" / "python" / "Cargo.toml")
    # Two workers of pytest must not build at once: maturin moves files within target/.
    with (tmp_path_factory.getbasetemp().parent / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(TOOLS / "maturin", "build", "--release", "--locked", "--manifest-path", manifest, "--out", folder, **environment)
    (built,) = folder.glob("*.whl")
    return built


@needs_cargo
def test_wheel_name(wheel: Path) -> None:
    """One wheel for Python 3.11 and later (abi3), for a given version of the C library (PEP 600)."""
    assert re.fullmatch(rf"sojourn-{re.escape(sojourn.__version__)}-cp311-abi3-manylinux_2_\d+_\w+\.whl", wheel.name)


@needs_cargo
def test_wheel_size(wheel: Path) -> None:
    """The wheel is as large as the README says."""
    said = re.search(r"builds one of <!--[^>]*-->about (\d+) MB<!-- end -->", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert said is not None
    assert round(wheel.stat().st_size / 1e6) == int(said[1])


@needs_cargo
def test_wheel_is_complete(wheel: Path) -> None:
    """The wheel has every tracked file, such as linked studies and the report's templates, and the laboratory if it is built."""
    tracked = run(
        "git", "-C", str(ROOT), "ls-files", "python/sojourn", "studies", "suites", "examples", **os.environ
    ).splitlines()
    files = {name.replace("python/sojourn", "sojourn", 1) for name in tracked if name.startswith("python/sojourn/")}
    files |= {f"sojourn/{name}" for name in tracked if name.startswith(("studies/", "suites/", "examples/"))}
    files -= {"sojourn/studies", "sojourn/suites", "sojourn/examples"}  # the links
    known = {"py.typed", "report/templates/report.js", "studies/piotrowska/study.toml", "examples/demo.toml"}
    assert {f"sojourn/{name}" for name in known} <= files
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert sorted(files - packed) == []
    assert "sojourn/_engine.abi3.so" in packed
    assert ("sojourn/laboratory.html" in packed) == (ROOT / "python" / "sojourn" / "laboratory.html").is_file()
    assert not any(name.endswith((".pyc", ".unfinished")) for name in packed)


def test_locks_agree() -> None:
    """The lock for developers has the users' packages at the same versions, and more."""
    users, developers = (
        {line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")}
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert users < developers


@pytest.mark.long
@needs_cargo
def test_wheel_without_compiler(wheel: Path, tmp_path: Path) -> None:
    """In a fresh environment without a compiler, the installed wheel runs, reproduces and reports."""
    fresh = tmp_path / "fresh"
    run(TOOLS / "uv", "venv", "--quiet", "--python", sys.executable, fresh, **os.environ)
    packages = ("--constraint", ROOT / "requirements.lock", wheel)
    run(TOOLS / "uv", "pip", "install", "--quiet", "--python", fresh / "bin" / "python", *packages, **os.environ)

    def installed(*arguments: str) -> str:
        return run(fresh / "bin" / "sojourn", *arguments, PATH=PATH, HOME=str(tmp_path))

    if (ROOT / "python" / "sojourn" / "laboratory.html").is_file():
        assert installed("lab", "--no-open").endswith("/sojourn/laboratory.html\n")
    assert installed("--version") == f"sojourn {sojourn.__version__}\n"
    example = str(ROOT / "examples" / "bufferbloat.toml")
    assert "download" in installed("run", example, "--set", "duration=5 s", "--set", "warm_up=1 s")
    out = tmp_path / "piotrowska"
    part = [f"--only={value}" for value in ("scenario=DC", "load=UC", "tcp=newreno", "queue=pie")]
    own = shutil.copytree(ROOT / "studies" / "heist", tmp_path / "own")
    assert installed("check", str(own)).startswith("study heist is valid")
    assert "Values that agree" in installed("reproduce", "piotrowska", *part, "--out", str(out))
    installed("report", str(out))
    assert "Piotrowska" in (out / "report.html").read_text(encoding="utf-8")
